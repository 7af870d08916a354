"""Rows that must agree with each other: one row a verification, one target and one set of tests a task."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd

from coherence.errors import InputError
from coherence.incoherence.contract import ATTEMPT, KEY
from coherence.incoherence.raw_table import short

Tell = Callable[[str, pd.DataFrame], None]
_TARGETS: Final = ("target", "target_number")
_OF_AN_ATTEMPT: Final = ("scaffold", "backbone", "seed")  # what no verification of it changes


def agreeing(path: Path, frame: pd.DataFrame, tell: Tell) -> pd.DataFrame:
    """Return the rows without exact repetitions, tests of a wrong number unknown; `tell` is told of both.

    The index numbers the rows of the file. Raise InputError, naming two rows, where an attempt is there twice
    with different values, verifications of one attempt name two scaffolds or environments, or a task has two
    targets.
    """
    frame = _without_repetitions(path, frame, tell)
    for name in (name for name in _TARGETS if name in frame):
        _check(path, frame, ["task"], name, "a task has one target")
    if "verification" in frame:
        for name in (name for name in _OF_AN_ATTEMPT if name in frame):
            told = f"all verifications of an attempt have one {name}"
            _check(path, frame, list(ATTEMPT), name, told)
    return _with_whole_vectors(frame, tell) if "tests" in frame else frame


def _without_repetitions(path: Path, frame: pd.DataFrame, tell: Tell) -> pd.DataFrame:
    key = [name for name in KEY if name in frame]
    twice = frame.duplicated(key, keep=False)
    if not twice.any():
        return frame
    again = frame[twice].duplicated(keep="first")
    tell("attempt repeated in every value", frame[twice][again])
    left = frame.drop(index=again[again].index)
    contrary = left[left.duplicated(key, keep=False)]
    if len(contrary):
        first = contrary.iloc[0]
        rows = _like_the_first(contrary, key).index
        raise InputError(
            f"{path}: rows {rows[0]} and {rows[1]}: attempt {short(str(first['attempt']))!r} of "
            f"task {short(str(first['task']))!r} in group {short(str(first['group']))!r} is there twice with "
            "different values; give each attempt its own name, or leave the column `attempt` out; "
            "a column `verification` names several verifications of one attempt"
        )
    return left


def _like_the_first(rows: pd.DataFrame, key: Sequence[str]) -> pd.DataFrame:
    number = rows.groupby(list(key), observed=True, dropna=False).ngroup()
    return rows[number == number.iloc[0]]


def _check(path: Path, frame: pd.DataFrame, of: Sequence[str], name: str, rule: str) -> None:
    """Raise InputError where what the columns `of` name has two known values of another column."""
    pairs = frame.loc[frame[name].notna(), [*of, name]].drop_duplicates()
    contrary = pairs[pairs.duplicated(of, keep=False)]
    if len(contrary):
        first = contrary.iloc[0]
        same = _like_the_first(contrary, of)
        what = ", ".join(f"{each} {short(str(first[each]))!r}" for each in of if pd.notna(first[each]))
        values = " and ".join(repr(short(str(value))) for value in same[name].iloc[:2])
        raise InputError(
            f"{path}: rows {same.index[0]} and {same.index[1]}: {what} has two values of `{name}`: {values}; "
            f"{rule}"
        )


def _with_whole_vectors(frame: pd.DataFrame, tell: Tell) -> pd.DataFrame:
    """A place in a vector is a test: one of another length than most of the task's cannot be read."""
    lengths = _lengths(frame["tests"])
    counted = (
        pd.DataFrame({"task": frame["task"], "length": lengths})
        .dropna()
        .value_counts(sort=False)
        .rename("rows")
        .reset_index()
        .sort_values(["rows", "length"])
        .drop_duplicates("task", keep="last")
    )
    wanted = frame["task"].map(dict(zip(counted["task"], counted["length"], strict=True)))
    wrong = lengths.notna() & (lengths != wanted.astype("Float64"))
    tell("tests: another number of tests than the task has", frame[wrong.fillna(value=False)])
    if not wrong.any():
        return frame
    return frame.assign(tests=frame["tests"].mask(wrong))


def _lengths(tests: "pd.Series[Any]") -> "pd.Series[Any]":
    by_category = pd.Series(tests.cat.categories.str.len(), dtype="Float64")
    return tests.cat.codes.map(dict(enumerate(by_category))).astype("Float64")
