"""Agreement among several ratings of the same items, corrected for chance or not.

Everywhere `counts` has a row an item and a column a category: how many ratings put the item there. Items may
have different numbers of ratings; those with fewer than two say nothing of agreement and are not to be given.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from coherence.records import Record
from coherence.stats.intervals import Bootstrap, Interval
from coherence.stats.proportions import percentiles

ITEM_BOOTSTRAP: Final = "percentile bootstrap of items"
Ratings = NDArray[np.int64]


class Estimate(Record, frozen=True):
    """A statistic with its interval; None with a reason where it is not defined."""

    value: float | None = None
    interval: Interval | None = None
    reason: str | None = None


def agreeing_pairs(counts: Ratings) -> float:
    """Return the mean over items of the share of pairs of ratings that agree."""
    n = counts.sum(axis=1)
    return float(np.mean((counts * (counts - 1)).sum(axis=1) / (n * (n - 1))))


def flip_rate(counts: Ratings) -> float:
    """Return how often two ratings of one item, drawn at random, differ."""
    return 1.0 - agreeing_pairs(counts)


def gwet_ac1(counts: Ratings) -> float:
    """Return Gwet's AC1 (Gwet 2008), which bears rare categories as kappa does not."""
    shares = np.mean(counts / counts.sum(axis=1, keepdims=True), axis=0)
    by_chance = float((shares * (1 - shares)).sum()) / (counts.shape[1] - 1)
    return float((agreeing_pairs(counts) - by_chance) / (1 - by_chance))


def krippendorff_alpha(counts: Ratings) -> Estimate:
    """Return Krippendorff's nominal alpha (Krippendorff 2011); not defined where all ratings say the same."""
    counts = counts[counts.sum(axis=1) >= 2]
    ratings, categories = counts.sum(axis=1, keepdims=True), counts.sum(axis=0)
    if np.count_nonzero(categories) < 2:
        return Estimate(reason="all ratings say the same")
    total = int(categories.sum())
    observed = 1 - float((counts * (counts - 1) / (ratings - 1)).sum()) / total
    expected = 1 - float((categories * (categories - 1)).sum()) / (total * (total - 1))
    return Estimate(1 - observed / expected)


def estimate(counts: Ratings, statistic: Callable[[Ratings], float], settings: Bootstrap) -> Estimate:
    """Return a statistic with its interval from resampling items with replacement, None without items."""
    n = len(counts)
    if n == 0:
        return Estimate(reason="no item has two ratings")
    generator = np.random.default_rng([settings.seed, n, *counts.sum(axis=0).tolist()])
    draws = [statistic(counts[generator.integers(0, n, n)]) for _ in range(settings.resamples)]
    low, high = percentiles(np.array(draws))
    interval = Interval(low, high, ITEM_BOOTSTRAP, n, resamples=settings.resamples, seed=settings.seed)
    return Estimate(statistic(counts), interval)
