"""The percentile bootstrap of a share without chance: what endless resampling gives, and how it covers."""

from collections.abc import Callable
from typing import Final

import numpy as np
from scipy.stats import binom

from coherence.stats.intervals import LEVEL, Interval

ENDLESS: Final = "percentile bootstrap with endless resamples"
Bounds = Callable[[int, int], Interval | None]


def endless_bootstrap(count: int, n: int) -> Interval | None:
    """Return the limit of the bootstrap interval of count/n: quantiles of a binomial; None where n is 0."""
    if n == 0:
        return None
    low, high = (float(binom.ppf(tail, n, count / n)) for tail in ((1 - LEVEL) / 2, 0.5 + LEVEL / 2))
    return Interval(low / n, high / n, ENDLESS, n)


def chance_of_bounds(low: int, high: int, share: tuple[int, int], resamples: int) -> float:
    """Return the chance that a bootstrap of `share` (count, n) ends at low/n and high/n.

    By the order statistics next to the quantiles that numpy interpolates, taken as independent.
    """
    count, n = share
    tail = (1 - LEVEL) / 2
    lower = int(np.ceil(tail * (resamples - 1))) + 1
    upper = int(np.floor((1 - tail) * (resamples - 1))) + 1

    def at_most(place: int, bound: int) -> float:
        return float(binom.sf(place - 1, resamples, binom.cdf(bound, n, count / n)))

    return (at_most(lower, low) - at_most(lower, low - 1)) * (at_most(upper, high) - at_most(upper, high - 1))


def coverage(n: int, rate: float, bounds: Bounds) -> float:
    """Return how often the interval of a share of n holds its true rate, over all counts."""
    held = [
        float(binom.pmf(count, n, rate))
        for count in range(n + 1)
        if (interval := bounds(count, n)) is not None and interval.low <= rate <= interval.high
    ]
    return sum(held)
