"""The report: one HTML document of numbered tables and figures, the flagged spans and how to read them."""

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from coherence.records import Record
from coherence.report.blocks import Block, DatasetNote, Figure, Report, Section, Table
from coherence.report.rendering import render
from coherence.vocabulary import CONFLICT_TYPES

_NUMBER: Final = re.compile(r"[-+−<≤>≥=~±]?\s?\d[\d.,\s%/;()\[\]+−–to-]*")
_NO_NUMBER: Final = frozenset({"", "-", "–", "n/a", "not applicable", "unknown"})


class BlockView(Record, frozen=True):
    """A block as it is printed; `number` counts tables and figures apart, `simulated` are banners to show."""

    kind: str
    number: int
    block: Block
    simulated: tuple[DatasetNote, ...] = ()
    note: str = ""
    numeric: tuple[bool, ...] = ()
    image: str = ""


class SectionView(Record, frozen=True):
    """A section as it is printed."""

    section: Section
    anchor: str
    blocks: tuple[BlockView, ...]


def render_report(report: Report) -> str:
    """Return the report as one HTML document that loads nothing and runs nothing.

    Raise ValueError where a block names a dataset the report has no note on.
    """
    return render(
        "report.html",
        report=report,
        sections=tuple(_sections(report)),
        conflict_types=CONFLICT_TYPES,
    )


def _sections(report: Report) -> Iterator[SectionView]:
    notes = {note.name: note for note in report.datasets}
    numbers = Counter[str]()
    for place, section in enumerate(report.sections, 1):
        views = tuple(_view(block, notes, numbers) for block in section.blocks)
        yield SectionView(section, f"section-{place}", views)


def _view(block: Block, notes: Mapping[str, DatasetNote], numbers: Counter[str]) -> BlockView:
    kind = type(block).__name__.lower()
    numbers[kind] += 1
    return BlockView(
        kind=kind,
        number=numbers[kind],
        block=block,
        simulated=_simulated(block, notes),
        note=block.note if isinstance(block, Table | Figure) else "",
        numeric=_numeric(block) if isinstance(block, Table) else (),
        image=b64encode(block.svg).decode() if isinstance(block, Figure) else "",
    )


def _simulated(block: Block, notes: Mapping[str, DatasetNote]) -> tuple[DatasetNote, ...]:
    unknown = set(block.datasets) - notes.keys()
    if unknown:
        raise ValueError(f"no note on dataset {sorted(unknown)[0]!r}, which a block of the report shows")
    return tuple(notes[name] for name in block.datasets if notes[name].simulated)


def _numeric(table: Table) -> tuple[bool, ...]:
    columns = ([row[place] for row in table.rows] for place in range(len(table.columns)))
    return tuple(_is_numeric(cells) for cells in columns)


def _is_numeric(cells: Sequence[str]) -> bool:
    told = [cell for cell in cells if cell not in _NO_NUMBER]
    return bool(told) and all(_NUMBER.fullmatch(cell) for cell in told)
