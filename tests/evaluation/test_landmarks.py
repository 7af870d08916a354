import pytest

from coherence.evaluation.first_flags import Timeline
from coherence.evaluation.landmarks import flag_curves, landmarks, quartiles, table
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, Verdict
from coherence.records import OutcomeStatus

# Steps have numbers 2, 4, 6 ...: a flag at number 6 is one after three steps.
RUNS: dict[str, tuple[int, int | None, OutcomeStatus]] = {
    "a": (4, 6, "failed"),
    "b": (8, 2, "failed"),
    "c": (8, None, "passed"),
    "d": (8, 16, "failed"),
    "e": (2, None, "passed"),
    "f": (9, None, "unknown"),
    "g": (5, 7, "failed"),  # at no step
}
SETTINGS = EvaluationSettings(simulated={"set": "made up"})


def rows() -> list[Row]:
    return [
        Row(
            name,
            "set",
            name,
            "1",
            outcome,
            "ok",
            verdicts={"judge": Verdict("flagged", None, 1, 3, flag) if flag else Verdict("unflagged")},
        )
        for name, (_, flag, outcome) in RUNS.items()
    ]


TIMELINES = {"set": {name: Timeline(tuple(range(2, 2 * n + 1, 2)), ()) for name, (n, _, _) in RUNS.items()}}


def test_time_is_counted_in_steps_and_what_has_no_place_is_left_out() -> None:
    (found,) = flag_curves(rows(), TIMELINES, SETTINGS)
    assert [(run.length, run.first_flag, run.failed) for run in found.runs] == [
        (4, 3, True),
        (8, 1, True),
        (8, None, False),
        (8, 8, True),
        (2, None, False),
    ]
    assert found.left_out == 1
    assert found.all is not None
    assert found.all.at(1).share == pytest.approx(1 / 5)


def test_a_landmark_compares_only_runs_that_go_on() -> None:
    found = {row.after: row for row in landmarks(tuple(flag_curves(rows(), TIMELINES, SETTINGS)))}
    assert list(found) == [4, 8]
    counts = found[4].comparison.counts
    assert (counts.risky_fail, counts.risky_n, counts.safe_fail, counts.safe_n) == (1, 1, 1, 2)
    assert found[8].comparison.counts.n == 0
    shown = table(tuple(found.values()))
    assert shown.rows[1][9] == "not applicable: no trajectory is risky or safe"
    assert shown.note == "set is simulated: made up."


def test_without_timelines_there_is_no_curve() -> None:
    (found,) = flag_curves(rows(), {}, SETTINGS)
    assert (found.all, found.left_out) == (None, 6)
    assert list(landmarks([found])) == []


def test_quartiles_are_lengths_that_occur() -> None:
    assert quartiles([5, 1, 9, 3]) == [3, 5, 9]
    assert quartiles([7]) == [7]
    assert quartiles([]) == []
