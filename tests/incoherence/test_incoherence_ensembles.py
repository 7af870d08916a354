from itertools import combinations
from math import nan

import numpy as np
import pytest
from incoherence_samples import answers, expected, vectors

from coherence.incoherence import ensembles
from coherence.incoherence.divergence import kl_vectors
from coherence.incoherence.ensembles import averaged, disagreement, geometric, majority
from coherence.incoherence.squares import answer_spread, squared, vector_spread


def vote(given: tuple[str, ...]) -> dict[str, float]:
    """The chance of each answer to win, ties broken at random."""
    counts = {letter: given.count(letter) for letter in set(given)}
    winners = [letter for letter, count in counts.items() if count == max(counts.values())]
    return {letter: 1 / len(winners) for letter in winners}


def error_by_hand(given: str, target: str, votes: int) -> float:
    return float(np.mean([1 - vote(chosen).get(target, 0) for chosen in combinations(given, votes)]))


def variance_by_hand(given: str, votes: int) -> float:
    differ = []
    for chosen in combinations(range(len(given)), votes):
        rest = [place for place in range(len(given)) if place not in chosen]
        for other in combinations(rest, votes):
            one, two = (vote(tuple(given[place] for place in places)) for places in (chosen, other))
            differ.append(1 - sum(share * two.get(letter, 0) for letter, share in one.items()))
    return float(np.mean(differ)) / 2


@pytest.mark.parametrize("given", ["AAABC", "BBBAC", "ABCDE", "AAABBB", "AABBCC", "BBBBB", "AAAAAAB"])
@pytest.mark.parametrize("votes", [1, 2, 3])
def test_majority_over_all_subsets(given: str, votes: int) -> None:
    found = majority(answers((given, "A")), votes)
    assert found.error[0] == pytest.approx(error_by_hand(given, "A", votes))
    if 2 * votes <= len(given):
        assert found.variance[0] == pytest.approx(variance_by_hand(given, votes))
    else:
        assert np.isnan(found.variance[0])


def test_one_vote_is_one_attempt() -> None:
    counts = answers(("AAABC", "A"), ("BBBAC", "A"), ("BCDE", "A"), ("AAAA", "A"))
    found, single = majority(counts, 1), squared(answer_spread(counts))
    assert found.error == pytest.approx(single.error)
    assert found.variance == pytest.approx(single.variance)


def test_the_vote_of_all_attempts_is_theirs() -> None:
    assert majority(
        answers(("AAABC", "A"), ("BBBAC", "A"), ("AABB", "A")), 4
    ).error.tolist() == pytest.approx(
        [0.0 + error_by_hand("AAABC", "A", 4), error_by_hand("BBBAC", "A", 4), 0.5]
    )


def test_too_few_attempts_for_a_vote_are_unknown() -> None:
    found = majority(answers(("AAB", "A"), ("AABBA", "A")), 4)
    assert found.error.tolist() == pytest.approx([nan, error_by_hand("AABBA", "A", 4)], nan_ok=True)


def test_the_variance_of_a_vote_is_unbiased() -> None:
    chances = np.array([0.6, 0.3, 0.1])
    wins = np.zeros(3)
    for places in np.ndindex(3, 3, 3):
        share = vote(tuple("ABC"[place] for place in places))
        for letter, value in share.items():
            wins["ABC".index(letter)] += value * np.prod(chances[list(places)])
    truth = (1 - (wins**2).sum()) / 2
    assert expected(list(chances), 6, lambda counts: majority(counts, 3).variance) == pytest.approx(truth)


def test_beyond_the_limit_nothing_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    disagreement.cache_clear()
    monkeypatch.setattr(ensembles, "MOST_SPLITS", 3)
    assert np.isnan(majority(answers(("ABCDEF", "A")), 2).variance[0])
    assert geometric(np.log(np.full((6, 2), 0.5)), np.array([1.0, 0.0]), 2) is None
    disagreement.cache_clear()


def test_the_arithmetic_mean_over_all_subsets() -> None:
    attempts, target = np.array([[0.7, 0.3], [0.2, 0.8], [0.5, 0.5], [0.9, 0.1]]), np.array([1.0, 0.0])
    parts = squared(vector_spread(vectors((attempts.tolist(), target.tolist()))))
    for votes in (1, 2, 3, 4):
        means = [attempts[list(chosen)].mean(axis=0) for chosen in combinations(range(4), votes)]
        found = averaged(parts, votes)
        assert found.error[0] == pytest.approx(np.mean([((mean - target) ** 2).sum() for mean in means]))
        assert found.error[0] - found.variance[0] == pytest.approx(parts.bias[0])
        assert found.variance[0] == pytest.approx(parts.variance[0] / votes)
    assert np.isnan(averaged(parts, 5).error[0])


def test_the_mean_of_attempts_needs_unbiased_parts() -> None:
    spread = vector_spread(vectors(([[1, 0], [0, 1]], [1, 0])))
    with pytest.raises(ValueError, match="unbiased"):
        averaged(squared(spread, "plug-in"), 2)


def test_the_geometric_mean_keeps_the_bias_of_its_centre() -> None:
    attempts, target = (
        np.array([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.5, 0.1, 0.4]]),
        np.array([1.0, 0.0, 0.0]),
    )
    logs = np.log(attempts)
    parts = kl_vectors(vectors((attempts.tolist(), target.tolist())), "plug-in", 0)
    assert geometric(logs, target, 1) == pytest.approx(parts.error[0])
    assert geometric(logs, target, 3) == pytest.approx(parts.bias[0])
    pairs = [logs[list(chosen)].mean(axis=0) for chosen in combinations(range(3), 2)]
    by_hand = np.mean([np.log(np.exp(mean).sum()) - mean[0] for mean in pairs])
    assert geometric(logs, target, 2) == pytest.approx(by_hand)
    assert geometric(logs, target, 4) is None
