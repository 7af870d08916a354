"""The row of features of one trajectory."""

from coherence.features import FEATURES, MARKER_PREFIX, measure
from coherence.records import Call, Observation, Outcome, Step, Thought, Trajectory, Trial

TRIAL = Trial("t", "d", "task", "a", "r", "k", Outcome("unknown"), "ok")


def test_counts_of_a_small_trajectory() -> None:
    steps = (
        Step(1, "user", "Fix it."),
        Step(2, "agent", thoughts=(Thought("But wait", "think_call"), Thought("héé", "reasoning"))),
        Step(3, "agent"),
        Step(4, "agent", calls=(Call("bash"),), observations=(Observation("sh: x: command not found"),)),
    )
    row = measure(Trajectory(TRIAL, steps))
    assert {name: row[name] for name in FEATURES} == {
        "trajectory_length": 3,
        "tool_errors": 1,
        "think_calls": 1,
        "think_chars": 11,
        "lexical": 2,
    }


def test_each_marker_keeps_its_count() -> None:
    row = measure(Trajectory(TRIAL, (Step(1, "agent", thoughts=(Thought("but but however", "reasoning"),)),)))
    assert {k: v for k, v in row.items() if k.startswith(MARKER_PREFIX) and v} == {
        "marker.but": 2,
        "marker.however": 1,
    }


def test_markers_outside_thoughts_are_not_counted() -> None:
    steps = (Step(1, "agent", "but", observations=(Observation("however"),)),)
    assert measure(Trajectory(TRIAL, steps))["lexical"] == 0
