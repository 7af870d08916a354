"""Tool errors: what counts as the sign of a failed call."""

import pytest

from coherence.features.errors import count_tool_errors, shows_error
from coherence.records import Observation, Outcome, Step, Trajectory, Trial


@pytest.mark.parametrize(
    "text",
    [
        "Traceback (most recent call last):\n  File",
        "bash: foo: command not found",
        "cat: x: No such file or directory",
        "ValueError: bad literal",
        "main.c:3:1: error: expected ';'",
        "error[E0425]: cannot find value",
        "fatal: not a git repository",
        '{"returncode": 2, "output": ""}',
        "<returncode>1</returncode>",
        "[exit_code] 127",
        "Exit Code: 1",
        "Command timed out after 30 s",
    ],
)
def test_shows_error(text: str) -> None:
    assert shows_error(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "all tests passed",
        "0 errors, 0 warnings",
        "<returncode>0</returncode>",
        '{"returncode": 0, "output": "ok"}',
        "Exit Code: 0",
        "[exit_code] 0",
        "error_handler.py",
        "def errors():",
    ],
)
def test_shows_no_error(text: str) -> None:
    assert not shows_error(text)


def test_an_observation_counts_once_and_missing_ones_not_at_all() -> None:
    trial = Trial("t", "d", "task", "a", "r", "k", Outcome("unknown"), "ok")
    steps = (
        Step(1, "agent", observations=(Observation("fatal: x\nTraceback (most recent call last):"),)),
        Step(2, "agent", observations=(Observation(None), Observation("fine"), Observation("E: timed out"))),
    )
    assert count_tool_errors(Trajectory(trial, steps)) == 2
