"""Shares of a group and the intervals around them."""

from collections.abc import Callable
from functools import cache
from typing import Final

import numpy as np
from scipy.stats import binomtest

from coherence.records import Record
from coherence.stats.intervals import LEVEL, Bootstrap, Interval

WILSON: Final = "Wilson score"
CLOPPER_PEARSON: Final = "Clopper-Pearson"
BOOTSTRAP: Final = "percentile bootstrap"


class Proportion(Record, frozen=True):
    """`count` of `n`, its interval and the Clopper-Pearson one beside it; None throughout where n is 0."""

    count: int
    n: int
    value: float | None = None
    interval: Interval | None = None
    exact: Interval | None = None


@cache
def wilson(count: int, n: int) -> Interval | None:
    """Return the Wilson score interval of count/n, None where n is 0."""
    if n == 0:
        return None
    bounds = binomtest(count, n).proportion_ci(LEVEL, method="wilson")
    return Interval(float(bounds.low), float(bounds.high), WILSON, n)


@cache
def clopper_pearson(count: int, n: int) -> Interval | None:
    """Return the exact interval of count/n, None where n is 0."""
    if n == 0:
        return None
    bounds = binomtest(count, n).proportion_ci(LEVEL, method="exact")
    return Interval(float(bounds.low), float(bounds.high), CLOPPER_PEARSON, n)


def bootstrap(count: int, n: int, settings: Bootstrap) -> Interval | None:
    """Return the percentile bootstrap interval of count/n, None where n is 0.

    Resampling n rows with replacement and counting is one binomial draw. The generator is seeded with the
    counts too, so that the same counts have the same interval wherever they appear.
    """
    if n == 0:
        return None
    generator = np.random.default_rng([settings.seed, count, n])
    low, high = percentiles(generator.binomial(n, count / n, settings.resamples) / n)
    return Interval(low, high, BOOTSTRAP, n, resamples=settings.resamples, seed=settings.seed)


def percentiles(draws: np.typing.NDArray[np.float64]) -> tuple[float, float]:
    """Return the outer bounds at `LEVEL` of the draws, each a value that was drawn."""
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], method="inverted_cdf")
    return float(low), float(high)


def proportion(count: int, n: int, interval: Callable[[int, int], Interval | None] = wilson) -> Proportion:
    """Return count/n with an interval (Wilson unless told) and the Clopper-Pearson interval beside it."""
    value = count / n if n else None
    return Proportion(count, n, value, interval(count, n), clopper_pearson(count, n))
