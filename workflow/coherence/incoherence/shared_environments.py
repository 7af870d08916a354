"""Two groups in the same environments: the parts of each one's error, and what their scatter has in common.

An environment (the initial state, the seed of a simulated user, the test data of one attempt) weighs the same
on both sides however often each was tried in it: what it does to both then cancels from their difference.
Weighing attempts, as `squares.nested` does, it would not; where all environments have equally many attempts
the two agree. Independent of each other are attempts in different environments and different contexts only.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from coherence.incoherence.aggregates import jackknife_t, ratio_of_sums
from coherence.incoherence.parts import Floats, Ints, Parts, divided, sums
from coherence.records import Record
from coherence.stats.intervals import Interval

NOISE: Final = 1e-12  # of the terms of a sum: what rounding leaves of nothing
TOO_FEW: Final = "no task with two common environments"
NO_SCATTER: Final = "no scatter over environments"


class Environments(Record, frozen=True, eq=False):
    """The environments two groups have in common, sorted by `task`, each of which has some.

    `seed` and `context` number those within tasks; `context` is None where environments have none.
    """

    task: Ints
    seed: Ints
    context: Ints | None = None

    @property
    def tasks(self) -> int:
        """The number of tasks."""
        return int(self.task.max(initial=-1)) + 1


class Entries(Record, frozen=True, eq=False):
    """Vectors given by what is not 0 in them: `value` at `place` of the vector `owner`."""

    owner: Ints
    place: Ints
    value: Floats


class Side(Record, frozen=True, eq=False):
    """One group's attempts in common environments: `environment` of each, at least one attempt in every one.

    `loss` is the squared distance of an attempt's vector to the target; `vectors` of both groups have the
    same places. All squares are times `scale`. `context` numbers contexts within tasks, None without any.
    """

    environment: Ints
    loss: Floats
    vectors: Entries
    context: Ints | None = None
    scale: float = 1.0


class Shared(Record, frozen=True):
    """The covariance over environments of two groups' outcomes, a mean over `items` tasks.

    It is the variance that both have because the environment is the same: `first` and `second` are its shares
    of the variance of each, ratios of sums over tasks; unbiased, so that shares lie outside 0 to 1 by chance.
    """

    items: int = 0
    covariance: float | None = None
    first: float | None = None
    first_interval: Interval | None = None
    second: float | None = None
    second_interval: Interval | None = None
    reason: str = ""


def parts_in(side: Side, common: Environments) -> Parts:
    """Return the unbiased parts of each task: means over environments, scatter between different ones.

    NaN where a task has no two attempts that differ in environment and context.
    """
    task, seed = common.task[side.environment], common.seed[side.environment]
    weight = _weights(side)
    error = side.scale * sums(weight * side.loss, task, common.tasks) / np.bincount(common.task)
    square = sums(side.vectors.value**2, side.vectors.owner, len(task))
    own = _moved(side.vectors, weight)
    clusters = _clusters(task, seed, side.context)
    variance = side.scale * _over_pairs(clusters, weight, square, (own, own))
    error = np.where(np.isnan(variance), np.nan, error)
    return Parts(np.bincount(task), error, error - variance, variance, "unbiased")


def covariance_in(first: Side, second: Side, common: Environments) -> Floats:
    """Return the unbiased covariance of both groups' outcomes over the environments of each task."""
    one, other = (_moved(side.vectors, _weights(side), side.environment) for side in (first, second))
    each = np.arange(len(common.task))
    product = _products(one, other, each)
    clusters = _clusters(common.task, common.seed, common.context)
    return first.scale * _over_pairs(clusters, np.ones(len(each)), product, (one, other))


def shared(covariance: Floats, first: Parts, second: Parts) -> Shared:
    """Return what the scatter of two groups has in common, over the tasks known in both."""
    known = first.known & second.known & ~np.isnan(covariance)
    if not known.any():
        return Shared(reason=TOO_FEW)
    both, one, other = covariance[known], first.variance[known], second.variance[known]
    shares = [ratio_of_sums(both, variance) for variance in (one, other)]
    return Shared(
        items=int(known.sum()),
        covariance=float(both.mean()),
        first=shares[0],
        first_interval=jackknife_t(both, one),
        second=shares[1],
        second_interval=jackknife_t(both, other),
        reason=NO_SCATTER if None in shares else "",
    )


Clusters = Sequence[tuple[int, Ints]]


def _clusters(task: Ints, seed: Ints, context: Ints | None) -> Clusters:
    """Return the pairs to add and to take away so that those remain that differ in seed and in context."""
    clusters = [(1, task), (-1, _within(task, seed))]
    if context is None:
        return clusters
    both = _within(clusters[1][1], context)
    return [*clusters, (-1, _within(task, context)), (1, both)]


def _within(outer: Ints, inner: Ints) -> Ints:
    keys = outer * (int(inner.max(initial=0)) + 1) + inner
    return np.asarray(np.unique(keys, return_inverse=True)[1], dtype=np.int64)


def _over_pairs(
    clusters: Clusters, weight: Floats, product: Floats, sides: tuple[Entries, Entries]
) -> Floats:
    """Return half the mean product of differences, over pairs of vectors of one task that differ.

    `product` is that of each vector with its partner; the entries of the `sides` are weighted already.
    """
    task = clusters[0][1]
    tasks = int(task.max(initial=-1)) + 1
    total, terms, pairs, every = np.zeros((4, tasks))
    for sign, cluster in clusters:
        number = int(cluster.max(initial=-1)) + 1
        owner = np.zeros(number, np.int64)
        owner[cluster] = task
        heavy, own = sums(weight, cluster, number), sums(weight * product, cluster, number)
        crossed = _products(*sides, cluster)
        total += sign * sums(heavy * own - crossed, owner, tasks)
        terms += sums(np.abs(heavy * own) + np.abs(crossed), owner, tasks)
        pairs += sign * sums(heavy**2, owner, tasks)
        every += sums(heavy**2, owner, tasks)
    total = np.where(np.abs(total) > NOISE * terms, total, 0)
    return divided(total, np.where(pairs > NOISE * every, pairs, 0))


def _products(one: Entries, other: Entries, cluster: Ints) -> Floats:
    """Return the product of the sums of both sides' vectors in each cluster."""
    places = 1 + max(int(side.place.max(initial=0)) for side in (one, other))
    keys = [cluster[side.owner] * places + side.place for side in (one, other)]
    found, inverse = np.unique(np.concatenate(keys), return_inverse=True)
    here, there = inverse[: len(keys[0])], inverse[len(keys[0]) :]
    summed = [
        np.bincount(where, weights=side.value, minlength=len(found))
        for where, side in ((here, one), (there, other))
    ]
    return sums(summed[0] * summed[1], found // places, int(cluster.max(initial=-1)) + 1)


def _weights(side: Side) -> Floats:
    return 1 / np.bincount(side.environment)[side.environment]


def _moved(vectors: Entries, weight: Floats, owner: Ints | None = None) -> Entries:
    """Return the vectors times their weights, as parts of others where an `owner` is given."""
    whose = vectors.owner if owner is None else owner[vectors.owner]
    return Entries(whose, vectors.place, vectors.value * weight[vectors.owner])
