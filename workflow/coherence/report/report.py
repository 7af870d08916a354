"""The report: one HTML document of numbered tables and figures, the flagged spans and how to read them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from coherence.records import Record
from coherence.report.blocks import Audit, Block, DatasetNote, Figure, OutcomeNote, Report, Section, Table
from coherence.report.embedding import embedded
from coherence.report.rendering import render
from coherence.report.table_views import TableView, table_view
from coherence.vocabulary import CONFLICT_TYPES


class BlockView(Record, frozen=True):
    """A block as it is printed; `number` counts tables and figures apart.

    `simulated` are banners to show: names of datasets, and what is not real about them.
    """

    kind: str
    number: int
    block: Block
    simulated: tuple[tuple[str, str], ...] = ()
    note: str = ""
    table: TableView | None = None
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
        banners=banners((*report.datasets, *report.outcomes)),
        sections=tuple(_sections(report.sections, report.datasets)),
        conflict_types=CONFLICT_TYPES,
    )


def render_audit(audit: Audit) -> str:
    """Return the audit of the paper as one HTML document that loads nothing and runs nothing."""
    return render("audit.html", audit=audit, sections=tuple(_sections(audit.sections, ())))


def _sections(sections: Iterable[Section], datasets: Iterable[DatasetNote]) -> Iterator[SectionView]:
    notes = {note.name: note for note in datasets}
    numbers = Counter[str]()
    for place, section in enumerate(sections, 1):
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
        table=table_view(block) if isinstance(block, Table) else None,
        image=embedded(block.svg) if isinstance(block, Figure) else "",
    )


def _simulated(block: Block, notes: Mapping[str, DatasetNote]) -> tuple[tuple[str, str], ...]:
    unknown = set(block.datasets) - notes.keys()
    if unknown:
        raise ValueError(f"no note on dataset {sorted(unknown)[0]!r}, which a block of the report shows")
    return banners(notes[name] for name in block.datasets)


def banners(notes: Iterable[DatasetNote | OutcomeNote]) -> tuple[tuple[str, str], ...]:
    """Return what is not real, once for all the datasets it is said of."""
    names: dict[str, list[str]] = {}
    for note in notes:
        if note.simulated:
            names.setdefault(note.simulated, []).append(note.name)
    return tuple((", ".join(said), text) for text, said in names.items())
