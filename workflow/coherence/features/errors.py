"""Tool errors: observations that show a failed call (paper, section 3.3).

A scaffold that hides exit codes and failed calls (OpenHands SDK) makes this a lower bound.
"""

import re
import tomllib
from functools import cache
from importlib.resources import files

from coherence.records import Record, Trajectory


class Sign(Record, frozen=True):
    """One sign of failure: a string every match contains, and the expression that decides (or None)."""

    needle: str
    expression: re.Pattern[str] | None


@cache
def load_signs() -> tuple[Sign, ...]:
    """Return the signs of `errors.toml` in its order."""
    text = files("coherence.features").joinpath("errors.toml").read_text("utf-8")
    return tuple(
        Sign(
            entry["needle"],
            re.compile(entry["pattern"], re.IGNORECASE | re.MULTILINE) if "pattern" in entry else None,
        )
        for entry in tomllib.loads(text)["sign"]
    )


def shows_error(text: str) -> bool:
    """Whether an observation carries any sign of failure."""
    lowered = text.lower()
    return any(
        sign.needle in lowered and (sign.expression is None or sign.expression.search(text) is not None)
        for sign in load_signs()
    )


def count_tool_errors(trajectory: Trajectory) -> int:
    """Return the number of observations that show an error."""
    return sum(
        1
        for step in trajectory.steps
        for observation in step.observations
        if observation.text and shows_error(observation.text)
    )
