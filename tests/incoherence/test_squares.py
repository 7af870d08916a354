from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from incoherence_samples import answers, every_sample, expected, vectors

from coherence.incoherence import squares
from coherence.incoherence.parts import Parts
from coherence.incoherence.squares import BRIER, answer_spread, nested, number_spread, squared, vector_spread
from coherence.incoherence.tallies import tally, tally_of_passes

SHARE = st.floats(0, 1, allow_subnormal=False)


def kohavi_wolpert(given: str, target: str = "A", estimator: str = "unbiased") -> tuple[float, float, float]:
    parts = squared(answer_spread(answers((given, target))), estimator)  # type: ignore[arg-type]
    return parts.error[0], parts.bias[0], parts.variance[0]


@pytest.mark.parametrize(
    ("given", "target", "plug_in", "unbiased"),
    [
        ("AAABC", "A", (0.4, 0.12, 0.28), (0.4, 0.05, 0.35)),
        ("BBBAC", "A", (0.8, 0.52, 0.28), (0.8, 0.45, 0.35)),
        ("A" * 8 + "B" * 7 + "C" * 5, "C", (0.75, 0.4225, 0.3275), (0.75, 0.405263157895, 0.344736842105)),
        ("AB", "A", (0.5, 0.25, 0.25), (0.5, 0, 0.5)),
        ("BA", "A", (0.5, 0.25, 0.25), (0.5, 0, 0.5)),
        ("BCDE", "A", (1, 0.625, 0.375), (1, 0.5, 0.5)),
        ("AAAA", "A", (0, 0, 0), (0, 0, 0)),
    ],
)
def test_kohavi_wolpert(
    given: str, target: str, plug_in: tuple[float, ...], unbiased: tuple[float, ...]
) -> None:
    assert kohavi_wolpert(given, target, "plug-in") == pytest.approx(plug_in)
    assert kohavi_wolpert(given, target) == pytest.approx(unbiased)


def test_there_is_no_cliff() -> None:
    before = squared(answer_spread(answers(("A" * 11 + "B" * 9, "A"))), "plug-in").incoherence[0]
    after = squared(answer_spread(answers(("A" * 9 + "B" * 11, "A"))), "plug-in").incoherence[0]
    assert (before, after) == pytest.approx((0.55, 0.45))


def test_brier_is_twice_kohavi_wolpert() -> None:
    counts = answers(("BBBAC", "A"), ("AABBC", "B"))
    brier, half = squared(answer_spread(counts, BRIER)), squared(answer_spread(counts))
    assert brier.variance == pytest.approx(2 * half.variance)
    assert brier.incoherence == pytest.approx(half.incoherence)


@pytest.mark.parametrize("attempts", [2, 3, 5])
@pytest.mark.parametrize("chances", [(0.5, 0.3, 0.2), (0.9, 0.1), (0.0, 1.0)])
def test_the_unbiased_estimator_is_unbiased_over_every_sample(
    chances: tuple[float, ...], attempts: int
) -> None:
    variance = (1 - sum(chance**2 for chance in chances)) / 2
    bias = 1 - chances[1] - variance
    assert expected(chances, attempts, lambda c: squared(answer_spread(c)).variance) == pytest.approx(
        variance
    )
    assert expected(chances, attempts, lambda c: squared(answer_spread(c)).bias) == pytest.approx(bias)
    plugged = expected(chances, attempts, lambda c: squared(answer_spread(c), "plug-in").variance)
    assert plugged == pytest.approx(variance * (attempts - 1) / attempts)


def test_the_plug_in_bias_of_the_reference() -> None:
    chances = (0.5, 0.3, 0.2)
    assert expected(chances, 5, lambda c: squared(answer_spread(c), "plug-in").bias) == pytest.approx(0.452)
    assert expected(chances, 5, lambda c: squared(answer_spread(c), "plug-in").variance) == pytest.approx(
        0.248
    )


def test_unbiased_from_two_attempts_on_vectors_over_every_sample() -> None:
    options = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]])
    chances, target = np.array([0.5, 0.3, 0.2]), np.array([0.0, 1.0, 0.0])
    mean = chances @ options
    samples, weight = every_sample(list(chances), 3)
    parts = squared(
        vector_spread(vectors(*[(options[sample].tolist(), target.tolist()) for sample in samples]))
    )
    assert weight @ parts.bias == pytest.approx(((mean - target) ** 2).sum())
    assert weight @ parts.variance == pytest.approx(chances @ ((options - mean) ** 2).sum(axis=1))


def test_vectors_by_their_definition() -> None:
    attempts, target = np.array([[0.7, 0.3], [0.2, 0.8], [0.5, 0.5]]), np.array([1.0, 0.0])
    parts = squared(vector_spread(vectors((attempts.tolist(), target.tolist()))))
    scatter = ((attempts - attempts.mean(axis=0)) ** 2).sum() / 2
    assert parts.variance[0] == pytest.approx(scatter)
    assert parts.bias[0] == pytest.approx(((attempts.mean(axis=0) - target) ** 2).sum() - scatter / 3)
    assert parts.error[0] == pytest.approx(((attempts - target) ** 2).sum(axis=1).mean())


def test_the_coverage_error_is_a_mean_over_tests() -> None:
    parts = squared(vector_spread(vectors(([[1, 0, 0, 1], [1, 1, 0, 0]], [1, 1, 1, 1])), "mean"), "plug-in")
    assert (parts.error[0], parts.bias[0], parts.variance[0]) == pytest.approx((0.5, 0.375, 0.125))


def test_one_hot_vectors_are_answers() -> None:
    hot = {"A": [1, 0, 0], "B": [0, 1, 0], "C": [0, 0, 1]}
    items = [("BBBAC", "A"), ("AC", "C")]
    long = vectors(*[([hot[letter] for letter in given], hot[target]) for given, target in items])
    assert squared(vector_spread(long)).bias == pytest.approx(
        squared(answer_spread(answers(*items), BRIER)).bias
    )


@pytest.mark.parametrize("cells", [1, 7, 10**9], ids=["one item a piece", "some", "all at once"])
def test_pieces_change_nothing(monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    random = np.random.default_rng(1)
    items = [
        (random.random((attempts, width)).tolist(), random.random(width).tolist())
        for attempts, width in zip(random.integers(1, 5, 20), random.integers(1, 6, 20), strict=True)
    ]
    monkeypatch.setattr(squares, "CELLS", cells)
    parts = squared(vector_spread(vectors(*items)), "plug-in")
    one = [np.array(attempts) for attempts, _ in items]
    assert parts.variance == pytest.approx([((a - a.mean(axis=0)) ** 2).sum() / len(a) for a in one])


def test_numbers_far_from_zero_keep_their_digits() -> None:
    item, value = np.array([0, 0, 0]), np.array([1e9, 1e9 + 1, 1e9 + 2])
    parts = squared(number_spread(item, value, np.array([1e9])))
    assert (parts.error[0], parts.bias[0], parts.variance[0]) == pytest.approx((5 / 3, 2 / 3, 1.0))


@given(st.text("ABC", min_size=2, max_size=12), st.sampled_from("ABCD"))
def test_parts_add_up(given: str, target: str) -> None:
    for estimator in ("plug-in", "unbiased"):
        error, bias, variance = kohavi_wolpert(given, target, estimator)
        assert error == pytest.approx(bias + variance)
        assert error == pytest.approx(1 - given.count(target) / len(given))


@given(st.lists(st.tuples(SHARE, SHARE), min_size=2, max_size=6), st.permutations(range(6)))
def test_order_of_vectors_changes_nothing(attempts: list[tuple[float, float]], order: list[int]) -> None:
    mixed = [attempts[place] for place in order if place < len(attempts)]
    one, other = (squared(vector_spread(vectors((a, (1, 0))))).variance[0] for a in (attempts, mixed))
    assert one == pytest.approx(other, abs=1e-12)


@pytest.mark.parametrize(
    ("given", "estimator", "known"),
    [("A", "unbiased", False), ("", "plug-in", False), ("A", "plug-in", True), ("AB", "unbiased", True)],
)
def test_too_few_attempts_are_unknown(given: str, estimator: str, known: bool) -> None:
    parts = squared(answer_spread(answers((given, "A"))), estimator)  # type: ignore[arg-type]
    assert parts.known.tolist() == [known]
    assert np.isnan(parts.error[0]) == (not known)


def test_an_item_that_was_never_wrong_has_no_incoherence() -> None:
    found = squared(answer_spread(answers(("AAA", "A"), ("BBB", "A"), ("AAB", "A")))).incoherence
    assert found.tolist() == pytest.approx([nan, 0, 1], nan_ok=True)


def test_pass_or_fail_is_its_rate() -> None:
    passed, n = np.array([0, 1, 3, 5]), np.array([5, 5, 5, 5])
    parts = squared(answer_spread(tally_of_passes(passed, n)), "plug-in")
    rates = passed / n
    assert parts.error == pytest.approx(1 - rates)
    assert parts.incoherence == pytest.approx([0, 0.2, 0.6, nan], nan_ok=True)


def test_nested_sampling_uses_pairs_of_different_contexts() -> None:
    # Two contexts that each always say the same, and differ: all pairs across differ, none within does.
    parts = nested_answers("AAABBB", "000111")
    assert (parts.parts.variance[0], parts.sampling[0], parts.context[0]) == pytest.approx((0.5, 0, 0.5))
    plain = squared(answer_spread(answers(("AAABBB", "A")))).variance[0]
    assert plain == pytest.approx(0.3)  # which pairs within contexts pull down


@pytest.mark.parametrize("contexts", ["0000", "0123"], ids=["one context", "each its own"])
def test_nested_sampling_without_pairs(contexts: str) -> None:
    found = nested_answers("AABB", contexts)
    assert found.parts.known[0] == (contexts != "0000")
    assert np.isnan(found.sampling[0]) == (contexts == "0123")


def test_nested_variance_is_unbiased() -> None:
    # Two contexts of two attempts: a context says A with chance 0.9 or 0.2, each half the time.
    total, weights = 0.0, 0.0
    for first in (0.9, 0.2):
        for second in (0.9, 0.2):
            samples, _ = every_sample((0.5, 0.5), 4)
            for sample in samples:
                rates = np.array([first, first, second, second])
                chance = 0.25 * float(np.prod(np.where(sample == 0, rates, 1 - rates)))
                given = "".join("AB"[value] for value in sample)
                total += chance * nested_answers(given, "0011").parts.variance[0]
                weights += chance
    assert weights == pytest.approx(1)
    assert total == pytest.approx(0.55 * 0.45)  # of a single attempt: A with chance 0.55


def nested_answers(given: str, contexts: str) -> squares.Nested:
    letters = np.array([ord(letter) for letter in given])
    context = np.array([int(digit) for digit in contexts])
    whole = answer_spread(answers((given, "A")))
    names = np.unique(context)
    cells = answer_spread(tally(np.searchsorted(names, context), letters, np.full(len(names), ord("A"))))
    return nested(whole, cells, np.zeros(len(names), dtype=np.int64))


def test_the_parts_of_some_items() -> None:
    parts = squared(answer_spread(answers(("AB", "A"), ("AA", "A"), ("BB", "A"))))
    taken: Parts = parts.take(np.array([2, 0]))
    assert taken.error.tolist() == [1, 0.5]
