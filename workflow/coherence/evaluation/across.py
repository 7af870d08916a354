"""The same reading in two datasets: whether the gaps differ, and what both together say."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Final

from msgspec.structs import replace

from coherence.evaluation import wording
from coherence.evaluation.family import compared, counts, is_primary
from coherence.evaluation.groups import Split
from coherence.evaluation.readings import marked, simulation_note, table_of
from coherence.evaluation.render import Table
from coherence.evaluation.repeated_tasks import repeats
from coherence.evaluation.settings import EvaluationSettings
from coherence.records import Record
from coherence.stats.differences import MOVER, mover
from coherence.stats.intervals import LEVEL_TEXT, Interval
from coherence.stats.strata import (
    EXACT_CMH,
    SATO,
    ZELEN,
    AdjustedGap,
    ExactCmh,
    Homogeneity,
    breslow_day,
    exact_cmh,
    mantel_haenszel,
    zelen,
)
from coherence.stats.tables import NEWCOMBE, Comparison, compare

NOT_INDEPENDENT: Final = "nothing pooled: attempts at one task are no independent draws"
BY_OUTCOME: Final = "was sampled with weights, the other was not: gaps are of the runs as sampled"


class Across(Record, frozen=True):
    """A reading's gap in two datasets that share no run; `difference` is the first less the second.

    Where a dataset has several attempts at a task, nothing is there that takes runs for independent draws:
    no interval of its gap, and none of both together. `note` says so, and who was sampled by outcome.
    """

    name: str
    label: str
    first: str
    second: str
    gaps: tuple[Comparison, Comparison]
    difference: float | None
    interval: Interval | None
    zelen_p: float | None
    breslow_day: Homogeneity | None
    pooled: AdjustedGap | None
    exact: ExactCmh | None
    note: str = ""
    simulated: str = ""

    @property
    def datasets(self) -> str:
        """Both names."""
        return f"{self.first}, {self.second}"

    @property
    def one(self) -> Comparison:
        """The gap in the first dataset."""
        return self.gaps[0]

    @property
    def two(self) -> Comparison:
        """The gap in the second dataset."""
        return self.gaps[1]


def across(splits: Sequence[Split], settings: EvaluationSettings) -> Iterator[Across]:
    """Yield each primary reading in every two datasets that share no run and are both real, or both not."""
    readings: dict[tuple[str, str], list[Split]] = defaultdict(list)
    for split in splits:
        if is_primary(split.reading):
            readings[split.reading.name, split.reading.label].append(split)
    for same in readings.values():
        for first, second in combinations(same, 2):
            notes = [settings.simulated.get(split.reading.dataset, "") for split in (first, second)]
            if notes[0] == notes[1] and not _runs(first) & _runs(second):
                yield _across(first, second, notes[0])


def _runs(split: Split) -> set[tuple[str, str, str | None, str | None]]:
    """Return what is the same for a run that two datasets hold: an id rests on where the run was found."""
    rows = (row for group in compared(split) for row in group)
    return {(row.task, row.attempt, row.backbone, row.scaffold) for row in rows}


def _across(first: Split, second: Split, simulated: str) -> Across:
    strata = [counts(first), counts(second)]
    one, two = (_compared(split) for split in (first, second))
    repeated = [split.reading.dataset for split in (first, second) if _repeats(split)]
    return Across(
        name=first.reading.name,
        label=first.reading.label,
        first=first.reading.dataset,
        second=second.reading.dataset,
        gaps=(one, two),
        difference=None if one.gap is None or two.gap is None else one.gap - two.gap,
        interval=mover(one, two),
        zelen_p=None if repeated else zelen(strata),
        breslow_day=None if repeated else breslow_day(strata),
        pooled=None if repeated else mantel_haenszel(strata),
        exact=None if repeated else exact_cmh(strata),
        note=_note(first, second, repeated),
        simulated=simulated,
    )


def _repeats(split: Split) -> bool:
    return repeats(row for group in compared(split) for row in group)


def _compared(split: Split) -> Comparison:
    """Return the gap of a dataset, without what rests on independent runs where its tasks repeat."""
    found = compare(counts(split))
    return replace(found, interval=None, fisher_p=None) if _repeats(split) else found


def _note(first: Split, second: Split, repeated: Sequence[str]) -> str:
    """Return why nothing is pooled, and which of the two was sampled by outcome where one was."""
    said = [f"{NOT_INDEPENDENT} ({', '.join(repeated)})"] if repeated else []
    weighed = [split.reading.dataset for split in (first, second) if _is_weighed(split)]
    if len(weighed) == 1:
        said.append(f"{weighed[0]} {BY_OUTCOME}")
    return "; ".join(said)


def _is_weighed(split: Split) -> bool:
    return any(row.weight is not None for group in compared(split) for row in group)


def _side(name: str) -> dict[str, str]:
    cells = ("risky_fail", "risky_n", "safe_fail", "safe_n")
    return {
        **{f"{name}_{cell}": f"{name}.counts.{cell}" for cell in cells},
        f"{name}_gap": f"{name}.gap",
        f"{name}_low": f"{name}.interval.low",
        f"{name}_high": f"{name}.interval.high",
    }


FIELDS: Final[dict[str, str]] = {
    "dataset": "datasets",
    "feature": "name",
    "reading": "label",
    "first": "first",
    "second": "second",
    **_side("one"),
    **_side("two"),
    "difference": "difference",
    "difference_low": "interval.low",
    "difference_high": "interval.high",
    "zelen_p": "zelen_p",
    "breslow_day_p": "breslow_day.breslow_day",
    "tarone_p": "breslow_day.tarone",
    "pooled_gap": "pooled.gap",
    "pooled_low": "pooled.interval.low",
    "pooled_high": "pooled.interval.high",
    "pooled_exact_p": "exact.two_sided",
    "note": "note",
    "simulated": "simulated",
}

_COLUMNS: Final[dict[str, Callable[[Across], str]]] = {
    "Feature": lambda row: row.name,
    "Reading": lambda row: row.label,
    "First": lambda row: marked(row.first, row.simulated),
    "Second": lambda row: marked(row.second, row.simulated),
    "n": lambda row: f"{row.one.counts.n:,} and {row.two.counts.n:,}",
    "Gap in the first": lambda row: wording.gap(row.one),
    "in the second": lambda row: wording.gap(row.two),
    "Difference": lambda row: (
        wording.NONE if row.difference is None else wording.points(row.difference, row.interval)
    ),
    "Zelen p": lambda row: wording.p_value(row.zelen_p),
    "Pooled gap": lambda row: (
        wording.points(row.pooled.gap, row.pooled.interval) if row.pooled else wording.NONE
    ),
    "Exact p": lambda row: wording.p_value(row.exact.two_sided if row.exact else None),
    "Note": lambda row: row.note or wording.NONE,
}


def table(rows: Sequence[Across]) -> Table:
    """Return `across`."""
    names = dict.fromkeys((name, row.simulated) for row in rows for name in (row.first, row.second))
    made = table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="across",
        title="The same reading across datasets",
        caption=(
            "Readings that two datasets without a common run share; real data are not set against "
            f"simulated. Gaps in percentage points ({LEVEL_TEXT} {NEWCOMBE} intervals). Difference: the "
            f"first less the second ({LEVEL_TEXT} {MOVER}). Zelen p: {ZELEN}. Pooled gap: {SATO}, "
            f"{LEVEL_TEXT} interval; exact p: {EXACT_CMH}, both stratified by dataset. A difference that "
            "is not significant does not show that two gaps are the same. A gap of repeated tasks has its "
            "interval in the table of further tests."
        ),
    )
    return replace(made, note=simulation_note(names), datasets=tuple(name for name, _ in names))
