"""Medians with an interval that assumes nothing but independence."""

from collections.abc import Sequence
from statistics import fmean, median
from typing import Final

from scipy.stats import binom

from coherence.records import Record
from coherence.stats.intervals import LEVEL, Interval

METHOD: Final = "order statistics"


class Summary(Record, frozen=True):
    """Mean and median of `n` values; `ranks` (from 1) are the order statistics that bound the median.

    The interval's level is the one reached, at least `LEVEL`; below six values there is none.
    """

    n: int
    mean: float | None = None
    median: float | None = None
    interval: Interval | None = None
    ranks: tuple[int, int] | None = None


def median_ranks(n: int) -> tuple[int, int, float] | None:
    """Return the narrowest symmetric ranks that cover a median at `LEVEL`, and the level they reach."""
    low = int(binom.ppf((1 - LEVEL) / 2, n, 0.5))
    if low < 1:
        return None
    return low, n + 1 - low, float(1 - 2 * binom.cdf(low - 1, n, 0.5))


def summarise(values: Sequence[float]) -> Summary:
    """Return mean, median and the order-statistic interval of the median."""
    if not values:
        return Summary(0)
    ordered = sorted(values)
    mean, middle = fmean(ordered), float(median(ordered))
    bounds = median_ranks(len(ordered))
    if bounds is None:
        return Summary(len(ordered), mean, middle)
    low, high, level = bounds
    interval = Interval(float(ordered[low - 1]), float(ordered[high - 1]), METHOD, len(ordered), level)
    return Summary(len(ordered), mean, middle, interval, (low, high))
