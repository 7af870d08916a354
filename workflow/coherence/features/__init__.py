"""Cheap baselines: one number a trajectory each (paper, section 3.3), in plain code."""

from typing import Final

from coherence.features.errors import count_tool_errors
from coherence.features.lexical import count_markers, total
from coherence.records import Trajectory

FEATURES: Final[dict[str, str]] = {
    "trajectory_length": "non-empty steps",
    "tool_errors": "observations that show an error",
    "think_calls": "calls of a think tool",
    "think_chars": "characters of visible thought",
    "lexical": "discourse markers in the thoughts",
}
MARKER_PREFIX: Final = "marker."  # column prefix of the single markers' counts


def measure(trajectory: Trajectory) -> dict[str, int | float | None]:
    """Return the row of features of one trajectory: `FEATURES`, then a count for each marker."""
    thoughts = [thought for step in trajectory.steps for thought in step.thoughts]
    markers = count_markers(thought.text for thought in thoughts)
    return {
        "trajectory_length": sum(1 for step in trajectory.steps if not step.is_empty),
        "tool_errors": count_tool_errors(trajectory),
        "think_calls": sum(1 for thought in thoughts if thought.source == "think_call"),
        "think_chars": sum(len(thought.text) for thought in thoughts),
        "lexical": total(markers),
        **{MARKER_PREFIX + name: count for name, count in markers.items()},
    }
