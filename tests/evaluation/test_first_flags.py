import pytest

from coherence.evaluation.first_flags import Elapsed, Timeline, elapsed_at, first_flags
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, Verdict

TIMELINE = Timeline(steps=(2, 3, 5, 8, 9), thought_steps=(3, 8, 9))


@pytest.mark.parametrize(
    ("step", "elapsed"),
    [
        (2, Elapsed(4, 3, 0.2)),
        (3, Elapsed(3, 2, 0.4)),
        (5, Elapsed(2, 2, 0.6)),
        (9, Elapsed(0, 0, 1.0)),
        (4, None),
        (0, None),
        (99, None),
        (None, None),
    ],
    ids=str,
)
def test_what_is_over_at_a_step(step: int | None, elapsed: Elapsed | None) -> None:
    assert elapsed_at(step, TIMELINE) == elapsed


@pytest.mark.parametrize("timeline", [None, Timeline((), ())], ids=["no text", "no steps"])
def test_without_steps_there_is_no_place(timeline: Timeline | None) -> None:
    assert elapsed_at(3, timeline) is None


def test_only_flagged_and_included_rows_have_a_first_flag() -> None:
    flagged = Verdict("flagged", spans=2, first_acknowledgment_step=5)
    kinds = {
        "a": (flagged, None),
        "b": (Verdict("unflagged"), None),
        "c": (Verdict("unjudged", "api", first_acknowledgment_step=5), None),
        "d": (flagged, "superseded by a retry"),
        "e": (Verdict("flagged"), None),
    }
    rows = [
        Row(name, "set", "t", "1", "failed", "ok", excluded=excluded, verdicts={"judge": verdict})
        for name, (verdict, excluded) in kinds.items()
    ]
    flags = list(first_flags(rows, {"set": dict.fromkeys(kinds, TIMELINE)}, EvaluationSettings()))
    assert [(flag.trajectory, flag.elapsed) for flag in flags] == [("a", Elapsed(2, 2, 0.6)), ("e", None)]


def test_one_id_in_two_datasets_has_two_timelines() -> None:
    verdicts = {"judge": Verdict("flagged", spans=1, first_acknowledgment_step=1)}
    rows = [Row("a", dataset, "t", "1", "failed", "ok", verdicts=verdicts) for dataset in ("one", "two")]
    timelines = {"one": {"a": Timeline((1, 2), ())}, "two": {"a": Timeline((1, 2, 3, 4), ())}}
    flags = first_flags(rows, timelines, EvaluationSettings())
    assert [flag.elapsed.share for flag in flags if flag.elapsed] == [0.5, 0.25]
