"""A reading: one way to divide a dataset into risky and safe, and how tables name it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Protocol, TypeVar

from coherence.evaluation.render import Table, look_up, records, shown
from coherence.evaluation.wording import number
from coherence.records import Record

T = TypeVar("T")

FLAGGED: Final = "flagged"
ANY_SPAN: Final = "any span"
NULL_UNFLAGGED: Final = "flagged, null confidence as unflagged"
CONFIDENT: Final = "confidence at least "
WITHOUT_SEEDS: Final = ", without the prompt's own tasks"
PRESENT: Final = "present"
ABOVE_MEDIAN: Final = "above median"
NO_JUDGE: Final = "-"


class Reading(Record, frozen=True):
    """A feature or judge `name` of a dataset, read in one way.

    `judge` is the judge it rests on, "-" for features; `cut` is the highest safe value of a feature or the
    highest risky rating.
    """

    dataset: str
    name: str
    label: str
    judge: str = NO_JUDGE
    cut: float | None = None

    @property
    def text(self) -> str:
        """How tables and figures show the reading, a feature's cut with it."""
        cut = self.cut if self.judge == NO_JUDGE else None
        return self.label if cut is None else f"{self.label} ({number(cut)})"


class Read(Protocol):
    """A result that rests on one reading; `simulated` says what is not real about its dataset."""

    @property
    def reading(self) -> Reading:
        """The reading it rests on."""

    @property
    def simulated(self) -> str:
        """What is not real about the dataset, "" for real runs."""


FIELDS: Final[dict[str, str]] = {
    "dataset": "reading.dataset",
    "feature": "reading.name",
    "judge": "reading.judge",
    "reading": "reading.label",
    "cut": "reading.cut",
}

COLUMNS: Final[dict[str, Callable[[Read], str]]] = {
    "Dataset": lambda row: marked(row.reading.dataset, row.simulated),
    "Judge or feature": lambda row: row.reading.name,
    "Reading": lambda row: row.reading.text,
}


def marked(dataset: str, simulated: str) -> str:
    """Return the dataset's name, saying so where it is simulated."""
    return f"{dataset} (simulated)" if simulated else dataset


def simulation_note(shown: Iterable[tuple[str, str]]) -> str:
    """Return what is not real about the datasets shown, given as (dataset, simulated) pairs."""
    datasets: dict[str, dict[str, None]] = {}
    for dataset, simulated in shown:
        if simulated:
            datasets.setdefault(simulated, {})[dataset] = None
    return " ".join(
        f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} simulated: {simulated}."
        for simulated, names in datasets.items()
    )


def table_of(
    rows: Sequence[T],
    columns: Mapping[str, Callable[[T], str]],
    fields: Mapping[str, str],
    *,
    name: str,
    title: str,
    caption: str,
) -> Table:
    """Return the rows as a table; `fields` say where a row has its dataset and what is not real about it."""
    pairs = [(look_up(row, fields["dataset"]), look_up(row, fields["simulated"])) for row in rows]
    return Table(
        name=name,
        title=title,
        caption=caption,
        columns=tuple(columns),
        rows=shown(rows, columns),
        fields=tuple(fields),
        records=records(rows, fields),
        note=simulation_note(pairs),
        datasets=tuple(dict.fromkeys(dataset for dataset, _ in pairs)),
    )
