"""Whether a value of the items rises with another, in one group and in several that share their tasks."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from scipy.stats import kendalltau, t

from coherence.incoherence.parts import Floats, Ints
from coherence.records import Record

KENDALL: Final = "Kendall's tau-b, two-sided"
POOLED_KENDALL: Final = "Kendall's tau-b of pairs within groups, jackknife-t over tasks, two-sided"
NOISE: Final = 1e-12  # what rounding leaves of a standard error of 0, or of a difference


class Trend(Record, frozen=True):
    """Rank correlation over `n` items; None where one side is constant or there are fewer than three."""

    n: int
    tau: float | None = None
    p: float | None = None


class Ranked(Record, frozen=True, eq=False):
    """Two values of each item of one group, and the number of the item's task; NaN where one is unknown."""

    task: Ints
    by: Floats
    of: Floats


def trend(by: Floats, of: Floats) -> Trend:
    """Return Kendall's tau-b of the items in which both values are known."""
    known = ~(np.isnan(by) | np.isnan(of))
    n, one, other = int(known.sum()), _ranks(by[known]), _ranks(of[known])
    if n < 3 or one.max() == 0 or other.max() == 0:
        return Trend(n)
    found = kendalltau(one, other)
    return Trend(n, float(found.statistic), float(found.pvalue))


def pooled_trend(groups: Sequence[Ranked]) -> Trend:
    """Return tau-b over the pairs of tasks within each group, all groups' pairs together; `n` counts tasks.

    Only tasks of one group are set against each other, so that differences between groups are no trend. The
    groups of a task are not independent: the standard error leaves out one task of all groups at a time (the
    jackknife of a U-statistic: Arvesen 1969). There is no p where it is 0.
    """
    known = [_known(group) for group in groups]
    tasks, place = np.unique(np.concatenate([group.task for group in known]), return_inverse=True)
    bounds = np.cumsum([0, *(len(group.task) for group in known)])
    # Of each task: concordant less discordant pairs, pairs untied in the one value, and in the other.
    own = np.zeros((3, len(tasks)))
    for group, start, end in zip(known, bounds[:-1], bounds[1:], strict=True):
        own[:, place[start:end]] += _pairs(group)
    n, all_pairs = len(tasks), own.sum(axis=1, keepdims=True) / 2
    if n < 3 or all_pairs[1:].min() == 0:
        return Trend(n)
    tau = float(_tau(all_pairs)[0])
    without = all_pairs - own
    if without[1:].min() <= 0:
        return Trend(n, tau)
    spread = _tau(without)
    error = float(np.sqrt((n - 1) / n * ((spread - spread.mean()) ** 2).sum()))
    return Trend(n, tau, float(2 * t.sf(abs(tau) / error, n - 1)) if error > NOISE else None)


def _known(group: Ranked) -> Ranked:
    both = ~(np.isnan(group.by) | np.isnan(group.of))
    return Ranked(group.task[both], group.by[both], group.of[both])


def _pairs(group: Ranked) -> Floats:
    """Return the three counts of each item with all others of its group."""
    by, of = _ranks(group.by), _ranks(group.of)
    alike = _both_below(by, of) + _both_below(-by, -of) - _both_below(by, -of) - _both_below(-by, of)
    untied = [len(each) - np.bincount(each)[each] for each in (by, of)]
    return np.stack([alike, *untied]).astype(float)


def _ranks(values: Floats) -> Ints:
    """Return ranks from 0, the same for values that are apart by no more than rounding may leave."""
    order = np.argsort(values, kind="stable")
    given = values[order]
    size = np.where(np.isinf(given), 0, np.abs(given))
    usual = float(np.median(size[size > 0])) if size.any() else 0.0
    least = NOISE * np.maximum(np.maximum(size[1:], size[:-1]), usual)
    found = np.zeros(len(values), np.int64)
    found[order[1:]] = np.cumsum(given[1:] > given[:-1] + least)
    return found


def _both_below(one: Ints, other: Ints) -> Ints:
    """Return of each item the number of items that are below it in both ranks, in n log² n steps."""
    order = np.lexsort((-other, one))
    # Of equal ones the higher other comes first, so that what comes before with a lower other is below.
    rank, place = other[order] - other.min(initial=0), np.arange(len(order))
    most, before = 2 * (int(rank.max(initial=0)) + 1), np.zeros(len(order), np.int64)
    width = 1
    while width < len(order):
        is_left = place // width % 2 == 0
        merged = np.argsort(place // (2 * width) * most + 2 * rank + is_left, kind="stable")
        lower = np.cumsum(is_left[merged]) - width * (merged // (2 * width))
        before[merged] += np.where(is_left[merged], 0, lower)
        width *= 2
    found = np.zeros(len(order), np.int64)
    found[order] = before
    return found


def _tau(pairs: Floats) -> Floats:
    return np.asarray(pairs[0] / np.sqrt(pairs[1] * pairs[2]))
