"""A tool call's arguments: always an object that can be written again."""

from typing import Any, Final

from coherence.formats import narrow
from coherence.formats.deviations import Deviations

MAX_DEPTH: Final = 100  # nesting; deeper arguments could not be written again


def read_arguments(raw: object, notes: Deviations) -> dict[str, Any]:
    """Return a call's arguments as an object; something else is kept under "raw"."""
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        notes.add("arguments_not_object", narrow.kind(raw))
        raw = {"raw": raw}
    if _is_deeper(raw, MAX_DEPTH):
        notes.add("arguments_too_deep")
        return {}
    return raw


def _is_deeper(value: object, depth: int) -> bool:
    if isinstance(value, dict):
        return depth == 0 or any(_is_deeper(item, depth - 1) for item in value.values())
    if isinstance(value, list):
        return depth == 0 or any(_is_deeper(item, depth - 1) for item in value)
    return False
