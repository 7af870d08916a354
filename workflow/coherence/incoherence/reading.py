"""Outcome files read into the outcomes table: no cell is lost in silence."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd

from coherence.errors import InputError
from coherence.incoherence import cells
from coherence.incoherence.agreeing import agreeing
from coherence.incoherence.cells import Cells
from coherence.incoherence.contract import COLUMNS, COUNTS, KINDS, NEEDS, NUMBERS, Counted, Kind
from coherence.incoherence.outcomes import Outcomes, conform, same
from coherence.incoherence.raw_table import MOST_NAMED, RawTable, read_raw, short
from coherence.incoherence.results import count_outcomes, with_results
from coherence.incoherence.source import OutcomeSource, Tally
from coherence.incoherence.verifications import has_verifications

DATASET_COLUMN: Final = "dataset"  # named by the config, never by the file
ROW: Final = "row"


def read_outcomes(path: Path, source: OutcomeSource) -> Outcomes:
    """Return the attempts of a CSV, TSV (both also gzipped) or Parquet file.

    Raise InputError where the file cannot be read, a mapped column is not there, no column has a task or an
    outcome, or rows contradict each other; single bad cells and rows are unknown or left out, and counted.
    """
    places: dict[str, str] = {}
    raw = read_raw(path, lambda header: _wanted(path, header, source, places).values())
    tally = Tally(source.name)
    _count_file(raw, tally)
    frame = pd.DataFrame(_columns(raw, places, tally), index=pd.Index(raw.rows, name=ROW))
    frame = _kept(_with_groups(frame, source), source, tally)
    frame = _attempted(frame, tally)
    if frame.empty:
        why = _listed(tally.counted) or "there are no rows"
        raise InputError(f"{path}: holds no attempts: {why}{_mend(places)}")
    frame = agreeing(path, _numbered(frame), tally.rows)
    frame = with_results(frame, source, tally)
    rows = frame.index
    frame = conform(frame.assign(dataset=same(source.name, len(frame))))
    count_outcomes(path, frame.set_axis(rows), source, tally)
    return Outcomes(frame, tuple(tally.counted))


def _wanted(
    path: Path, header: Sequence[str], source: OutcomeSource, places: dict[str, str]
) -> dict[str, str]:
    """Fill and return the file's column of each column of the table; InputError where one is missing."""
    missing = [column for column in source.columns.values() if column not in header]
    named = ", ".join(short(name) for name in header[:MOST_NAMED])
    if missing:
        raise InputError(f"{path}: row 1: there is no column {missing[0]!r} among: {named}")
    mapped = set(source.columns.values())
    own = {name: name for name in COLUMNS if name in header and name not in mapped and name != DATASET_COLUMN}
    places.update({**own, **source.columns})
    if "task" not in places:
        raise InputError(
            f"{path}: row 1: there is no column 'task' among: {named}. "
            "Name the right one in the entry, for example `columns: {task: question}`"
        )
    if not any(_has(places, kind) for kind in KINDS) and not {"reward", "answer"} & set(places):
        raise InputError(
            f"{path}: row 1: no column has an outcome (passed, reward, answer, tests, probabilities or "
            f"number) among: {named}"
        )
    return places


def _has(places: Mapping[str, str], kind: Kind) -> bool:
    return all(name in places for name in NEEDS[kind])


def _count_file(raw: RawTable, tally: Tally) -> None:
    if raw.broken:
        tally.add("another number of cells than the header", len(raw.broken), f"row {raw.broken[0]}")
    unknown = [name for name in raw.left_out if name != DATASET_COLUMN]
    names = ", ".join(short(name) for name in unknown[:MOST_NAMED])
    tally.add("column unknown", len(unknown), names, unit="columns")
    own = len(raw.left_out) - len(unknown)
    tally.add("the config names the dataset, not the file", own, DATASET_COLUMN, unit="columns")


def _columns(raw: RawTable, places: Mapping[str, str], tally: Tally) -> dict[str, Any]:
    """Return the values of each column; cells that are not of its kind are unknown and counted."""
    made: dict[str, Any] = {}
    waiting = Counter(places.values())
    for name, column in places.items():
        waiting[column] -= 1
        # A million rows are large: each column is let go when it has been read.
        cell = _cells(name, raw.columns[column] if waiting[column] else raw.columns.pop(column))
        made[name] = cell.values.set_axis(raw.rows)
        if cell.bad.any():
            where = f"row {raw.rows[cell.bad.argmax()]}"
            tally.add(f"{name}: {_NOT_A[_sort(name)]}", int(cell.bad.sum()), where, unit="cells")
    return made


_NOT_A: Final = {
    "count": "not a number of at least 0",
    "number": "not a finite number",
    "passed": "neither true nor false",
    "tests": "not a string of 1, 0 and -",
    "probabilities": "not a JSON object of probabilities that sum to 1",
    "text": "not text",
}


def _sort(name: str) -> str:
    if name in COUNTS:
        return "count"
    if name in NUMBERS:
        return "number"
    return name if name in ("passed", "tests", "probabilities") else "text"


def _cells(name: str, column: Any) -> Cells:
    sort = _sort(name)
    if sort in ("count", "number"):
        return cells.numbers(column, 0.0) if sort == "count" else cells.numbers(column)
    if sort == "passed":
        return cells.truths(column)
    if sort == "text":
        return cells.texts(column)
    return cells.parsed(column, cells.tests if sort == "tests" else cells.probabilities)


def _with_groups(frame: pd.DataFrame, source: OutcomeSource) -> pd.DataFrame:
    """Return the rows with the scaffold and backbone of the config, and a group where the file has none."""
    for name, value in (("scaffold", source.scaffold), ("backbone", source.backbone)):
        if value is not None and name not in frame:
            frame[name] = same(value, len(frame))
    if "group" in frame:
        return frame
    parts = [name for name in ("scaffold", "backbone") if name in frame]
    if not parts:
        frame["group"] = same(source.name, len(frame))
        return frame
    known = frame[parts].drop_duplicates()
    names = {tuple(row): " ".join(part for part in row if isinstance(part, str)) for row in known.to_numpy()}
    combined = pd.MultiIndex.from_frame(frame[parts]).map(names)
    frame["group"] = pd.Categorical(combined.where(combined != "", None))
    return frame


def _kept(frame: pd.DataFrame, source: OutcomeSource, tally: Tally) -> pd.DataFrame:
    """Return the rows that have a task and a group that is wanted."""
    for name in ("task", "group"):
        gone = frame[name].isna()
        tally.rows(f"no {name}", frame[gone])
        frame = frame[~gone]
    if source.groups is not None:
        there = set(frame["group"].unique())
        strangers = [name for name in source.groups if name not in there]
        if strangers:
            some = ", ".join(short(str(name)) for name in sorted(there)[:MOST_NAMED])
            raise InputError(f"outcomes.{source.name}.groups: no group {strangers[0]!r} among: {some}")
        chosen = frame["group"].isin(source.groups)
        tally.rows("group not chosen", frame[~chosen])
        frame = frame[chosen]
    return frame


def _attempted(frame: pd.DataFrame, tally: Tally) -> pd.DataFrame:
    """Return the rows without verifications of unnamed attempts, each of which would pass for an attempt."""
    if not has_verifications(frame):
        return frame
    lost = frame["verification"].notna()
    if "attempt" in frame:
        lost &= frame["attempt"].isna()
    tally.rows("verification of an attempt without a name", frame[lost])
    return frame[~lost]


def _numbered(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with attempts numbered within group, task and context where they have no name."""
    if "context" not in frame:
        frame = frame.assign(context=same(None, len(frame)))
    places = frame.groupby(["group", "task", "context"], observed=True, dropna=False, sort=False).cumcount()
    numbers = (places + 1).astype("str")
    if "attempt" in frame:
        given = frame["attempt"]
        if not given.isna().any():
            return frame
        numbers = given.astype("str").where(given.notna(), "unnamed " + numbers)
    return frame.assign(attempt=numbers.astype("category"))


def _listed(counted: Iterable[Counted]) -> str:
    first = {"columns": ""}  # all of which are named
    return "; ".join(
        f"{one.amount}: {one.reason} ({first.get(one.unit, 'first: ')}{one.where})" for one in counted
    )


def _mend(places: Mapping[str, str]) -> str:
    if "verification" not in places or "attempt" in places:
        return ""
    return (
        ". Name the column that tells which attempt was verified in the entry, for example "
        "`columns: {attempt: run}`"
    )
