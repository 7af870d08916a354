"""What items and attempts are divided by: buckets, each task's own median, difficulty for the others."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata

from coherence.incoherence.parts import Floats, Ints, divided

LEFT_OUT = -1
BELOW = 0
AT_OR_ABOVE = 1


def equal_buckets(values: Floats, buckets: int) -> Ints:
    """Return the bucket, from 0, of each item: equal numbers by rising value, equal values always together.

    -1 where the value is NaN.
    """
    known = ~np.isnan(values)
    found = np.full(len(values), LEFT_OUT)
    ranks = rankdata(values[known]) - 0.5
    found[known] = np.minimum((ranks * buckets / max(1, len(ranks))).astype(np.int64), buckets - 1)
    return found


def medians(item: Ints, value: Floats, items: int) -> Floats:
    """Return the median of the known values of each item, NaN where there is none."""
    known = ~np.isnan(value)
    order = np.lexsort((value[known], item[known]))
    ordered = np.append(value[known][order], np.nan)
    n = np.bincount(item[known], minlength=items)
    start = np.cumsum(n) - n
    lower, upper = (np.where(n > 0, start + half, len(ordered) - 1) for half in ((n - 1) // 2, n // 2))
    return np.asarray((ordered[lower] + ordered[upper]) / 2)


def halves(item: Ints, value: Floats, items: int) -> Ints:
    """Return for each attempt whether it is below (0) or at or above (1) its item's own median, -1 unknown.

    Ties go to the upper half, which is the larger one: only unbiased estimates compare the two.
    """
    upper = (value >= medians(item, value, items)[item]).astype(np.int64)
    return np.where(np.isnan(value), LEFT_OUT, upper)


def equal_halves(item: Ints, value: Floats, items: int) -> Ints:
    """Return halves with equally many attempts of each item: the larger gives up those near the median.

    For estimators that depend on the number of attempts. Of attempts of equal value the later ones are kept.
    """
    half = halves(item, value, items)
    size = np.stack([np.bincount(item[half == side], minlength=items) for side in (BELOW, AT_OR_ABOVE)])
    kept = size.min(axis=0)
    order = np.lexsort((np.where(half == BELOW, -value, value), half, item))
    runs = item[order] * 3 + half[order]
    starts = np.flatnonzero(np.append(True, runs[1:] != runs[:-1]))
    lengths = np.diff(np.append(starts, len(runs)))
    from_end = np.repeat(starts + lengths, lengths) - np.arange(len(runs))
    keep = np.empty(len(item), np.bool_)
    keep[order] = from_end <= kept[item[order]]
    return np.where(keep, half, LEFT_OUT)


def difficulty_for_others(tasks: Sequence[Ints], error: Sequence[Floats]) -> list[Floats]:
    """Return for each group and each of its tasks the mean failure rate of the other groups.

    `tasks` numbers the tasks of each group, `error` is its failure rate at each, NaN where unknown; each
    other group counts once, whatever its number of attempts. NaN where no other group tried.
    """
    size = 1 + max((int(each.max(initial=-1)) for each in tasks), default=-1)
    total, tried = np.zeros(size), np.zeros(size)
    for each, rate in zip(tasks, error, strict=True):
        known = ~np.isnan(rate)
        total += np.bincount(each[known], rate[known], minlength=size)
        tried += np.bincount(each[known], minlength=size)
    found = []
    for each, rate in zip(tasks, error, strict=True):
        own = np.where(np.isnan(rate), 0.0, rate)
        others = tried[each] - ~np.isnan(rate)
        found.append(divided(total[each] - own, others))
    return found
