"""Which kind of conflict two judges see in the same place, span by span."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final

from coherence.evaluation import wording
from coherence.evaluation.agreement import flagging, nearest
from coherence.evaluation.cross_judge import Words, flags_of, peers, with_spans
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, by_dataset
from coherence.records import Judgement, Record

NO_SPAN: Final = "no span there"


class Confusion(Record, frozen=True):
    """How many spans of `n` the first judge calls one type where the second has another, or no span at all.

    `n` are the spans of either, each pair of nearest spans counted once from the first judge's side.
    """

    dataset: str
    first: str
    second: str
    first_type: str
    second_type: str
    spans: int
    n: int
    simulated: str = ""


def type_confusion(rows: Iterable[Row], settings: EvaluationSettings, words: Words) -> Iterator[Confusion]:
    """Yield the cells that hold a span, for each two judges of each dataset, in the order of the types."""
    for dataset, members in by_dataset(rows).items():
        flags = {judge: flags_of(split) for judge, split in peers(members, settings).items()}
        said = words.get(dataset, {})
        for first, second in combinations(flags, 2):
            common = [name for name in flags[first] if name in flags[second]]
            cells = _cells(with_spans(common, [said.get(first, {}), said.get(second, {})]))
            for (one, two), count in sorted(cells.items()):
                note = settings.simulated.get(dataset, "")
                yield Confusion(dataset, first, second, one, two, count, cells.total(), note)


def _cells(pairs: Iterable[tuple[Judgement, Judgement]]) -> Counter[tuple[str, str]]:
    cells: Counter[tuple[str, str]] = Counter()
    for one, two in pairs:
        ours, theirs = flagging(one), flagging(two)
        beside = [(span, nearest(span, theirs)) for span in ours]
        cells.update(
            (span.conflict_type, other.conflict_type if other else NO_SPAN) for span, other in beside
        )
        cells.update((NO_SPAN, span.conflict_type) for span in theirs if nearest(span, ours) is None)
    return cells


FIELDS: Final[dict[str, str]] = {
    name: name
    for name in ("dataset", "first", "second", "first_type", "second_type", "spans", "n", "simulated")
}

_COLUMNS: Final[dict[str, Callable[[Confusion], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "First": lambda row: row.first,
    "Second": lambda row: row.second,
    "Type by the first": lambda row: row.first_type,
    "Type by the second": lambda row: row.second_type,
    "Spans": lambda row: f"{wording.count(row.spans)}/{wording.count(row.n)}",
}


def table(rows: Sequence[Confusion]) -> Table:
    """Return `type_confusion`."""
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="type_confusion",
        title="Kinds of conflict, judge by judge",
        caption=(
            "Spans of two judges on the trajectories both judged: each span of the first with the nearest "
            "of the second that shares a step with it, and spans of the second that share none. Spans: "
            "count of all so counted. A judge without types of its own calls every conflict other."
        ),
    )
