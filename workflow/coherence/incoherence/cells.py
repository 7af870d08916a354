"""Columns of cells to values: unknown where they are empty, marked where they are not of their kind."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute

from coherence.files import encode
from coherence.incoherence.contract import SUM_TOLERANCE

YES: Final = frozenset({"1", "1.0", "true", "yes", "passed", "pass", "resolved", "success"})
NO: Final = frozenset({"0", "0.0", "false", "no", "failed", "fail", "unresolved", "failure"})
UNKNOWN: Final = frozenset({"", "unknown", "na", "n/a", "nan", "<na>", "none", "null"})
TESTS: Final = re.compile(r"[01-]+")

Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]


class Cells(NamedTuple):
    """The values of a column, and which of its cells are not of its kind and so unknown."""

    values: "pd.Series[Any]"
    bad: Mask


def as_text(column: Any) -> Any:
    """Return any column as text, null where it is null or empty; whole floats without a point."""
    if pa.types.is_floating(column.type):
        column = _whole_as_integers(column)
    text = column.cast(pa.string())
    return pyarrow.compute.if_else(pyarrow.compute.equal(text, ""), pa.scalar(None, pa.string()), text)


def _whole_as_integers(column: Any) -> Any:
    column = pyarrow.compute.if_else(pyarrow.compute.is_nan(column), pa.scalar(None, column.type), column)
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column


def texts(column: Any) -> Cells:
    """Return texts as categories, as they are; empty is unknown."""
    return _categories(as_text(column), np.zeros(len(column), dtype=bool))


def parsed(column: Any, parse: Callable[[str], str | None]) -> Cells:
    """Return texts as `parse` writes them, each different one parsed once; None marks a bad cell."""
    encoded = as_text(column).combine_chunks().dictionary_encode()
    made = [parse(value) for value in encoded.dictionary.to_pylist()]
    found = pa.array(made, pa.string()).take(encoded.indices)
    bad = pyarrow.compute.and_(found.is_null(), encoded.is_valid())
    return _categories(found, bad.to_numpy(zero_copy_only=False))


def _categories(text: Any, bad: Mask) -> Cells:
    return Cells(pd.Series(text.dictionary_encode().to_pandas()), bad)


def tests(text: str) -> str | None:
    """Return a vector of test results, None where it is none."""
    return text.strip() if TESTS.fullmatch(text.strip()) else None


def probabilities(text: str) -> str | None:
    """Return probabilities of options as stable JSON, None where they are none."""
    try:
        found = msgspec.json.decode(text, type=dict[str, float])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    in_range = all(0 <= p <= 1 for p in found.values())
    if not in_range or abs(math.fsum(found.values()) - 1) > SUM_TOLERANCE:
        return None
    return encode(found).decode()


def truths(column: Any) -> Cells:
    """Return true and false, which may be written in words."""
    if pa.types.is_boolean(column.type):
        return Cells(column.to_pandas().astype("boolean"), np.zeros(len(column), dtype=bool))
    known = parsed(column, lambda text: _word(text.strip().lower()))
    words: Mapping[str, Any] = {"yes": True, "no": False, "unknown": pd.NA}
    values = known.values.astype("object").map(words, na_action="ignore")
    return Cells(values.astype("boolean"), known.bad)


def _word(text: str) -> str | None:
    if text in UNKNOWN:
        return "unknown"
    return "yes" if text in YES else "no" if text in NO else None


def numbers(column: Any, lowest: float = -math.inf) -> Cells:
    """Return finite numbers of at least `lowest`."""
    values, bad = _floats(column)
    known = ~np.isnan(values)
    wrong = known & (np.isinf(values) | (values < lowest))
    values = np.where(wrong, np.nan, values)
    return Cells(pd.Series(pd.array(values, dtype="Float64")), bad | wrong)


def _floats(column: Any) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], Mask]:
    if not pa.types.is_string(column.type):
        # Integers beyond 2**53 have no float of their own: the next one is as good a number.
        values = column.cast(pa.float64(), safe=False).to_numpy()
        return np.array(values, dtype=np.float64), np.zeros(len(column), dtype=bool)
    text = pyarrow.compute.utf8_trim_whitespace(column)
    unknown = pyarrow.compute.is_in(pyarrow.compute.utf8_lower(text), pa.array(sorted(UNKNOWN)))
    text = pyarrow.compute.if_else(unknown, pa.scalar(None, pa.string()), text)
    try:
        values = text.cast(pa.float64()).to_numpy()
        return np.array(values, dtype=np.float64), np.zeros(len(column), dtype=bool)
    except pa.ArrowInvalid:
        return _floats_one_by_one(text)


def _floats_one_by_one(text: Any) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], Mask]:
    encoded = text.combine_chunks().dictionary_encode()
    made = np.array([_float(value) for value in encoded.dictionary.to_pylist()] + [math.nan])
    places = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    values = made[places]
    return values, np.isnan(values) & (places >= 0)


def _float(text: str) -> float:
    try:
        return math.nan if "_" in text else float(text)  # Python's own "1_000"
    except ValueError:
        return math.nan
