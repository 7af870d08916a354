"""Two groups and an outcome: the 2x2 table, its gap and its tests."""

from fractions import Fraction
from typing import Final

import numpy as np
from scipy.stats import fisher_exact
from statsmodels.stats.proportion import confint_proportions_2indep

from coherence.records import Record
from coherence.stats.intervals import LEVEL, Interval
from coherence.stats.rounding import half_up

NEWCOMBE: Final = "Newcombe hybrid score"
FISHER: Final = "Fisher exact, two-sided"


class Counts(Record, frozen=True):
    """Failures and sizes of the risky and the safe group."""

    risky_fail: int
    risky_n: int
    safe_fail: int
    safe_n: int

    @property
    def n(self) -> int:
        """Trajectories in both groups."""
        return self.risky_n + self.safe_n

    @property
    def not_applicable(self) -> str | None:
        """Why the groups cannot be compared, or None."""
        empty = [side for side, n in (("risky", self.risky_n), ("safe", self.safe_n)) if n == 0]
        return f"no trajectory is {' or '.join(empty)}" if empty else None

    @property
    def gap(self) -> Fraction | None:
        """Failure rate of the risky less that of the safe group, in percentage points, exact."""
        if self.not_applicable:
            return None
        return 100 * (Fraction(self.risky_fail, self.risky_n) - Fraction(self.safe_fail, self.safe_n))


class Comparison(Record, frozen=True):
    """What a 2x2 table says; `reason` says why it says nothing.

    `gap` and `interval` (Newcombe) are in percentage points; `points` is the gap rounded after subtracting.
    """

    counts: Counts
    reason: str | None = None
    gap: float | None = None
    points: int | None = None
    interval: Interval | None = None
    fisher_p: float | None = None


def newcombe(counts: Counts) -> Interval | None:
    """Return Newcombe's interval of the gap in percentage points, None where a group is empty."""
    if counts.not_applicable:
        return None
    groups = (counts.risky_fail, counts.risky_n, counts.safe_fail, counts.safe_n)
    low, high = confint_proportions_2indep(*groups, method="newcomb", alpha=1 - LEVEL)
    return Interval(100 * float(low), 100 * float(high), NEWCOMBE, counts.n)


def fisher(counts: Counts) -> float | None:
    """Return Fisher's two-sided p (all tables no more likely than this one), None where a group is empty."""
    if counts.not_applicable:
        return None
    risky = [counts.risky_fail, counts.risky_n - counts.risky_fail]
    safe = [counts.safe_fail, counts.safe_n - counts.safe_fail]
    return float(fisher_exact(np.array([risky, safe])).pvalue)


def compare(counts: Counts) -> Comparison:
    """Return the gap between the groups, its interval and its p."""
    gap = counts.gap
    if gap is None:
        return Comparison(counts, counts.not_applicable)
    return Comparison(
        counts,
        gap=float(gap),
        points=int(half_up(gap)),
        interval=newcombe(counts),
        fisher_p=fisher(counts),
    )
