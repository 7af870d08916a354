from collections.abc import Sequence

import pytest

from coherence.evaluation.groups import Split, feature_split, judge_splits, splits
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, Verdict


def featured(values: Sequence[float | None], **more: str) -> list[Row]:
    return [
        Row(str(number), "set", "t", "1", "failed", "ok", features={"x": value}, **more)  # type: ignore[arg-type]
        for number, value in enumerate(values)
    ]


def judged(*verdicts: Verdict) -> list[Row]:
    return [
        Row(str(number), "set", "t", "1", "failed", "ok", verdicts={"judge": verdict})
        for number, verdict in enumerate(verdicts)
    ]


def ids(rows: Sequence[Row]) -> str:
    return "".join(row.id for row in rows)


def only(rows: list[Row], rating_at_most: int | None = None) -> Split:
    (split,) = judge_splits(rows, "judge", rating_at_most)
    return split


@pytest.mark.parametrize(
    ("values", "risky", "label", "cut"),
    [
        ([1, 2, 3, 4], "23", "above median", 2.5),
        ([5, 1, 3], "0", "above median", 3),
        ([2, 2, 2, 9], "3", "above median", 2),
        ([7, 7, 7], "", "above median", 7),
        ([0, 1, 1, 1], "123", "present", None),
        ([0, 0, 0, 1], "3", "present", None),
        ([0, 0, 0, 2], "3", "above median", 0),
        ([-5, -3, -1], "2", "above median", -3),
    ],
    ids=["even", "odd", "ties are safe", "constant", "binary", "rare", "count", "negative"],
)
def test_features_are_risky_strictly_above_the_median(
    values: list[float], risky: str, label: str, cut: float | None
) -> None:
    split = feature_split(featured(values), "x")
    assert (ids(split.risky), split.reading.label, split.reading.cut) == (risky, label, cut)
    assert len(split.risky) + len(split.safe) == len(values)


def test_unknown_values_are_counted_and_do_not_move_the_median() -> None:
    split = feature_split(featured([None, 1, 2, 9, float("nan")]), "x")
    assert (ids(split.risky), ids(split.safe), split.missing, split.reading.cut) == ("3", "12", 2, 2)


def test_excluded_rows_do_not_move_the_median() -> None:
    rows = featured([1, 2, 3]) + featured([100, 200], excluded="superseded by a retry")
    split = feature_split(rows, "x")
    assert (split.reading.cut, split.excluded, len(split.risky) + len(split.safe)) == (2, 2, 3)


def test_a_feature_nobody_measured_divides_nothing() -> None:
    split = feature_split(featured([None, None]), "x")
    assert (split.risky, split.safe, split.missing) == ((), (), 2)


def test_unjudged_is_never_safe() -> None:
    split = only(
        judged(
            Verdict("flagged", spans=1, max_confidence=3), Verdict("unflagged"), Verdict("unjudged", "api")
        )
    )
    assert (ids(split.risky), ids(split.safe), split.unjudged) == ("0", "1", 1)


def test_a_row_without_the_judge_is_unjudged() -> None:
    assert only(featured([1])).unjudged == 1


def test_a_rating_judge_has_two_readings() -> None:
    rows = judged(
        Verdict("flagged", spans=0, rating=2),
        Verdict("unflagged", spans=1, rating=4),
        Verdict("unflagged", spans=0, rating=3),
        Verdict("unflagged", spans=2),
        Verdict("unjudged", "refusal", rating=1),
    )
    spans, rating = judge_splits(rows, "judge", 3)
    assert (spans.reading.label, ids(spans.risky), ids(spans.safe)) == ("any span", "13", "02")
    assert (rating.reading.label, rating.reading.cut) == ("rating at most 3", 3)
    assert (ids(rating.risky), ids(rating.safe), rating.missing, rating.unjudged) == ("02", "1", 1, 1)


def test_a_null_confidence_flags_and_the_reading_without_it_follows() -> None:
    rows = judged(
        Verdict("flagged", spans=1),
        Verdict("flagged", spans=1, max_confidence=2),
        Verdict("unflagged"),
    )
    flagged, surely = judge_splits(rows, "judge", None)
    assert (ids(flagged.risky), ids(surely.risky)) == ("01", "1")
    assert ids(surely.safe) == "02"


def test_a_flag_without_spans_is_not_one_without_confidence() -> None:
    split = only(judged(Verdict("flagged"), Verdict("unflagged")))
    assert ids(split.risky) == "0"


def test_the_prompts_own_tasks_are_left_out_in_a_second_look() -> None:
    rows = [
        Row(str(n), "set", task, "1", "failed", "ok", verdicts={"judge": Verdict("flagged", spans=1)})
        for n, task in enumerate(["seen", "new", "seen"])
    ]
    split = list(judge_splits(rows, "judge", None, seeds=["seen"]))[-1]
    assert (ids(split.risky), split.excluded) == ("1", 2)
    assert split.reading.label == "flagged, without the prompt's own tasks"


def test_tasks_that_are_not_there_need_no_second_look() -> None:
    assert len(list(judge_splits(judged(Verdict("unflagged")), "judge", None, seeds=["other"]))) == 1


def test_judges_come_before_features_and_datasets_in_order() -> None:
    rows = [
        Row(
            "1",
            "z",
            "t",
            "1",
            "failed",
            "ok",
            features={"b": 1.0, "a": 2.0},
            verdicts={"j": Verdict("flagged")},
        ),
        Row("2", "m", "t", "1", "failed", "ok", features={"b": 1.0}),
    ]
    named = [(split.reading.dataset, split.reading.name) for split in splits(rows, EvaluationSettings())]
    assert named == [("z", "j"), ("z", "a"), ("z", "b"), ("m", "b")]


def test_settings_choose_and_order() -> None:
    rows = [Row("1", "set", "t", "1", "failed", "ok", features={"a": 1.0, "b": 2.0, "c": 3.0})]
    settings = EvaluationSettings(features=("c", "a", "elsewhere"), judges=())
    assert [split.reading.name for split in splits(rows, settings)] == ["c", "a"]


def test_spans_that_do_not_flag_leave_it_unknown_whether_there_is_any() -> None:
    rows = judged(Verdict("unflagged", rating=4, unverified=1), Verdict("unflagged", rating=4))
    any_span = next(judge_splits(rows, "judge", 3))
    assert (len(any_span.risky), len(any_span.safe), any_span.missing) == (0, 1, 1)


def test_a_judge_that_only_rates_is_divided_by_its_rating_alone() -> None:
    rated = [Verdict("unjudged", reason="rating only", rating=rating) for rating in (2, 3, 4)]
    found = only(judged(*rated, Verdict("unjudged", reason="missing")), 3)
    assert (found.reading.label, ids(found.risky), ids(found.safe)) == ("rating at most 3", "01", "2")
    assert found.unjudged == 1


def test_a_least_confidence_is_a_reading_of_its_own() -> None:
    rows = judged(
        Verdict("flagged", spans=1, max_confidence=4),
        Verdict("flagged", spans=1, max_confidence=3),
        Verdict("flagged", spans=1),
        Verdict("unflagged"),
        Verdict("unjudged", reason="api"),
    )
    found = {split.reading.label: split for split in splits(rows, EvaluationSettings(confidence_at_least=4))}
    split = found["confidence at least 4"]
    assert (ids(split.risky), ids(split.safe), split.unjudged) == ("0", "123", 1)


def test_a_judge_without_any_confidence_has_no_such_reading() -> None:
    rows = judged(Verdict("flagged", spans=None), Verdict("unflagged"))
    labels = [split.reading.label for split in splits(rows, EvaluationSettings(confidence_at_least=4))]
    assert labels == ["flagged"]
