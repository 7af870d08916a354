"""Table-only datasets: a CSV or TSV file with a row a trajectory, features and verdicts instead of text.

`columns` maps what a trial has to the file's columns; what it leaves out is looked for under its own name:
`id` (required), `task`, `attempt`, `backbone`, `scaffold`, `weight`, `exception`, and the outcome as `reward`
(a number), `outcome` or `passed` (true: passed), or `failed` (true: failed). Cells are true (1, true, yes),
false (0, false, no), a word for the outcome (passed, failed, resolved, ...) or, where empty, unknown.

`verdict_columns` maps for each judge `flagged` and any of `reason`, `rating`, `confidence`, `type` (conflict
types, separated by ";"), `acknowledgment_step`, `action_step` and `substrate` ("thoughts", or "none" where
there was nothing to judge). A flagged verdict with both steps has one span a type, each with these steps and
this confidence and without quotes.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from coherence.errors import InputError
from coherence.formats import Reading, Source, Unit
from coherence.formats.cells import Row
from coherence.formats.deviations import Deviations
from coherence.formats.documents import decode_text, read_bytes
from coherence.formats.folders import base_of, walk
from coherence.formats.identity import existing, relative_key, safe_id
from coherence.formats.outcomes import by_reward
from coherence.formats.recorded import read_judgement
from coherence.formats.unreadable import unreadable
from coherence.records import Outcome, SourceFile, Trial

SUFFIXES: Final = {".csv": ",", ".tsv": "\t"}
BEGINNING: Final = 1 << 20  # bytes, far more than any header has
PASS_WORDS: Final = frozenset({"passed", "pass", "resolved", "success"})
FAIL_WORDS: Final = frozenset({"failed", "fail", "unresolved", "failure"})
_OUTCOME_FIELDS: Final = ("reward", "outcome", "passed", "failed")


class _Table(NamedTuple):
    """An open table: where it is from, its header, and the columns that are in it."""

    unit: Unit
    source: Source
    file: SourceFile
    header: list[str]

    def column(self, field: str) -> str | None:
        """Return the column of a field of the trial, None where the table has none."""
        column = self.source.columns.get(field, field)
        return column if column in self.header else None


def discover(root: Path) -> Iterator[Unit]:
    """Yield the table, or each table below a folder, sorted by key."""
    if root.is_file():
        keys = [root.name]
    elif root.is_dir():
        paths = (folder.path / name for folder in walk(root) for name in folder.files)
        keys = sorted(relative_key(path, root) for path in paths if path.suffix.lower() in SUFFIXES)
    else:
        raise InputError(f"{root}: there is no such file or folder")
    yield from (Unit(key, existing(base_of(root), [key])) for key in keys)


def read(root: Path, unit: Unit, source: Source) -> Iterator[Reading]:
    """Yield a reading for each row.

    A file that is no such table is one unreadable reading, and an InputError where it is the dataset's path.
    """
    try:
        yield from _readings(root, unit, source)
    except InputError as error:
        if root.is_file():
            raise
        yield Reading(unreadable(unit, source, "the table cannot be read", str(error)))


def check_header(root: Path, unit: Unit, source: Source) -> None:
    """Raise InputError where a table lacks a column that the config names; only its beginning is read."""
    path = base_of(root) / unit.key
    try:
        with path.open("rb") as file:
            data = file.read(BEGINNING)
    except OSError as error:
        raise InputError(f"{root}: {unit.key}: cannot be read: {error.strerror}") from error
    lines = _lines(decode_text(data, Deviations(unit.key)), unit)
    _check_columns(root, unit, source, _header(lines, root, unit, source))


def _lines(text: str, unit: Unit) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=SUFFIXES.get(Path(unit.key).suffix, ","))


def _readings(root: Path, unit: Unit, source: Source) -> Iterator[Reading]:
    try:
        data, file = read_bytes(base_of(root), unit.key)
    except OSError as error:
        raise InputError(f"{root}: {unit.key}: cannot be read: {error.strerror}") from error
    notes = Deviations(unit.key)
    lines = _lines(decode_text(data, notes), unit)
    table = _Table(unit, source, file, _header(lines, root, unit, source))
    _check_columns(root, unit, source, table.header)
    seen: set[str] = set()
    for row in _rows(lines, table, notes):
        yield _reading(row, table, seen)


def _header(lines: Iterator[list[str]], root: Path, unit: Unit, source: Source) -> list[str]:
    wanted = source.columns.get("id", "id")
    try:
        header = [name.strip() for name in next(lines, [])]
    except csv.Error as error:
        raise InputError(f"{root}: {unit.key}: its first line is no CSV header: {error}") from error
    if wanted not in header:
        found = ", ".join(header[:12]) or "nothing"
        mend = f"Name the right one in `datasets.{source.dataset}.columns.id`"
        if "id" not in source.columns:
            mend = "Name the right one in the dataset's entry, for example `columns: {id: instance}`"
        raise InputError(
            f"{root}: {unit.key}: there is no column {wanted!r} for the id among: {found}. {mend}"
        )
    return header


def _check_columns(root: Path, unit: Unit, source: Source, header: Sequence[str]) -> None:
    missing = [(key, column) for key, column in _named_columns(source) if column not in header]
    if missing:
        told = ", ".join(f"{column!r} (datasets.{source.dataset}.{key})" for key, column in missing)
        raise InputError(f"{root}: {unit.key}: there is no column {told} among: {', '.join(header[:20])}")


def _named_columns(source: Source) -> Iterator[tuple[str, str]]:
    """Yield the key of the config and the column, for each column the config names."""
    yield from ((f"columns.{field}", column) for field, column in source.columns.items())
    yield from (("feature_columns", column) for column in source.feature_columns)
    for judge, columns in source.verdict_columns.items():
        yield from ((f"verdict_columns.{judge}.{field}", column) for field, column in columns.items())


def _rows(lines: Iterator[list[str]], table: _Table, notes: Deviations) -> Iterator[Row]:
    """Yield the rows; what was noted of the file as a whole goes with the first."""
    for number, (cells, error) in enumerate(_tolerant(lines), 1):
        if error is not None:
            notes.add("row_unreadable", f"row {number}: {error}")
        elif not cells:
            continue
        elif len(cells) != len(table.header):
            notes.add("row_length", f"row {number}: {len(cells)} cells, {len(table.header)} columns")
        yield Row(number, dict(zip(table.header, cells, strict=False)), notes)
        notes = Deviations(table.unit.key)


def _tolerant(lines: Iterator[list[str]]) -> Iterator[tuple[list[str], str | None]]:
    """Yield each row's cells, or why it is none; one bad row does not lose the others."""
    while True:
        try:
            yield next(lines), None
        except StopIteration:
            return
        except csv.Error as error:
            yield [], str(error)


def _reading(row: Row, table: _Table, seen: set[str]) -> Reading:
    trial = _trial(row, table, _name(row, table, seen))
    features = {column: row.number_in(column) for column in table.source.feature_columns}
    judgements = tuple(
        read_judgement(row, trial.id, judge, columns, table.unit.key)
        for judge, columns in table.source.verdict_columns.items()
    )
    return Reading(trial, None, row.notes.records(), features, judgements)


def _name(row: Row, table: _Table, seen: set[str]) -> str:
    name = row.text(table.column("id"))
    if name is None:
        row.notes.add("id_missing", f"row {row.number}")
        name = f"row {row.number}"
    while name in seen:
        row.notes.add("id_repeated", name)
        name = f"{name} (row {row.number})"
    seen.add(name)
    return name


def _trial(row: Row, table: _Table, name: str) -> Trial:
    key = f"{table.unit.key}#{name}"
    source = table.source
    weight = row.number_in(table.column("weight"))
    if weight is not None and weight <= 0:
        row.note(table.column("weight"), f"{weight:g}")
        weight = None
    return Trial(
        id=safe_id(name, source.apart + key),
        dataset=source.dataset,
        task=row.text(table.column("task")) or name,
        attempt=row.text(table.column("attempt")) or name,
        root=source.root,
        key=key,
        outcome=_outcome(row, table),
        status="no_text",
        reason="a row of a table",
        backbone=source.backbone or row.text(table.column("backbone")),
        scaffold=source.scaffold or row.text(table.column("scaffold")),
        weight=weight,
        sources=(table.file,),
    )


def _outcome(row: Row, table: _Table) -> Outcome:
    """Return the outcome by the first field the config maps, else by the first the table has."""
    mapped = [field for field in _OUTCOME_FIELDS if field in table.source.columns]
    field = next((field for field in (*mapped, *_OUTCOME_FIELDS) if table.column(field)), None)
    exception = row.text(table.column("exception"))
    if field is None:
        return Outcome("unknown", reason="the table has no column of the outcome", exception=exception)
    column = table.column(field)
    if field == "reward":
        return by_reward(row.number_in(column), table.source.pass_reward, "no reward", exception)
    if field == "failed":
        failed = row.truth(column, FAIL_WORDS, PASS_WORDS)
        passed = None if failed is None else not failed
    else:
        passed = row.truth(column, PASS_WORDS, FAIL_WORDS)
    if passed is None:
        return Outcome("unknown", reason="no outcome", exception=exception)
    return Outcome("passed" if passed else "failed", exception=exception)
