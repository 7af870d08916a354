"""What several votes do where attempts share prompt contexts: one attempt from each of as many contexts.

Attempts of one context are no independent draws: what votes of any attempts come to says nothing of votes of
other contexts. Expectations are exact, over all choices of contexts and, in each, of one of its attempts;
every context is as likely as any other. Two ensembles have no context in common.
"""

from functools import lru_cache
from itertools import combinations, combinations_with_replacement, product
from math import comb, prod
from typing import Final, NamedTuple

import numpy as np

from coherence.incoherence.divergence import DELTA
from coherence.incoherence.ensembles import MOST_SPLITS, Ensemble
from coherence.incoherence.parts import Floats, Ints
from coherence.incoherence.squares import Vectors

MOST_PAIRS: Final = 2_000_000  # counts of two ensembles beyond which their disagreement is not computed

Shares = tuple[tuple[float, ...], ...]


class States(NamedTuple):
    """The counts that up to some votes can come to: a row of `counts` a state, the empty one first.

    `after` gives for each answer and each state that is not yet full, listed in `open`, the state one vote
    later; `wins` the chance of each answer to win in each full state, 0 in the others.
    """

    counts: Ints
    open: Ints
    after: Ints
    wins: Floats


def contexts_of(item: Ints, context: Ints, items: int) -> Ints:
    """Return the number of different contexts of each item."""
    cells = np.unique(np.stack([item, context]), axis=1)[0]
    return np.bincount(cells, minlength=items)


class Ballots(NamedTuple):
    """The different answers by context that items have, and which of them each item has, -1 for none."""

    kinds: tuple[tuple[Shares, bool], ...]
    kind: Ints


def ballots(item: Ints, context: Ints, answer: Ints, target: Ints) -> Ballots:
    """Return of each item the shares of answers in each context, once for any number of votes."""
    kinds: dict[tuple[Shares, bool], int] = {}
    found = np.full(len(target), -1)
    order = np.argsort(item, kind="stable")
    bounds = np.searchsorted(item[order], np.arange(len(target) + 1))
    for place, goal in enumerate(target):
        mine = order[bounds[place] : bounds[place + 1]]
        if len(mine):
            shares = _shares(context[mine], answer[mine], int(goal))
            found[place] = kinds.setdefault(shares, len(kinds))
    return Ballots(tuple(kinds), found)


def majority_over_contexts(given: Ballots, votes: int) -> Ensemble:
    """Return error and Kohavi-Wolpert variance of the most frequent of `votes` answers of different contexts.

    Error needs `votes` contexts, variance twice as many; else NaN, as where the counts of an ensemble are
    more than `MOST_SPLITS`, or those of two more than `MOST_PAIRS`.
    """
    # The last is that of the items without attempts, whose kind is -1.
    of_kinds = [_vote(*kind, votes) for kind in given.kinds] + [(np.nan, np.nan)]
    found = np.array(of_kinds)[given.kind]
    return Ensemble(votes, found[:, 0], found[:, 1])


def _shares(context: Ints, answer: Ints, target: int) -> tuple[Shares, bool]:
    """Return the shares of answers in each context, the target's first if given, and whether it was."""
    contexts, row = np.unique(context, return_inverse=True)
    answers, column = np.unique(answer, return_inverse=True)
    table = np.zeros((len(contexts), len(answers)))
    np.add.at(table, (row, column), 1)
    right = answers == target
    falling = np.lexsort((-table.sum(axis=0), ~right))
    rows = (table / table.sum(axis=1, keepdims=True))[:, falling]
    return tuple(sorted(map(tuple, rows.tolist()))), bool(right.any())


@lru_cache(maxsize=20_000)
def _vote(shares: Shares, has_right: bool, votes: int) -> tuple[float, float]:
    contexts, answers = len(shares), len(shares[0])
    size = comb(votes + answers, answers)
    if votes > contexts or size > MOST_SPLITS:
        return np.nan, np.nan
    states = _states(answers, votes)
    wins = _law(shares, states) @ states.wins / comb(contexts, votes)
    error = 1 - float(wins[0]) if has_right else 1.0
    if 2 * votes > contexts or size**2 > MOST_PAIRS:
        return error, np.nan
    both = np.einsum("sa,st,ta->", states.wins, _law_of_two(shares, states), states.wins, optimize=True)
    ways = comb(contexts, votes) * comb(contexts - votes, votes)
    return error, float(1 - both / ways) / 2


@lru_cache(maxsize=64)
def _states(answers: int, votes: int) -> States:
    drawn = np.array(list(combinations_with_replacement(range(answers, -1, -1), votes)))
    count = (drawn[:, :, None] == np.arange(answers)).sum(axis=1)
    place = {tuple(row): number for number, row in enumerate(count.tolist())}
    total = count.sum(axis=1)
    not_full = np.flatnonzero(total < votes)
    later = count[not_full] + np.eye(answers, dtype=np.int64)[:, None]
    after = np.array([[place[tuple(row)] for row in rows] for rows in later.tolist()])
    best = (count == count.max(axis=1, keepdims=True)) & (total == votes)[:, None]
    return States(count, not_full, after, best / np.maximum(1, best.sum(axis=1, keepdims=True)))


def _law(shares: Shares, states: States) -> Floats:
    """Return for each state the chance of its counts, summed over all choices of so many contexts."""
    law = np.zeros(len(states.counts))
    law[0] = 1
    for context in shares:
        fresh = law.copy()
        for share, after in zip(context, states.after, strict=True):
            fresh[after] += share * law[states.open]
        law = fresh
    return law


def _law_of_two(shares: Shares, states: States) -> Floats:
    """Return the same for two ensembles, each context in one of them or in neither."""
    law = np.zeros((len(states.counts), len(states.counts)))
    law[0, 0] = 1
    for context in shares:
        fresh = law.copy()
        for share, after in zip(context, states.after, strict=True):
            if share:
                fresh[after] += share * law[states.open]
                fresh[:, after] += share * law[:, states.open]
        law = fresh
    return law


def geometric_over_contexts(vectors: Vectors, context: Ints, votes: int, delta: float = DELTA) -> Ensemble:
    """Return the error (KL, nats) of the geometric mean of `votes` attempts of different contexts, by item.

    NaN below `votes` contexts, and where the ways to choose them are more than `MOST_SPLITS`. The bias of KL
    has no estimate over contexts, so that there is no variance.
    """
    items = len(vectors.width)
    n = np.bincount(vectors.item, minlength=items)
    error = np.full(items, np.nan)
    attempts, cells, places = (
        np.concatenate([[0], np.cumsum(size)]) for size in (n, n * vectors.width, vectors.width)
    )
    for item in np.flatnonzero(n):
        table = vectors.values[cells[item] : cells[item + 1]].reshape(n[item], -1).astype(float)
        logs = np.log(table + delta) - np.log1p(vectors.width[item] * delta)
        own = context[attempts[item] : attempts[item + 1]]
        error[item] = _geometric(logs, vectors.target[places[item] : places[item + 1]], own, votes)
    return Ensemble(votes, error, np.full(items, np.nan))


def _geometric(logs: Floats, target: Floats, context: Ints, votes: int) -> float:
    members = [np.flatnonzero(context == each).tolist() for each in np.unique(context)]
    if votes > len(members) or _ways([len(each) for each in members], votes) > MOST_SPLITS:
        return np.nan
    chosen = [
        (pick, 1 / prod(map(len, some))) for some in combinations(members, votes) for pick in product(*some)
    ]
    means = np.stack([logs[list(pick)].mean(axis=0) for pick, _ in chosen])
    weight = np.array([chance for _, chance in chosen]) / comb(len(members), votes)
    known = target > 0
    entropy = float((target[known] * np.log(target[known])).sum())
    return entropy + float(weight @ (np.logaddexp.reduce(means, axis=1) - means @ target))


def _ways(sizes: list[int], votes: int) -> int:
    ways = [1] + [0] * votes
    for size in sizes:
        ways = [ways[0], *(ways[k] + size * ways[k - 1] for k in range(1, votes + 1))]
    return ways[votes]
