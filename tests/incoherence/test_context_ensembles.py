"""One attempt from each of several contexts, against going through every choice by hand."""

from collections.abc import Iterator
from itertools import combinations, product
from math import log, prod

import numpy as np
import pytest

from coherence.incoherence import context_ensembles
from coherence.incoherence.context_ensembles import (
    ballots,
    contexts_of,
    geometric_over_contexts,
    majority_over_contexts,
)
from coherence.incoherence.ensembles import Ensemble, geometric_means, majority
from coherence.incoherence.parts import Ints
from coherence.incoherence.squares import Vectors
from coherence.incoherence.tallies import tally

Vote = dict[str, float]


def codes(*items: str) -> tuple[Ints, Ints, Ints]:
    """Items such as "AAB BB": their contexts, and the answers of each."""
    rows = [
        (item, context, ord(letter) - ord("A"))
        for item, given in enumerate(items)
        for context, letters in enumerate(given.split())
        for letter in letters
    ]
    item, context, answer = np.array(rows).T
    return item, context, answer


def found(votes: int, *items: str) -> Ensemble:
    return majority_over_contexts(ballots(*codes(*items), np.zeros(len(items), np.int64)), votes)


def vote(given: tuple[str, ...]) -> Vote:
    counts = {letter: given.count(letter) for letter in set(given)}
    winners = [letter for letter, count in counts.items() if count == max(counts.values())]
    return {letter: 1 / len(winners) for letter in winners}


def ensembles_of(contexts: tuple[str, ...]) -> Iterator[tuple[Vote, float]]:
    """Every choice of an attempt a context, with its chance."""
    for chosen in product(*contexts):
        yield vote(chosen), 1 / prod(map(len, contexts))


def by_hand(given: str, votes: int) -> tuple[float, float]:
    contexts = given.split()
    some = list(combinations(range(len(contexts)), votes))
    drawn = {s: list(ensembles_of(tuple(contexts[place] for place in s))) for s in some}
    error = np.mean([sum(p * (1 - won.get("A", 0)) for won, p in drawn[s]) for s in some])
    apart = [
        1 - sum(p * q * one[a] * two.get(a, 0) for one, p in drawn[s] for two, q in drawn[t] for a in one)
        for s in some
        for t in some
        if not set(s) & set(t)
    ]
    return float(error), float(np.mean(apart)) / 2 if apart else np.nan


@pytest.mark.parametrize("given", ["AAB BBA AAA BBC", "AB AB AB AB AB", "A B A B C", "BC CB BB", "AAA BBB A"])
@pytest.mark.parametrize("votes", [1, 2, 3])
def test_majority_over_all_choices(given: str, votes: int) -> None:
    ensemble = found(votes, given)
    assert (ensemble.error[0], ensemble.variance[0]) == pytest.approx(by_hand(given, votes), nan_ok=True)


def test_items_of_the_same_answers_by_context_are_worked_out_once() -> None:
    given = ballots(*codes("AB CA", "CA AB", "B"), np.array([0, 0, 1, 0]))
    assert (len(given.kinds), given.kind.tolist()) == (2, [0, 0, 1, -1])
    ensemble = majority_over_contexts(given, 1)
    assert ensemble.error.tolist() == pytest.approx([0.5, 0.5, 0.0, np.nan], nan_ok=True)


def test_contexts_of_one_attempt_are_attempts() -> None:
    item, context, answer = codes("A A B C A", "B B A", "A")
    target = np.zeros(3, np.int64)
    for votes in (1, 2, 3, 4):
        over = majority_over_contexts(ballots(item, context, answer, target), votes)
        plain = majority(tally(item, answer, target), votes)
        assert over.error == pytest.approx(plain.error, nan_ok=True)
        assert over.variance == pytest.approx(plain.variance, nan_ok=True)


def test_attempts_of_one_context_do_not_make_a_vote_surer() -> None:
    ensemble = found(3, "AAA AAA BBB BBB AAA BBB")
    item, _, answer = codes("AAA AAA BBB BBB AAA BBB")
    counts = tally(item, answer, np.zeros(1, np.int64))
    assert ensemble.error[0] == pytest.approx(0.5)
    assert ensemble.variance[0] > 1.2 * majority(counts, 3).variance[0]


def test_too_few_contexts_are_unknown_however_many_attempts() -> None:
    ensemble = found(2, "AAAAAA", "AAA BBB")
    assert np.isnan(ensemble.error).tolist() == [True, False]
    assert contexts_of(*codes("AAAAAA", "AAA BBB")[:2], 3).tolist() == [1, 2, 0]


@pytest.mark.parametrize(("limit", "lost"), [("MOST_SPLITS", [True, True]), ("MOST_PAIRS", [False, True])])
def test_beyond_the_limits_nothing_is_computed(
    limit: str, lost: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context_ensembles, limit, 5)
    context_ensembles._vote.cache_clear()
    ensemble = found(2, "AB AB AB BC")
    assert [bool(np.isnan(each[0])) for each in (ensemble.error, ensemble.variance)] == lost
    context_ensembles._vote.cache_clear()


def test_the_vote_over_contexts_is_unbiased() -> None:
    """Three contexts of equal chance, always right, always wrong or a coin; a majority of three of them."""
    truth = np.mean([sum(case) < 2 for case in product([1, 1, 0, 0, 1, 0], repeat=3)])
    errors = []
    for kinds in product(["AA", "BB", "AB"], repeat=4):
        errors.append(found(3, " ".join(kinds)).error[0])
    assert np.mean(errors) == pytest.approx(truth)


def vectors(rows: list[list[float]]) -> Vectors:
    return Vectors(np.zeros(len(rows), np.int64), np.array([2]), np.array(rows).ravel(), np.array([1.0, 0.0]))


def test_geometric_means_over_all_choices() -> None:
    rows = [[0.8, 0.2], [0.4, 0.6], [0.5, 0.5], [0.9, 0.1]]
    ensemble = geometric_over_contexts(vectors(rows), np.array([0, 0, 1, 2]), 2)
    pairs = [((0, 2), 1 / 6), ((1, 2), 1 / 6), ((0, 3), 1 / 6), ((1, 3), 1 / 6), ((2, 3), 1 / 3)]
    loss = 0.0
    for (one, other), chance in pairs:
        right, wrong = ((rows[one][k] * rows[other][k]) ** 0.5 for k in (0, 1))
        loss -= chance * log(right / (right + wrong))
    assert ensemble.error[0] == pytest.approx(loss)
    assert np.isnan(ensemble.variance[0])


def test_geometric_means_of_contexts_of_one_attempt_are_plain() -> None:
    rows = [[0.8, 0.2], [0.4, 0.6], [0.5, 0.5]]
    for votes in (1, 2, 3, 4):
        over = geometric_over_contexts(vectors(rows), np.arange(3), votes).error
        assert over == pytest.approx(geometric_means(vectors(rows), votes).error, nan_ok=True)


def test_too_many_ways_to_choose_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_ensembles, "MOST_SPLITS", 3)
    rows = [[0.8, 0.2], [0.4, 0.6], [0.5, 0.5], [0.9, 0.1]]
    assert np.isnan(geometric_over_contexts(vectors(rows), np.array([0, 0, 1, 1]), 2).error[0])
