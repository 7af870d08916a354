"""Whether a value of the items rises with another, in one group and in several that share their tasks."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from scipy.stats import kendalltau, t

from coherence.incoherence.parts import Floats, Ints
from coherence.records import Record

KENDALL: Final = "Kendall's tau-b, two-sided"
POOLED_KENDALL: Final = "Kendall's tau-b of pairs within groups, jackknife-t over tasks, two-sided"
CELLS: Final = 2_000_000  # pairs of tasks worked on at once, which bounds the memory
NOISE: Final = 1e-12  # what rounding leaves of a standard error of 0


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
    n = int(known.sum())
    if n < 3 or min(len(np.unique(side[known])) for side in (by, of)) < 2:
        return Trend(n)
    found = kendalltau(by[known], of[known])
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
        own[:, place[start:end]] += np.concatenate([np.zeros((3, 0)), *_pairs(group)], axis=1)
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


def _pairs(group: Ranked) -> Iterator[Floats]:
    """Yield the three counts of each item with all others of its group, in pieces."""
    rows = max(1, CELLS // max(1, len(group.task)))
    for start in range(0, len(group.task), rows):
        one, other = (
            np.sign(side[start : start + rows, None] - side[None, :]) for side in (group.by, group.of)
        )
        yield np.stack([(one * other).sum(axis=1), (one != 0).sum(axis=1), (other != 0).sum(axis=1)])


def _tau(pairs: Floats) -> Floats:
    return np.asarray(pairs[0] / np.sqrt(pairs[1] * pairs[2]))
