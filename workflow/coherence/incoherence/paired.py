"""Two groups on the same tasks: differences of error and of incoherence, tasks kept together.

Permutation: the groups' labels are swapped within tasks. The difference of incoherence is studentised, so
that the test stays right where the groups differ in error and not in incoherence.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import numpy as np

from coherence.incoherence.aggregates import ALIKE, LEAST, TOO_FEW_TASKS, around, influence, untold
from coherence.incoherence.parts import Floats, Parts, incomparable
from coherence.records import Record
from coherence.stats.intervals import Interval

SIGN_FLIP: Final = "sign-flip permutation of tasks"
PAIRED_T: Final = "paired t"
PAIRED_DELTA: Final = "paired delta-t"
CELLS: Final = 2_000_000  # swaps drawn at once
WIDTH: Final = 64  # tasks that draws are made for at least, so that groups of like size share them
NOISE: Final = 1e-12  # of a sum: what rounding leaves of nothing
TIE: Final = 1 - 1e-9  # statistics this near the observed one are equal to it


class Permutations(Record, frozen=True):
    """How many swaps to draw, and the seed; all of them are gone through where there are no more."""

    number: int = 2000
    seed: int = 0


class Difference(Record, frozen=True):
    """First less second group; `p` two-sided over `swaps`, exact where every swap was gone through."""

    value: float
    interval: Interval | None
    p: float
    swaps: int
    exact: bool


class Paired(Record, frozen=True):
    """Both differences over the tasks known in both groups, or the reason why there are none.

    `untold` says why one of them has no interval; its p, by permutation, stands.
    """

    items: int
    error: Difference | None = None
    incoherence: Difference | None = None
    reason: str = ""
    untold: str = ""


def paired(first: Parts, second: Parts, settings: Permutations) -> Paired:
    """Compare two groups whose parts are of the same items in the same order."""
    both = first.known & second.known
    first, second = first.take(both), second.take(both)
    n = len(first.n)
    if n < 2:
        return Paired(n, reason="fewer than two common tasks")
    reason = incomparable(first, second)
    if reason:
        return Paired(n, reason=reason)
    table = np.column_stack([first.variance, first.error, second.variance, second.error])
    error, ratios = _permuted(table, settings)
    exact, swaps = _exact(n, settings), len(error)
    gap = first.error - second.error
    se, mean = float(gap.std(ddof=1)) / n**0.5, float(gap.mean())
    why = untold(gap, np.ones(n))
    interval = None if why else around(mean, se, n, PAIRED_T)
    difference = Difference(mean, interval, _p(error, exact), swaps - 1, exact)
    if not np.isfinite(ratios[0]):
        return Paired(n, difference, reason="a group is never wrong on the common tasks", untold=why)
    ratio, also = _incoherence(first, second, _p(ratios, exact), (swaps - 1, exact))
    return Paired(n, difference, ratio, untold=why or also)


def _incoherence(first: Parts, second: Parts, p: float, swaps: tuple[int, bool]) -> tuple[Difference, str]:
    one, other = (float(group.variance.sum() / group.error.sum()) for group in (first, second))
    spread = influence(first.variance, first.error) - influence(second.variance, second.error)
    n = len(spread)
    se = (float((spread**2).sum()) / (n * (n - 1))) ** 0.5
    fewest = min(int((group.error > 0).sum()) for group in (first, second))
    why = TOO_FEW_TASKS if fewest < LEAST else ALIKE if se <= NOISE else ""
    interval = None if why else around(one - other, se, n, PAIRED_DELTA)
    return Difference(one - other, interval, p, *swaps), why


def _p(statistics: Floats, exact: bool) -> float:
    """Return the share of swaps as far out as the observed statistic, which is the first."""
    observed = abs(statistics[0])
    # A swap without a ratio (nothing wrong in one group) counts as far out: the p is never too small by it.
    extreme = ~(np.abs(statistics[1:]) < observed * TIE)
    return float(extreme.mean()) if exact else float((1 + extreme.sum()) / len(statistics))


def _exact(n: int, settings: Permutations) -> bool:
    return n < 60 and 2**n <= settings.number


def _permuted(table: Floats, settings: Permutations) -> tuple[Floats, Floats]:
    """Return both statistics as observed, then under each swap, from sums of the first side over tasks.

    `table` has the columns variance, error of the first group, then of the second. What a swap takes from one
    side it gives to the other, so that six sums tell all.
    """
    v1, e1, v2, e2 = table.T
    here = np.column_stack([v1, e1, v1 * v1, e1 * e1, v1 * e1, v1 * e2])
    there = np.column_stack([v2, e2, v2 * v2, e2 * e2, v2 * e2, v2 * e1])
    change = there - here
    moved = np.concatenate([np.zeros((1, 6)), *(swap @ change for swap in _swaps(len(table), settings))])
    first, second = here.sum(axis=0) + moved, there.sum(axis=0) - moved
    crossed = float((v1 * v2).sum()), float((e1 * e2).sum())
    gap = (first[:, 1] - second[:, 1]) / len(table)
    # A swap that leaves one side without error leaves rounding noise there; as observed, sums are exact.
    nothing = NOISE * (first[0, 1] + second[0, 1])
    for side in (first, second):
        side[1:, 1][side[1:, 1] <= nothing] = np.nan
    return _without_noise(gap, gap), _studentised(first, second, crossed, len(table))


def _studentised(first: Floats, second: Floats, crossed: tuple[float, float], n: int) -> Floats:
    """Return the difference of incoherence over its delta-method standard error, NaN without a ratio."""
    (v1, e1, vv1, ee1, ve1, v1e2), (v2, e2, vv2, ee2, ve2, v2e1) = first.T, second.T
    vv, ee = crossed
    with np.errstate(divide="ignore", invalid="ignore"):
        i1, i2 = v1 / e1, v2 / e2
        own = (vv1 - 2 * i1 * ve1 + i1**2 * ee1) / e1**2 + (vv2 - 2 * i2 * ve2 + i2**2 * ee2) / e2**2
        both = (vv - i2 * v1e2 - i1 * v2e1 + i1 * i2 * ee) / (e1 * e2)
        terms = (vv1 + i1**2 * ee1) / e1**2 + (vv2 + i2**2 * ee2) / e2**2
        square = own - 2 * both
        se = np.sqrt(np.where(square > NOISE * terms, square, 0) * n / (n - 1))
        gap = i1 - i2
        return np.where(np.isnan(gap), np.nan, _without_noise(gap / se, gap))


def _without_noise(ratio: Floats, gap: Floats) -> Floats:
    """Return the statistic with 0 for a gap that is rounding noise, finite for one without any spread."""
    bounded = np.nan_to_num(ratio, nan=0.0, posinf=1e12, neginf=-1e12)
    return np.where(np.abs(gap) < 1e-12, 0.0, bounded)


def _swaps(n: int, settings: Permutations) -> Iterator[Floats]:
    if _exact(n, settings):
        yield ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(float)
    elif settings.number * n <= CELLS:
        yield _drawn(-(-n // WIDTH) * WIDTH, settings)[:, :n]
    else:
        random = np.random.default_rng(settings.seed)
        rows = max(1, CELLS // n)
        for start in range(0, settings.number, rows):
            yield random.integers(2, size=(min(rows, settings.number - start), n)).astype(float)


@lru_cache(maxsize=2)
def _drawn(n: int, settings: Permutations) -> Floats:
    return np.random.default_rng(settings.seed).integers(2, size=(settings.number, n)).astype(float)
