"""The outcomes table: a row an attempt at a task, in columns that are always all there.

`group` is what rates are computed within (an agent with its model, or a judge), `context` nests attempts that
share a prompt context, `seed` names an environment that groups share. `tests` has a character a test of the
task, "1" passed, "0" failed, "-" no result; `probabilities` is a JSON object from option to probability.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from coherence.incoherence.contract import COLUMNS, KINDS, NEEDS, TEXTS, Counted, Kind


class Outcomes(NamedTuple):
    """A table of outcomes and what was counted on the way to it."""

    frame: pd.DataFrame
    counted: tuple[Counted, ...] = ()


def same(text: str | None, length: int) -> "pd.Categorical[Any]":
    """Return the same text, or unknown, in every row."""
    categories = pd.Index([] if text is None else [text], dtype="str")
    return pd.Categorical.from_codes(np.full(length, -1 if text is None else 0, np.int8), categories)


def conform(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with exactly `COLUMNS`: texts as categories, `passed` boolean, numbers as Float64."""
    frame = frame.reset_index(drop=True)
    columns = {
        name: _conformed(frame[name], name) if name in frame else _unknown(name, len(frame))
        for name in COLUMNS
    }
    return pd.DataFrame(columns)


def _conformed(column: "pd.Series[Any]", name: str) -> "pd.Series[Any]":
    if name in TEXTS:
        return _category(column)
    dtype = pd.BooleanDtype() if name == "passed" else pd.Float64Dtype()
    return column.astype(dtype)


def _category(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return the texts as categories, in the order of their first rows where they were none before."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        texts = column.astype("str")
        return texts.astype(pd.CategoricalDtype(list(texts.dropna().unique())))
    return column.cat.rename_categories(pd.Index(column.cat.categories, dtype="str"))


def _unknown(name: str, length: int) -> "pd.Series[Any]":
    if name in TEXTS:
        return pd.Series(same(None, length))
    return pd.Series(pd.NA, index=range(length), dtype="boolean" if name == "passed" else "Float64")


def usable(frame: pd.DataFrame, kind: Kind) -> "pd.Series[bool]":
    """Return for each row whether it has all that an outcome of this kind needs."""
    return frame[list(NEEDS[kind])].notna().all(axis=1)


def kinds_in(frame: pd.DataFrame) -> dict[Kind, int]:
    """Return how many rows have an outcome of each kind, without those that no row has."""
    found = {kind: int(usable(frame, kind).sum()) for kind in KINDS}
    return {kind: count for kind, count in found.items() if count}


def datasets_in(frame: pd.DataFrame) -> Iterable[tuple[str, pd.DataFrame]]:
    """Yield (dataset, its rows), in order of appearance."""
    for name in frame["dataset"].unique():
        yield str(name), frame[frame["dataset"] == name].reset_index(drop=True)
