import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from incoherence_samples import answers, expected, vectors

from coherence.incoherence.divergence import classes_seen, kl_answers, kl_vectors
from coherence.incoherence.modal import modal_margin
from coherence.incoherence.parts import Estimator

FIVE = np.array([5])


def test_the_worked_example() -> None:
    parts = kl_answers(answers(("BBBAC", "A")), FIVE, "plug-in")
    found = (parts.error[0], parts.bias[0], parts.variance[0], parts.incoherence[0])
    assert found == pytest.approx((22.10481689, 11.05244027, 11.05237662, 0.5), abs=1e-4)


@pytest.mark.parametrize(("delta", "incoherence"), [(1e-2, 0.407), (1e-4, 0.492)])
def test_incoherence_of_single_answers_hangs_on_delta(delta: float, incoherence: float) -> None:
    parts = kl_answers(answers(("BBBAC", "A")), FIVE, "plug-in", delta)
    assert parts.incoherence[0] == pytest.approx(incoherence, abs=5e-4)


def test_its_limit_is_the_modal_margin() -> None:
    counts = answers(("BBBAC", "A"), ("AAAAB", "A"), ("BBBCD", "A"))
    parts = kl_answers(counts, np.full(3, 5), "plug-in", 1e-200)
    scale = -np.log(1e-200)
    margin = modal_margin(counts, "plug-in")
    assert parts.bias / scale == pytest.approx(margin.bias, abs=1e-3)
    assert parts.variance / scale == pytest.approx(margin.variance, abs=1e-3)


def without_each(given: str, delta: float) -> float:
    whole = kl_answers(answers((given, "A")), FIVE, "plug-in", delta).bias[0]
    rest = [given[:place] + given[place + 1 :] for place in range(len(given))]
    others = kl_answers(
        answers(*[(left, "A") for left in rest]), np.full(len(rest), 5), "plug-in", delta
    ).bias
    n = len(given)
    return float(n * whole - (n - 1) * others.mean())


@given(st.text("ABCD", min_size=2, max_size=8), st.sampled_from([1e-12, 1e-2]))
def test_the_jackknife_is_that_of_its_definition(given: str, delta: float) -> None:
    found = kl_answers(answers((given, "A")), FIVE, delta=delta)
    assert found.bias[0] == pytest.approx(without_each(given, delta), rel=1e-9, abs=1e-9)
    assert found.error[0] == pytest.approx(found.bias[0] + found.variance[0])


def test_the_jackknife_takes_away_most_of_the_bias() -> None:
    chances = (0.5, 0.3, 0.2)
    ratio = np.log1p(1e-2) - np.log(1e-2)
    truth = ratio - np.log(np.exp(ratio * np.array(chances)).sum())

    def error_of(estimator: Estimator) -> float:
        variance = expected(
            chances, 8, lambda counts: kl_answers(counts, np.full(counts.items, 3), estimator, 1e-2).variance
        )
        return abs(variance - float(truth))

    assert error_of("jackknife") < error_of("plug-in") / 2


def test_single_answers_are_vectors_of_zeros_and_ones() -> None:
    hot = np.eye(5).tolist()
    items = ["BBBAC", "AAAAA", "BCDE"]
    long = vectors(*[([hot["ABCDE".index(letter)] for letter in given], hot[0]) for given in items])
    sparse = answers(*[(given, "A") for given in items])
    kinds: tuple[Estimator, ...] = ("plug-in", "jackknife")
    for estimator in kinds:
        one, other = kl_vectors(long, estimator), kl_answers(sparse, np.full(3, 5), estimator)
        assert one.bias == pytest.approx(other.bias)
        assert one.variance == pytest.approx(other.variance)


def test_probabilities_by_their_definition() -> None:
    attempts, target = np.array([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1]]), np.array([1.0, 0.0, 0.0])
    parts = kl_vectors(vectors((attempts.tolist(), target.tolist())), "plug-in", 0)
    centre = np.exp(np.log(attempts).mean(axis=0))
    centre /= centre.sum()
    assert parts.bias[0] == pytest.approx(-np.log(centre[0]))
    assert parts.variance[0] == pytest.approx((centre * np.log(centre / attempts)).sum(axis=1).mean())
    assert parts.error[0] == pytest.approx(-np.log(attempts[:, 0]).mean())


def test_a_target_that_is_a_distribution() -> None:
    target = [0.5, 0.5]
    parts = kl_vectors(vectors(([[0.5, 0.5], [0.5, 0.5]], target)), "plug-in", 0)
    assert (parts.error[0], parts.bias[0], parts.variance[0]) == pytest.approx((0, 0, 0), abs=1e-12)


@given(st.lists(st.floats(0.01, 0.99), min_size=2, max_size=6))
def test_parts_add_up_and_are_never_negative(shares: list[float]) -> None:
    parts = kl_vectors(vectors(([[share, 1 - share] for share in shares], [1, 0])), "plug-in")
    assert parts.bias[0] + parts.variance[0] == pytest.approx(parts.error[0])
    assert parts.bias[0] > -1e-9
    assert parts.variance[0] > -1e-9


def test_one_attempt_is_too_few_for_the_jackknife() -> None:
    assert not kl_vectors(vectors(([[0.5, 0.5]], [1, 0]))).known[0]
    assert not kl_answers(answers(("A", "A")), FIVE).known[0]
    assert kl_answers(answers(("A", "A")), FIVE, "plug-in").known[0]


def test_the_target_is_a_class_nobody_need_have_chosen() -> None:
    assert classes_seen(answers(("BBC", "A"), ("ABC", "A"))).tolist() == [3, 3]
