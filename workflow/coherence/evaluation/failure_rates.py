"""Does the risky group fail more often than the safe one? A row a dataset, feature or judge, and reading."""

from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from typing import Final, Literal

from coherence.evaluation import readings, wording
from coherence.evaluation.groups import Split
from coherence.evaluation.readings import NO_JUDGE, Reading
from coherence.evaluation.render import Table, proportion_fields
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row
from coherence.records import Record
from coherence.stats.intervals import LEVEL_TEXT, Interval
from coherence.stats.proportions import (
    BOOTSTRAP,
    CLOPPER_PEARSON,
    Proportion,
    bootstrap,
    proportion,
)
from coherence.stats.tables import FISHER, NEWCOMBE, Comparison, Counts, compare
from coherence.stats.weighted import METHOD as WEIGHTED
from coherence.stats.weighted import Sample, WeightedComparison, compare_weighted


class FailureRate(Record, frozen=True):
    """The two groups of one reading compared; whatever could not be compared is counted beside them.

    `without_thoughts` counts compared rows in which the judge had no thought to read, None where that is not
    known; `with_thoughts` compares the others. `weighted` rests on the compared rows with a sampling weight.
    """

    reading: Reading
    risky: Proportion
    safe: Proportion
    comparison: Comparison
    unknown_outcome: int
    unjudged: int
    missing: int
    excluded: int
    without_thoughts: int | None = None
    with_thoughts: Comparison | None = None
    weighted: WeightedComparison | None = None
    simulated: str = ""

    @property
    def status(self) -> Literal["ok", "not applicable"]:
        """Whether there are two groups to compare."""
        return "not applicable" if self.comparison.reason else "ok"

    @property
    def left_out(self) -> str:
        """What could not be compared, in words."""
        return wording.left_out(
            unknown_outcome=self.unknown_outcome,
            unjudged=self.unjudged,
            without_value=self.missing,
            excluded=self.excluded,
        )

    @property
    def rate_interval(self) -> Interval | None:
        """An interval of the kind that both rates have, None where neither group has a rate."""
        return self.risky.interval or self.safe.interval

    @property
    def n(self) -> int:
        """Trajectories compared."""
        return self.comparison.counts.n


def _weighted(group: str) -> dict[str, str]:
    return {
        f"weighted_{group}_n": f"weighted.{group}.n",
        f"weighted_{group}_rate": f"weighted.{group}.rate",
        f"weighted_{group}_low": f"weighted.{group}.interval.low",
        f"weighted_{group}_high": f"weighted.{group}.interval.high",
    }


FIELDS: Final[dict[str, str]] = {
    **readings.FIELDS,
    "status": "status",
    "reason": "comparison.reason",
    **proportion_fields("risky", "risky_fail", "risky_rate"),
    **proportion_fields("safe", "safe_fail", "safe_rate"),
    "rate_interval": "rate_interval.method",
    "resamples": "rate_interval.resamples",
    "seed": "rate_interval.seed",
    "gap": "comparison.gap",
    "gap_points": "comparison.points",
    "gap_low": "comparison.interval.low",
    "gap_high": "comparison.interval.high",
    "gap_interval": "comparison.interval.method",
    "fisher_p": "comparison.fisher_p",
    "n_unknown_outcome": "unknown_outcome",
    "n_unjudged": "unjudged",
    "n_missing": "missing",
    "n_excluded": "excluded",
    "n_without_thoughts": "without_thoughts",
    "with_thoughts_risky_fail": "with_thoughts.counts.risky_fail",
    "with_thoughts_risky_n": "with_thoughts.counts.risky_n",
    "with_thoughts_safe_fail": "with_thoughts.counts.safe_fail",
    "with_thoughts_safe_n": "with_thoughts.counts.safe_n",
    "with_thoughts_gap": "with_thoughts.gap",
    "with_thoughts_gap_low": "with_thoughts.interval.low",
    "with_thoughts_gap_high": "with_thoughts.interval.high",
    "with_thoughts_fisher_p": "with_thoughts.fisher_p",
    **_weighted("risky"),
    **_weighted("safe"),
    "weighted_gap": "weighted.gap",
    "weighted_gap_low": "weighted.interval.low",
    "weighted_gap_high": "weighted.interval.high",
    "weighted_interval": "weighted.interval.method",
    "simulated": "simulated",
}


def failure_rate(split: Split, settings: EvaluationSettings) -> FailureRate:
    """Return the failure rates of the two groups of a split and the gap between them."""
    risky, safe = with_outcome(split.risky), with_outcome(split.safe)
    counts = counts_of(risky, safe)
    resampled = partial(bootstrap, settings=settings.bootstrap)
    without_thoughts, with_thoughts = _by_thoughts(split.reading.judge, risky, safe)
    return FailureRate(
        reading=split.reading,
        risky=proportion(counts.risky_fail, counts.risky_n, resampled),
        safe=proportion(counts.safe_fail, counts.safe_n, resampled),
        comparison=_unread(compare(counts), split, without_thoughts),
        unknown_outcome=len(split.risky) + len(split.safe) - counts.n,
        unjudged=split.unjudged,
        missing=split.missing,
        excluded=split.excluded,
        without_thoughts=without_thoughts,
        with_thoughts=with_thoughts,
        weighted=compare_weighted(_sample(risky), _sample(safe), settings.bootstrap),
        simulated=settings.simulated.get(split.reading.dataset, ""),
    )


def _unread(found: Comparison, split: Split, without_thoughts: int | None) -> Comparison:
    """Say so where all that a judge is said to have judged are trajectories without a thought."""
    if not split.unjudged or not found.counts.n or without_thoughts != found.counts.n:
        return found
    return Comparison(found.counts, "none of the trajectories that have thoughts was judged")


def _weighted_gap(found: WeightedComparison | None) -> str:
    if found is None:
        return wording.NONE
    return f"{wording.points(found.gap, found.interval)}, n = {found.risky.n + found.safe.n:,}"


_COLUMNS: Final[dict[str, Callable[[FailureRate], str]]] = {
    **readings.COLUMNS,
    "Risky failed": lambda row: wording.proportion(row.risky),
    "Safe failed": lambda row: wording.proportion(row.safe),
    "Gap": lambda row: wording.gap(row.comparison),
    "p": lambda row: wording.p_value(row.comparison.fisher_p),
    "Without thoughts": lambda row: wording.count(row.without_thoughts),
    "Gap with thoughts": lambda row: wording.gap(row.with_thoughts),
    "Weighted gap": lambda row: _weighted_gap(row.weighted),
    "Left out": lambda row: row.left_out,
}


def table(rows: Sequence[FailureRate], settings: EvaluationSettings) -> Table:
    """Return `failure_rates`: rates as shares and gaps in percentage points in full, rounded to read."""
    return readings.table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="failure_rates",
        title="Failure rates of the risky and the safe group",
        caption=_caption(settings),
    )


def _caption(settings: EvaluationSettings) -> str:
    draws = f"{settings.bootstrap.resamples:,} resamples within the group, seed {settings.bootstrap.seed}"
    return (
        f"Failed/n (rate in %; {LEVEL_TEXT} {BOOTSTRAP} interval, {draws}; where it has no width the "
        f"{CLOPPER_PEARSON} interval follows as exact). Gap: risky less safe in percentage points, rounded "
        f"after subtracting ({LEVEL_TEXT} {NEWCOMBE} interval). p: {FISHER}. Gap with thoughts: without the "
        "trajectories in which the judge had no thought to read. Weighted gap: by sampling weight "
        f"({LEVEL_TEXT} {WEIGHTED} interval). Left out: trajectories that could not be compared."
    )


def with_outcome(rows: Sequence[Row]) -> list[Row]:
    """Return the rows whose outcome is known."""
    return [row for row in rows if row.outcome != "unknown"]


def _failures(rows: Sequence[Row]) -> int:
    return sum(1 for row in rows if row.outcome == "failed")


def counts_of(risky: Sequence[Row], safe: Sequence[Row]) -> Counts:
    """Return the failures and sizes of two groups of rows with known outcomes."""
    return Counts(_failures(risky), len(risky), _failures(safe), len(safe))


def _by_thoughts(
    judge: str, risky: Sequence[Row], safe: Sequence[Row]
) -> tuple[int | None, Comparison | None]:
    if judge == NO_JUDGE or all(row.verdicts[judge].substrate == "unknown" for row in (*risky, *safe)):
        return None, None
    kept = [[row for row in group if row.verdicts[judge].substrate != "none"] for group in (risky, safe)]
    return len(risky) + len(safe) - len(kept[0]) - len(kept[1]), compare(counts_of(kept[0], kept[1]))


def _sample(rows: Sequence[Row]) -> Sample:
    weighed = [(row.outcome == "failed", row.weight) for row in rows if row.weight and 0 < row.weight < inf]
    return Sample([failed for failed, _ in weighed], [weight for _, weight in weighed])
