"""What several votes do to error and variance: exact expectations over all subsets, nothing simulated.

Majority for answers (ties broken at random), the arithmetic mean for squared error, the geometric mean for
cross-entropy: arithmetic averaging moves the bias of KL, geometric averaging keeps it.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from math import comb, prod
from typing import Final

import numpy as np

from coherence.incoherence.divergence import DELTA, kl_vectors
from coherence.incoherence.parts import Floats, Ints, Parts
from coherence.incoherence.squares import Vectors
from coherence.incoherence.tallies import Tally
from coherence.records import Record

MOST_SPLITS: Final = 5000  # ways to fill one ensemble, or to choose one, beyond which none is computed
Counts = tuple[int, ...]


class Ensemble(Record, frozen=True, eq=False):
    """Each item's error and variance of a vote of `votes` attempts; bias is what is left.

    Error needs `votes` attempts, variance two ensembles without a common attempt; else NaN. Where the ways
    are more than `MOST_SPLITS`, NaN too.
    """

    votes: int
    error: Floats
    variance: Floats


def majority(counts: Tally, votes: int) -> Ensemble:
    """Return error and Kohavi-Wolpert variance of the most frequent of `votes` answers, without bias."""
    patterns, place = _patterns(counts)
    found = np.array([_vote(tuple(map(int, pattern)), votes) for pattern in patterns]).reshape(-1, 2)
    return Ensemble(votes, found[place, 0], found[place, 1])


def averaged(parts: Parts, votes: int) -> Ensemble:
    """Return error and variance of the arithmetic mean of `votes` attempts, from unbiased squared parts."""
    if parts.estimator != "unbiased":
        raise ValueError("the mean of several attempts needs unbiased parts")
    variance = np.where(parts.n >= votes, parts.variance / votes, np.nan)
    return Ensemble(votes, parts.bias + variance, variance)


def geometric(logs: Floats, target: Floats, votes: int) -> float | None:
    """Return the expected KL(target, geometric mean of `votes` attempts) of one item, None beyond the limit.

    `logs` has a row an attempt: the logarithms of its smoothed probabilities.
    """
    n = len(logs)
    if votes > n or comb(n, votes) > MOST_SPLITS:
        return None
    means = _subsets(n, votes) @ logs
    partition = np.logaddexp.reduce(means, axis=1)
    known = target > 0
    entropy = float((target[known] * np.log(target[known])).sum())
    return entropy - float(target @ logs.mean(axis=0)) + float(partition.mean())


@lru_cache(maxsize=64)
def _subsets(n: int, votes: int) -> Floats:
    """Return the weights of a mean over each choice of `votes` of n attempts, a row a choice."""
    chosen = np.zeros((comb(n, votes), n))
    for row, members in enumerate(combinations(range(n), votes)):
        chosen[row, list(members)] = 1 / votes
    return chosen


def geometric_means(vectors: Vectors, votes: int, delta: float = DELTA) -> Ensemble:
    """Return error (KL, nats) and variance of the geometric mean of `votes` attempts, by item.

    Bias is that of single attempts, which geometric averaging keeps: estimated by the jackknife.
    """
    items = len(vectors.width)
    n = np.bincount(vectors.item, minlength=items)
    bias = kl_vectors(vectors, "jackknife", delta).bias
    error = np.full(items, np.nan)
    cells = np.concatenate([[0], np.cumsum(n * vectors.width)])
    places = np.concatenate([[0], np.cumsum(vectors.width)])
    for item in np.flatnonzero(n >= votes):
        table = vectors.values[cells[item] : cells[item + 1]].reshape(n[item], -1).astype(float)
        logs = np.log(table + delta) - np.log1p(vectors.width[item] * delta)
        found = geometric(logs, vectors.target[places[item] : places[item + 1]], votes)
        error[item] = np.nan if found is None else found
    return Ensemble(votes, error, error - bias)


def _patterns(counts: Tally) -> tuple[Ints, Ints]:
    """Return the different (times right, other counts falling) and which of them each item has."""
    order = np.lexsort((-counts.count, ~counts.right, counts.item))
    item = counts.item[order]
    n = np.bincount(item, minlength=counts.items)
    rank = np.arange(len(item)) - (np.cumsum(n) - n)[item]
    # Place 0 is the target's, also where nobody gave it.
    rank = rank + (counts.correct == 0)[item]
    table = np.zeros((counts.items, int(rank.max(initial=0)) + 1), np.int64)
    table[item, rank] = counts.count[order]
    patterns, place = np.unique(table, axis=0, return_inverse=True)
    return patterns, place.reshape(-1)


def _vote(pattern: Counts, votes: int) -> tuple[float, float]:
    right, *rest = pattern
    others = tuple(sorted((count for count in rest if count), reverse=True))
    if right + sum(others) < votes:
        return np.nan, np.nan
    error = 1 - (chance_to_win(right, others, votes) if right else 0.0)
    return error, disagreement(tuple(sorted((c for c in pattern if c), reverse=True)), votes) / 2


@lru_cache(maxsize=200_000)
def chance_to_win(own: int, others: Counts, votes: int) -> float:
    """Return the chance that an answer given `own` times wins a vote of `votes` attempts drawn from all."""
    total = own + sum(others)
    ways = 0.0
    for mine in range(1, min(own, votes) + 1):
        ways += comb(own, mine) * _ways_below(others, votes - mine, mine)
    return ways / comb(total, votes)


def _ways_below(others: Counts, left: int, most: int) -> float:
    """Return the ways to draw `left` votes, none of the others above `most`; k at `most` count 1/(k+1)."""
    table = np.zeros((left + 1, len(others) + 1))
    table[0, 0] = 1
    for count in others:
        fresh = np.zeros_like(table)
        for votes in range(min(count, most, left) + 1):
            moved = comb(count, votes) * table[: left + 1 - votes]
            if votes == most:
                fresh[votes:, 1:] += moved[:, :-1]
            else:
                fresh[votes:] += moved
        table = fresh
    return float((table[left] / np.arange(1, len(others) + 2)).sum())


@lru_cache(maxsize=200_000)
def disagreement(counts: Counts, votes: int) -> float:
    """Return the chance that two votes of different attempts differ; NaN with too few or too many of them."""
    total = sum(counts)
    if 2 * votes > total or _splits(counts, votes) > MOST_SPLITS:
        return np.nan
    agree = 0.0
    for drawn in _draws(counts, votes):
        ways = prod(comb(count, taken) for count, taken in zip(counts, drawn, strict=True))
        left = tuple(count - taken for count, taken in zip(counts, drawn, strict=True))
        modes = [place for place, taken in enumerate(drawn) if taken == max(drawn)]
        agree += ways * sum(_win_of(left, place, votes) for place in modes) / len(modes)
    return 1 - agree / comb(total, votes)


def _win_of(counts: Counts, place: int, votes: int) -> float:
    others = tuple(sorted((c for p, c in enumerate(counts) if p != place and c), reverse=True))
    return chance_to_win(counts[place], others, votes) if counts[place] else 0.0


def _splits(counts: Counts, votes: int) -> int:
    ways = [1] + [0] * votes
    for count in counts:
        ways = [sum(ways[max(0, total - count) : total + 1]) for total in range(votes + 1)]
    return ways[votes]


def _draws(counts: Counts, votes: int) -> Iterator[Counts]:
    if not counts:
        if votes == 0:
            yield ()
        return
    first, *rest = counts
    for taken in range(max(0, votes - sum(rest)), min(first, votes) + 1):
        for others in _draws(tuple(rest), votes - taken):
            yield (taken, *others)
