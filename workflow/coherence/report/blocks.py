"""What a report is made of: blocks in sections, each naming the datasets it shows."""

from coherence.records import Record, Span, Trial


class DatasetNote(Record, frozen=True):
    """One dataset as the report introduces it; `simulated` says what is not real, "" for recorded runs."""

    name: str
    trajectories: int
    passed: int
    failed: int
    unknown: int
    backbone: str = ""
    note: str = ""
    simulated: str = ""
    tasks: int | None = None


class OutcomeNote(Record, frozen=True):
    """One file of repeated outcomes as the report introduces it."""

    name: str
    attempts: int
    groups: int
    tasks: int
    passed: int
    failed: int
    unknown: int
    note: str = ""
    simulated: str = ""


class Table(Record, frozen=True):
    """A table of ready-made cells, each row as long as `columns` (else ValueError).

    The datasets named bring their simulation notes with them; `note` is for anything else.
    """

    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    datasets: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a row that does not fit the columns."""
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.title}: a row of {len(row)} cells under {len(self.columns)} columns")


class Figure(Record, frozen=True):
    """A figure as SVG bytes; `alt` says in words what it shows."""

    title: str
    caption: str
    svg: bytes
    alt: str
    note: str = ""
    datasets: tuple[str, ...] = ()


class Prose(Record, frozen=True):
    """Paragraphs of plain text, with a heading where `title` is given."""

    paragraphs: tuple[str, ...]
    title: str = ""
    datasets: tuple[str, ...] = ()


class SpanCard(Record, frozen=True):
    """One flagged span as the report lists it; `linked` where a page of its trajectory is written."""

    trial: Trial
    span: Span
    sample: int = 0
    linked: bool = True


class SpanList(Record, frozen=True):
    """The first spans one judge flagged in one dataset, out of `total` in `trajectories`.

    `without_spans` counts trajectories flagged without saying where.
    """

    judge: str
    dataset: str
    cards: tuple[SpanCard, ...]
    total: int
    trajectories: int
    without_spans: int = 0
    file: str = "spans.csv"

    @property
    def datasets(self) -> tuple[str, ...]:
        """The dataset, as every block names its datasets."""
        return (self.dataset,)


class PageLink(Record, frozen=True):
    """A page below the report: names of its folders and of the file without its ending, and what it shows."""

    place: tuple[str, ...]
    text: str


class PageList(Record, frozen=True):
    """Links to pages that belong together."""

    title: str
    links: tuple[PageLink, ...]
    datasets: tuple[str, ...] = ()


Block = Table | Figure | Prose | SpanList | PageList


class Section(Record, frozen=True):
    """A titled run of blocks, shown in this order."""

    title: str
    blocks: tuple[Block, ...]
    intro: str = ""


class Report(Record, frozen=True):
    """Everything `report.html` shows; it names no file but what is handed in.

    `beside` are pages in the same folder, as (file name, what they show).
    """

    title: str
    config: str
    datasets: tuple[DatasetNote, ...]
    sections: tuple[Section, ...]
    outcomes: tuple[OutcomeNote, ...] = ()
    lead: tuple[str, ...] = ()
    beside: tuple[tuple[str, str], ...] = ()
    citation: tuple[str, ...] = ()
    provenance: tuple[tuple[str, str], ...] = ()


class Audit(Record, frozen=True):
    """Everything `audit.html` shows; its blocks name no dataset, `limits` are paragraphs, `report` a link."""

    title: str
    paper: str
    lead: tuple[str, ...]
    sections: tuple[Section, ...]
    limits: tuple[str, ...]
    report: str = "report.html"
