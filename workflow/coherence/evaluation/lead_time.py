"""How early a flag comes: from the first acknowledgment of a flagged trajectory to its end."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from coherence.evaluation import wording
from coherence.evaluation.first_flags import Elapsed, FirstFlag
from coherence.evaluation.groups import only_rates
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, by_dataset
from coherence.records import OutcomeStatus, Record
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.medians import METHOD, Summary, summarise


class LeadTime(Record, frozen=True):
    """One measure over the flagged trajectories of a judge: all, or those with one outcome.

    `summary` is over those whose first acknowledgment has a place in the trajectory.
    """

    dataset: str
    judge: str
    of: str
    measure: str
    flagged: int
    summary: Summary
    simulated: str = ""

    @property
    def not_placed(self) -> int:
        """Flagged trajectories whose first acknowledgment has no place in the trajectory."""
        return self.flagged - self.summary.n


SHARE: Final = "share elapsed"
MEASURES: Final[dict[str, Callable[[Elapsed], float]]] = {
    "steps left": lambda elapsed: elapsed.steps_left,
    "thought-bearing steps left": lambda elapsed: elapsed.thought_steps_left,
    SHARE: lambda elapsed: elapsed.share,
}
OUTCOMES: Final[dict[str, tuple[OutcomeStatus, ...]]] = {
    "failures": ("failed",),
    "passes": ("passed",),
    "all": ("failed", "passed", "unknown"),
}


def lead_times(
    rows: Iterable[Row], flags: Iterable[FirstFlag], settings: EvaluationSettings
) -> Iterator[LeadTime]:
    """Yield each measure of each judge in each dataset, over failures, passes and all that are flagged.

    Where no flag has a place in a text, one row says so; a judge that only rates has none.
    """
    flagged: dict[tuple[str, str], list[FirstFlag]] = defaultdict(list)
    for flag in flags:
        flagged[flag.dataset, flag.judge].append(flag)
    for dataset, members in by_dataset(rows).items():
        for judge in settings.judges_in(members):
            if not only_rates(members, judge):
                yield from _measured(dataset, judge, flagged[dataset, judge], settings)


def _measured(
    dataset: str, judge: str, flags: Sequence[FirstFlag], settings: EvaluationSettings
) -> Iterator[LeadTime]:
    nowhere = bool(flags) and not any(flag.elapsed for flag in flags)
    for of, outcomes in OUTCOMES.items():
        group = [flag for flag in flags if flag.outcome in outcomes]
        placed = [flag.elapsed for flag in group if flag.elapsed]
        for name, measure in MEASURES.items():
            if nowhere and (of, name) != ("all", SHARE):
                continue
            summary = summarise([measure(elapsed) for elapsed in placed])
            simulated = settings.simulated.get(dataset, "")
            yield LeadTime(dataset, judge, of, name, len(group), summary, simulated)


FIELDS: Final[dict[str, str]] = {
    "dataset": "dataset",
    "judge": "judge",
    "of": "of",
    "measure": "measure",
    "n_flagged": "flagged",
    "n": "summary.n",
    "n_not_placed": "not_placed",
    "median": "summary.median",
    "median_low": "summary.interval.low",
    "median_high": "summary.interval.high",
    "interval": "summary.interval.method",
    "level": "summary.interval.level",
    "mean": "summary.mean",
    "simulated": "simulated",
}


def _median(row: LeadTime) -> str:
    middle, interval = _number(row, row.summary.median), row.summary.interval
    if interval is None:
        return middle
    return f"{middle} ({_number(row, interval.low)} to {_number(row, interval.high)})"


def _number(row: LeadTime, value: float | None) -> str:
    if value is None:
        return wording.NONE
    return wording.percent(value) if row.measure == SHARE else wording.number(value)


_COLUMNS: Final[dict[str, Callable[[LeadTime], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Judge": lambda row: row.judge,
    "Flagged": lambda row: row.of,
    "Measure": lambda row: row.measure + (" (%)" if row.measure == SHARE else ""),
    "n": lambda row: wording.count(row.summary.n),
    "Median": _median,
    "Mean": lambda row: _number(row, row.summary.mean),
    "Left out": lambda row: wording.left_out(not_placed=row.not_placed),
}


def table(rows: Sequence[LeadTime]) -> Table:
    """Return `lead_time`."""
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="lead_time",
        title="Lead time of the first flag",
        caption=(
            "From the first acknowledgment of each flagged trajectory to its last non-empty step. Median "
            f"(interval by {METHOD}, at least {LEVEL_TEXT}; none below 6 values). Not placed: there is no "
            "text, or the acknowledgment is at no non-empty step of it."
        ),
    )
