"""Kullback-Leibler decomposition: cross-entropy = KL(target, centre) + mean KL(centre, attempt).

The centre is the normalised geometric mean (Heskes 1998); probabilities are smoothed to (f+d)/(1+Cd) with C
classes. On single answers the scale is set by d, and incoherence with it. There is no unbiased estimator:
the jackknife over attempts takes away the first-order bias.
"""

from typing import Final

import numpy as np

from coherence.incoherence.parts import Estimator, Floats, Ints, Parts, divided, sums, with_enough
from coherence.incoherence.squares import Piece, Vectors, pieces
from coherence.incoherence.tallies import Tally

DELTA: Final = 1e-12


def classes_seen(counts: Tally) -> Ints:
    """Return the number of different answers to each item, its target among them."""
    given = np.bincount(counts.item, minlength=counts.items)
    return np.asarray(given + (counts.correct == 0))


def kl_answers(
    counts: Tally, classes: Ints, estimator: Estimator = "jackknife", delta: float = DELTA
) -> Parts:
    """Return the parts in nats for single answers out of `classes` possible ones an item."""
    n = counts.n.astype(float)
    ratio = np.log1p(delta) - np.log(delta)
    whole = np.log1p(classes * delta)
    error = whole - np.log(delta) - ratio * divided(counts.correct.astype(float), n)
    bias = _log_sum(counts, classes, ratio) - ratio * divided(counts.correct.astype(float), n)
    if estimator != "plug-in":
        bias = n * bias - (n - 1) * _mean_bias_without_one(counts, classes, ratio)
        return with_enough(Parts(counts.n, error, bias, error - bias, "jackknife"))
    return with_enough(Parts(counts.n, error, bias, error - bias, "plug-in"))


def kl_vectors(vectors: Vectors, estimator: Estimator = "jackknife", delta: float = DELTA) -> Parts:
    """Return the parts in nats for probability vectors; the target is a probability vector too."""
    items = len(vectors.width)
    n = np.bincount(vectors.item, minlength=items)
    error, variance = np.full(items, np.nan), np.full(items, np.nan)
    kind: Estimator = "plug-in" if estimator == "plug-in" else "jackknife"
    for part in pieces(vectors, n):
        error[part.items], variance[part.items] = _piece_parts(part, kind, delta)
    error = np.where(n > 0, error, np.nan)
    return with_enough(Parts(n, error, error - variance, variance, kind))


def log_partition(logs: Floats, owner: Ints, items: int) -> Floats:
    """Return log(sum(exp(logs))) of each item, -inf where it has none."""
    most = np.full(items, -np.inf)
    with np.errstate(invalid="ignore"):  # items of one attempt have no logs without it
        np.maximum.at(most, owner, logs)
    base = np.where(np.isfinite(most), most, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(base + np.log(sums(np.exp(logs - base[owner]), owner, items)))


def _log_sum(counts: Tally, classes: Ints, ratio: float) -> Floats:
    """Return log Z of each item, where an answer given with share p weighs exp(ratio * p)."""
    unseen = classes - np.bincount(counts.item, minlength=counts.items)
    top = ratio * divided(counts.top.astype(float), counts.n.astype(float))
    own = ratio * counts.count / counts.n[counts.item]
    total = sums(np.exp(own - top[counts.item]), counts.item, counts.items)
    return np.asarray(top + np.log(total + unseen * np.exp(-top)))


def _mean_bias_without_one(counts: Tally, classes: Ints, ratio: float) -> Floats:
    """Return the mean over attempts of the bias without that attempt; rows of equal answers are one case."""
    item, n = counts.item, counts.n.astype(float)
    rate = divided(np.full(counts.items, ratio), n - 1)
    unseen = classes - np.bincount(item, minlength=counts.items)
    logs = rate[item] * counts.count
    top = rate * counts.top
    weight = np.exp(logs - top[item])
    total = sums(weight, item, counts.items)
    # The leader's weight may dwarf the rest: the sum without it is taken of the rest, not by subtraction.
    leader = _leaders(counts)
    rest = sums(np.where(leader, 0.0, weight), item, counts.items)
    others = np.where(leader, rest[item], total[item] - weight) + (unseen * np.exp(-top))[item]
    shifted = rate[item] * (counts.count - 1) - top[item]
    log_sum = top[item] + np.log(others + np.exp(shifted))
    bias = log_sum - rate[item] * (counts.correct[item] - counts.right)
    return divided(sums(counts.count * bias, item, counts.items), n)


def _leaders(counts: Tally) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return for each row whether it is the first of its item's most frequent answers."""
    modal = np.flatnonzero(counts.modal)
    _, places = np.unique(counts.item[modal], return_index=True)
    leader = np.zeros(len(counts.item), np.bool_)
    leader[modal[places]] = True
    return leader


def _piece_parts(part: Piece, estimator: Estimator, delta: float) -> tuple[Floats, Floats]:
    items, n = len(part.n), part.n.astype(float)
    width = np.bincount(part.owner, minlength=items)
    of_cell = part.owner[part.place]
    logs = np.log(part.values + delta) - np.log1p(width * delta)[of_cell]
    mean = divided(sums(logs, part.place, len(part.owner)), n[part.owner])
    entropy = sums(part.target * np.log(np.where(part.target > 0, part.target, 1.0)), part.owner, items)
    error = entropy - sums(part.target * mean, part.owner, items)
    # mean KL(centre, attempt) = -log Z, for the centre's logs are the mean logs less log Z
    variance = -log_partition(mean, part.owner, items)
    if estimator == "jackknife":
        variance = n * variance + (n - 1) * _mean_log_without_one(part, logs, mean)
    return error, variance


def _mean_log_without_one(part: Piece, logs: Floats, mean: Floats) -> Floats:
    n = part.n.astype(float)[part.owner[part.place]]
    without = divided(n * mean[part.place] - logs, n - 1)
    partition = log_partition(without, part.attempt, len(part.item))
    return divided(sums(partition, part.item, len(part.n)), part.n.astype(float))
