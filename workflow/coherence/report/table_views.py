"""Tables as the report prints them: rows in groups, no empty columns, details below their values."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, Literal

from coherence.records import Record
from coherence.report.blocks import Table

_NUMBER: Final = re.compile(r"[-+−<≤>≥=~±]?\s?\d[\d.,\s%/;()\[\]+−–to-]*")
_NO_NUMBER: Final = frozenset({"", "-", "–", "n/a", "not applicable", "unknown"})
_DETAILED: Final = re.compile(r"(?P<main>[-+<\d][^()]{0,24}) \((?P<detail>[^()]{3,60})\)")


Kind = Literal["number", "word", "phrase", "prose"]
LONGEST_WORD: Final = 14  # characters; a narrow column would make longer cells tall
LONGEST_PHRASE: Final = 40


class Cell(Record, frozen=True):
    """One cell: its text, and the bracket behind it that is printed on a line of its own."""

    text: str
    detail: str = ""


class Group(Record, frozen=True):
    """Rows that share their first cell, which stands above them; "" where rows are not grouped."""

    heading: str
    rows: tuple[tuple[Cell, ...], ...]


class TableView(Record, frozen=True):
    """A table as it is printed; `kinds` tells by column whether cells are numbers, or how long texts are."""

    columns: tuple[str, ...]
    kinds: tuple[Kind, ...]
    groups: tuple[Group, ...]


def table_view(table: Table) -> TableView:
    """Return the table without columns that say nothing, grouped by its first column where that repeats."""
    cells = list(zip(*table.rows, strict=True))
    told = [n for n, column in enumerate(cells) if n == 0 or not _NO_NUMBER.issuperset(column)]
    grouped = bool(cells) and len(set(cells[0])) < len(cells[0])
    shown = told[1:] if grouped else told or list(range(len(table.columns)))
    return TableView(
        columns=tuple(table.columns[n] for n in shown),
        kinds=tuple(_kind(cells[n]) if cells else "word" for n in shown),
        groups=tuple(_groups(table.rows, shown, grouped)),
    )


def cell(text: str) -> Cell:
    """Return a cell, a bracket behind a short value as its detail."""
    match = _DETAILED.fullmatch(text)
    return Cell(match["main"], match["detail"]) if match else Cell("–" if text in ("", "-") else text)


def _groups(rows: Sequence[tuple[str, ...]], shown: Sequence[int], grouped: bool) -> Iterator[Group]:
    for heading, members in groupby(rows, key=lambda row: row[0] if grouped else ""):
        yield Group(heading, tuple(tuple(cell(row[n]) for n in shown) for row in members))


def _kind(cells: Sequence[str]) -> Kind:
    told = [cell(text).text for text in cells if text not in _NO_NUMBER]
    if told and all(_NUMBER.fullmatch(text) for text in told):
        return "number"
    longest = max(map(len, told), default=0)
    return "prose" if longest > LONGEST_PHRASE else "phrase" if longest > LONGEST_WORD else "word"
