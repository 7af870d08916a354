from typing import Any

import pytest
from msgspec.structs import replace

from coherence.errors import InputError
from coherence.evaluation.table import MISSING, Row, Verdict, build_rows, by_dataset, cells, columns, verdict
from coherence.records import Entry, Judgement, Outcome, Span, Trial


def entry(name: str, **more: Any) -> Entry:
    trial = Trial(
        id=name,
        dataset="set",
        task="task",
        attempt="1",
        root="runs",
        key=name,
        outcome=Outcome("failed", reward=0.0),
        status=more.pop("status", "ok"),
    )
    return Entry(trial=trial, **more)


def span(acknowledgment: int, confidence: int | None) -> Span:
    return Span(
        span_id=1,
        start_step=acknowledgment,
        end_step=acknowledgment + 3,
        acknowledgment_step=acknowledgment,
        acknowledgment_quote="the two sizes differ",
        action_step=acknowledgment + 3,
        action_quote="upload",
        conflict_type="other",
        confidence=confidence,
    )


def word(trajectory: str, **more: Any) -> Judgement:
    return Judgement(
        **{"judge": "detector", "kind": "llm", "state": "unflagged", **more}, trajectory=trajectory
    )


def test_a_judgement_as_numbers() -> None:
    judgement = word(
        "a", state="flagged", spans=(span(9, 2), span(4, None), span(7, 5)), substrate="thoughts"
    )
    assert verdict(judgement) == Verdict(
        "flagged", spans=3, max_confidence=5, first_acknowledgment_step=4, substrate="thoughts"
    )


def test_spans_without_confidence_have_no_highest_one() -> None:
    assert verdict(word("a", state="flagged", spans=(span(9, None),))).max_confidence is None


def test_a_trajectory_a_judge_has_not_seen_is_unjudged() -> None:
    seen, unseen = build_rows([entry("a"), entry("b")], {}, {"detector": [word("a")]}, {})
    assert (seen.verdicts["detector"].state, unseen.verdicts["detector"]) == ("unflagged", MISSING)


def test_an_unmeasured_feature_is_unknown() -> None:
    rows = build_rows([entry("a"), entry("b")], {"a": {"length": 3.0}}, {}, {})
    assert [row.features for row in rows] == [{"length": 3.0}, {"length": None}]


def test_what_an_entry_brings_is_used_where_nothing_else_is_given() -> None:
    brought = entry(
        "a",
        features={"length": 1.0, "markers": 2.0},
        judgements=(word("a", judge="reader", state="flagged"),),
    )
    (row,) = build_rows([brought], {"a": {"length": 7.0}}, {"reader": []}, {})
    assert row.features == {"length": 7.0, "markers": 2.0}
    assert row.verdicts["reader"].state == "flagged"


LETTERS = {"f": "flagged", "u": "unflagged", "?": "unjudged"}


@pytest.mark.parametrize(
    ("samples", "state", "chosen"),
    [
        ("f", "flagged", 0),
        ("uff", "flagged", 1),
        ("fuu", "unflagged", 1),
        ("fu", "unflagged", 1),
        ("ffuu", "unflagged", 2),
        ("?f", "flagged", 1),
        ("??fuf", "flagged", 2),
        ("??", "unjudged", 0),
    ],
)
def test_the_majority_of_the_judged_samples_counts_in_whatever_order_they_come(
    samples: str, state: str, chosen: int
) -> None:
    words = [word("a", sample=n, state=LETTERS[x], rating=n + 1) for n, x in enumerate(samples)]
    for ordered in (words, words[::-1]):
        (row,) = build_rows([entry("a")], {}, {"detector": ordered}, {})
        assert (row.verdicts["detector"].state, row.verdicts["detector"].rating) == (state, chosen + 1)


def test_a_span_that_does_not_flag_is_counted_apart() -> None:
    spans = (span(9, 2), replace(span(4, 5), flags=False))
    found = verdict(word("a", state="flagged", spans=spans))
    assert (found.spans, found.unverified) == (1, 1)
    assert (found.max_confidence, found.first_acknowledgment_step) == (2, 9)


@pytest.mark.parametrize(
    ("status", "exclusions", "excluded"),
    [
        ("ok", {}, None),
        ("no_text", {}, None),
        ("no_trajectory", {}, "no trajectory"),
        ("unreadable", {}, "unreadable"),
        ("ok", {"a": "superseded by a retry"}, "superseded by a retry"),
        ("no_trajectory", {"a": "superseded by a retry"}, "superseded by a retry"),
    ],
)
def test_why_a_row_takes_no_part(status: str, exclusions: dict[str, str], excluded: str | None) -> None:
    (row,) = build_rows([entry("a", status=status)], {}, {}, exclusions)
    assert row.excluded == excluded


def test_two_trials_with_one_id_are_an_error() -> None:
    with pytest.raises(InputError, match="'a' stands for two trials"):
        build_rows([entry("a"), entry("a")], {}, {}, {})


def test_columns_name_what_cells_hold() -> None:
    rows = build_rows([entry("a")], {"a": {"length": 3.0}}, {"detector": [word("a", rating=4)]}, {})
    assert set(columns(rows)) == set(cells(rows[0]))
    assert columns(rows)[-1] == "detector.unverified"
    assert cells(rows[0])["feature.length"] == 3
    assert cells(rows[0])["detector.rating"] == 4


def test_a_judge_named_like_a_feature_column_is_an_error() -> None:
    row = Row("a", "set", "t", "1", "failed", "ok", features={"state": 1.0}, verdicts={"feature": MISSING})
    with pytest.raises(InputError, match=r"feature\.state"):
        columns([row])


def test_datasets_stay_in_order_of_appearance() -> None:
    rows = [Row(name, dataset, "t", "1", "failed", "ok") for name, dataset in ("az", "bm", "cz")]
    assert {name: [row.id for row in members] for name, members in by_dataset(rows).items()} == {
        "z": ["a", "c"],
        "m": ["b"],
    }
