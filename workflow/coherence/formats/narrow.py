"""Narrowing untrusted JSON: a value of the wrong type becomes unknown, and the deviation is noted."""

import math
from typing import Any

from coherence.formats.deviations import Deviations


def kind(value: object) -> str:
    """Name a JSON value's type for a message."""
    names = {dict: "object", list: "list", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")


def text(value: object, field: str, notes: Deviations) -> str | None:
    """Return a string, or None."""
    if value is None or isinstance(value, str):
        return value
    notes.add("wrong_type", f"{field} is a {kind(value)}, not a string")
    return None


def mapping(value: object, field: str, notes: Deviations) -> dict[str, Any]:
    """Return an object; {} where it is missing or something else."""
    if isinstance(value, dict):
        return value
    if value is not None:
        notes.add("wrong_type", f"{field} is a {kind(value)}, not an object")
    return {}


def items(value: object, field: str, notes: Deviations) -> list[Any]:
    """Return a list; [] where it is missing or something else."""
    if isinstance(value, list):
        return value
    if value is not None:
        notes.add("wrong_type", f"{field} is a {kind(value)}, not a list")
    return []


def objects(value: object, field: str, notes: Deviations) -> list[dict[str, Any]]:
    """Return the objects of a list; anything else in it is left out."""
    values = items(value, field, notes)
    found = [item for item in values if isinstance(item, dict)]
    if len(found) < len(values):
        notes.add("wrong_type", f"{field} holds something that is not an object")
    return found


def number(value: object, field: str, notes: Deviations) -> float | None:
    """Return a finite number, or None."""
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        finite = _finite(value)
        if finite is not None:
            return finite
    notes.add("wrong_type", f"{field} is not a finite number")
    return None


def _finite(value: float) -> float | None:
    try:
        result = float(value)
    except OverflowError:
        return None
    return result if math.isfinite(result) else None
