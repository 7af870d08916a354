"""Exact tests of a 2x2 table beside Fisher's: mid-p, Barnard, Boschloo, and the conditional odds ratio.

Barnard's and Boschloo's p are the largest over a nuisance rate. It is looked for on a fixed grid and refined
around the best point: scipy's search misses the maximum of some tables (12/13 against 13/28).
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.stats import binom, hypergeom
from scipy.stats.contingency import odds_ratio

from coherence.records import Record
from coherence.stats.intervals import LEVEL, Interval
from coherence.stats.power import TIE
from coherence.stats.tables import Counts, fisher

MID_P: Final = "Fisher mid-p, two-sided"
BARNARD: Final = "Barnard (pooled z), two-sided"
BOSCHLOO: Final = "Boschloo, two-sided (twice the smaller one-sided p)"
CONDITIONAL: Final = "conditional exact"
MOST: Final = 500  # trajectories; above it the grid takes seconds, and Fisher's mid-p says the same
GRID: Final = np.linspace(0, 1, 2001)[1:-1]
Floats = NDArray[np.float64]
Region = NDArray[np.bool_]


class OddsRatio(Record, frozen=True):
    """The conditional maximum-likelihood odds ratio (0 and infinite are possible) and its exact interval."""

    value: float
    interval: Interval


def mid_p(counts: Counts) -> float | None:
    """Return Fisher's two-sided p less half the probability of the table, None where a group is empty."""
    p = fisher(counts)
    return None if p is None else p - probability(counts) / 2


def probability(counts: Counts) -> float:
    """Return the probability of the table given its margins."""
    failed = counts.risky_fail + counts.safe_fail
    return float(hypergeom.pmf(counts.risky_fail, counts.n, counts.risky_n, failed))


def barnard(counts: Counts) -> float | None:
    """Return Barnard's two-sided p by the pooled z, None where a group is empty or n is above `MOST`."""
    if counts.not_applicable or counts.n > MOST:
        return None
    z = np.abs(_pooled_z(counts.risky_n, counts.safe_n))
    region = z >= z[counts.risky_fail, counts.safe_fail] / TIE
    return largest(region)


def boschloo(counts: Counts) -> float | None:
    """Return Boschloo's two-sided p, None where a group is empty or n is above `MOST`."""
    if counts.not_applicable or counts.n > MOST:
        return None
    here = counts.risky_fail, counts.safe_fail
    sides = _one_sided(counts.risky_n, counts.safe_n)
    return min(1.0, 2 * min(largest(side <= side[here] * TIE) for side in sides))


def largest(region: Region) -> float:
    """Return the largest probability of a region of tables over the common failure rate."""
    n1, n0 = region.shape[0] - 1, region.shape[1] - 1
    weights = region.astype(float)

    def chance(rates: Floats) -> Floats:
        first = binom.pmf(np.arange(n1 + 1), n1, rates[:, None])
        second = binom.pmf(np.arange(n0 + 1), n0, rates[:, None])
        return np.asarray(((first @ weights) * second).sum(axis=1))

    on_grid = chance(GRID)
    best, step = GRID[int(np.argmax(on_grid))], GRID[1] - GRID[0]
    around = minimize_scalar(
        lambda rate: -chance(np.array([rate]))[0],
        bounds=(max(0.0, best - step), min(1.0, best + step)),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return min(1.0, max(float(on_grid.max()), -float(around.fun)))


def conditional_odds_ratio(counts: Counts) -> OddsRatio | None:
    """Return the conditional odds ratio of failure, None where a margin is empty."""
    failed = counts.risky_fail + counts.safe_fail
    if counts.not_applicable or failed in (0, counts.n):
        return None
    risky = [counts.risky_fail, counts.risky_n - counts.risky_fail]
    safe = [counts.safe_fail, counts.safe_n - counts.safe_fail]
    result = odds_ratio(np.array([risky, safe]), kind="conditional")
    bounds = result.confidence_interval(confidence_level=LEVEL)
    interval = Interval(float(bounds.low), float(bounds.high), CONDITIONAL, counts.n)
    return OddsRatio(float(result.statistic), interval)


def _pooled_z(n1: int, n0: int) -> Floats:
    first, second = np.arange(n1 + 1)[:, None], np.arange(n0 + 1)[None, :]
    pooled = (first + second) / (n1 + n0)
    error = np.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n0))
    gap = first / n1 - second / n0
    return np.divide(gap, error, out=np.zeros_like(gap), where=error > 0)


def _one_sided(n1: int, n0: int) -> tuple[Floats, Floats]:
    first, second = np.arange(n1 + 1)[:, None], np.arange(n0 + 1)[None, :]
    failed = first + second
    more = hypergeom.sf(first - 1, n1 + n0, n1, failed)
    fewer = hypergeom.cdf(first, n1 + n0, n1, failed)
    return np.asarray(more), np.asarray(fewer)
