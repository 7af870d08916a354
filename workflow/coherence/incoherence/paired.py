"""Two groups on the same tasks: differences of error and of incoherence, tasks kept together.

Permutation: the groups' labels are swapped within tasks. The difference of incoherence is studentised, so
that the test stays right where the groups differ in error and not in incoherence.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import numpy as np

from coherence.incoherence.aggregates import around, influence
from coherence.incoherence.parts import Bools, Floats, Parts, incomparable
from coherence.records import Record
from coherence.stats.intervals import Interval

SIGN_FLIP: Final = "sign-flip permutation of tasks"
PAIRED_T: Final = "paired t over tasks"
PAIRED_DELTA: Final = "paired delta-t over tasks"
CELLS: Final = 2_000_000  # swaps drawn at once
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
    """Both differences over the tasks known in both groups, or the reason why there are none."""

    items: int
    error: Difference | None = None
    incoherence: Difference | None = None
    reason: str = ""


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
    se = float(gap.std(ddof=1)) / n**0.5
    difference = Difference(
        float(gap.mean()), around(float(gap.mean()), se, n, PAIRED_T), _p(error, exact), swaps - 1, exact
    )
    if not np.isfinite(ratios[0]):
        return Paired(n, difference, reason="a group is never wrong on the common tasks")
    return Paired(n, difference, _incoherence(first, second, _p(ratios, exact), (swaps - 1, exact)))


def _incoherence(first: Parts, second: Parts, p: float, swaps: tuple[int, bool]) -> Difference:
    one, other = (float(group.variance.sum() / group.error.sum()) for group in (first, second))
    spread = influence(first.variance, first.error) - influence(second.variance, second.error)
    n = len(spread)
    se = (float((spread**2).sum()) / (n * (n - 1))) ** 0.5
    return Difference(one - other, around(one - other, se, n, PAIRED_DELTA), p, *swaps)


def _p(statistics: Floats, exact: bool) -> float:
    """Return the share of swaps as far out as the observed statistic, which is the first."""
    observed = abs(statistics[0])
    # A swap without a ratio (nothing wrong in one group) counts as far out: the p is never too small by it.
    extreme = ~(np.abs(statistics[1:]) < observed * TIE)
    return float(extreme.mean()) if exact else float((1 + extreme.sum()) / len(statistics))


def _exact(n: int, settings: Permutations) -> bool:
    return n < 60 and 2**n <= settings.number


def _permuted(table: Floats, settings: Permutations) -> tuple[Floats, Floats]:
    """Return both statistics as observed, then under each swap."""
    products = np.einsum("ij,ik->ijk", table, table).reshape(-1, 16)
    plain = np.hstack([table, products])
    swapped = table[:, [2, 3, 0, 1]]
    other = np.hstack([swapped, np.einsum("ij,ik->ijk", swapped, swapped).reshape(-1, 16)])
    base, change = plain.sum(axis=0), other - plain
    totals = [base[None, :], *(base + swap @ change for swap in _swaps(len(table), settings))]
    found = [_statistics(total, len(table)) for total in totals]
    return np.concatenate([error for error, _ in found]), np.concatenate([ratio for _, ratio in found])


def _statistics(totals: Floats, n: int) -> tuple[Floats, Floats]:
    """Return the difference of errors and the studentised one of incoherence, from sums over tasks."""
    v1, e1, v2, e2 = totals[:, :4].T
    second = totals[:, 4:].reshape(-1, 4, 4)
    with np.errstate(divide="ignore", invalid="ignore"):
        i1, i2 = v1 / e1, v2 / e2
        weights = np.stack([1 / e1, -i1 / e1, -1 / e2, i2 / e2], axis=1) * n
        variance = np.maximum(np.einsum("ri,rij,rj->r", weights, second, weights), 0) / (n * (n - 1))
        gap = i1 - i2
        ratio = np.where(gap == 0, 0.0, gap / np.sqrt(variance))
    return (e1 - e2) / n, np.where(np.isnan(gap), np.nan, _without_noise(ratio, gap))


def _without_noise(ratio: Floats, gap: Floats) -> Floats:
    """Return the statistic with 0 for a gap that is rounding noise, finite for one without any spread."""
    bounded = np.nan_to_num(ratio, nan=0.0, posinf=1e12, neginf=-1e12)
    return np.where(np.abs(gap) < 1e-12, 0.0, bounded)


def _swaps(n: int, settings: Permutations) -> Iterator[Floats]:
    if _exact(n, settings):
        yield ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(float)
        return
    rows = max(1, CELLS // n)
    if settings.number <= rows:
        yield _drawn(n, settings).astype(float)
        return
    random = np.random.default_rng(settings.seed)
    for start in range(0, settings.number, rows):
        yield random.integers(2, size=(min(rows, settings.number - start), n)).astype(float)


@lru_cache(maxsize=8)
def _drawn(n: int, settings: Permutations) -> Bools:
    return np.random.default_rng(settings.seed).integers(2, size=(settings.number, n)).astype(np.bool_)
