import numpy as np
import pytest
from incoherence_samples import answers

from coherence.incoherence.aggregates import DELTA_T, JACKKNIFE_T, aggregate, delta_t, jackknife_t
from coherence.incoherence.parts import incomparable
from coherence.incoherence.squares import answer_spread, squared

MIXED = answers(("AAABC", "A"), ("BBBAC", "A"), ("AAAAA", "A"), ("BBBBB", "A"), ("A", "A"))


def test_incoherence_is_the_ratio_of_sums() -> None:
    found = aggregate(squared(answer_spread(MIXED)))
    assert found.incoherence == pytest.approx((0.35 + 0.35) / (0.4 + 0.8 + 0 + 1))
    assert (found.items, found.attempts, found.fewest, found.most) == (4, 20, 5, 5)
    assert (found.never_wrong, found.too_few) == (1, 1)
    assert found.error == pytest.approx((found.bias or 0) + (found.variance or 0))


def test_the_intervals_by_their_definition() -> None:
    above, below = np.array([0.2, 0.1, 0.3, 0.0]), np.array([0.4, 0.5, 0.6, 0.9])
    ratio = above.sum() / below.sum()
    without = np.array([(above.sum() - above[i]) / (below.sum() - below[i]) for i in range(4)])
    jackknife, delta = jackknife_t(above, below), delta_t(above, below)
    assert jackknife is not None
    assert delta is not None
    assert (jackknife.method, delta.method, delta.n) == (JACKKNIFE_T, DELTA_T, 4)
    half = 3.182446305 * np.sqrt(3 / 4 * ((without - without.mean()) ** 2).sum())
    assert (jackknife.low, jackknife.high) == pytest.approx((ratio - half, ratio + half))
    spread = (above - ratio * below) / below.mean()
    half = 3.182446305 * np.sqrt((spread**2).sum() / 12)
    assert (delta.low, delta.high) == pytest.approx((ratio - half, ratio + half))


@pytest.mark.parametrize(
    ("items", "error", "incoherence", "interval"),
    [
        ([], None, None, False),
        ([("A", "A")], None, None, False),
        ([("AA", "A"), ("BB", "B")], 0, None, False),
        ([("AB", "A"), ("BB", "B")], 0.25, 1, False),
        ([("AB", "A"), ("BA", "B")], 0.5, 1, True),
    ],
    ids=["no items", "one attempt", "never wrong", "one item wrong", "two items wrong"],
)
def test_degenerate_groups(
    items: list[tuple[str, str]], error: float | None, incoherence: float | None, interval: bool
) -> None:
    found = aggregate(squared(answer_spread(answers(*items))))
    assert (found.error, found.incoherence) == (error, incoherence)
    assert (found.delta is not None, found.jackknife is not None) == (interval, interval)


@pytest.mark.parametrize(
    ("estimator", "first", "second", "reason"),
    [
        ("unbiased", "AAB", "AABBC", None),
        ("plug-in", "AAB", "ABB", None),
        ("plug-in", "AAB", "AABBC", "plug-in estimates of 3 to 5 attempts"),
    ],
)
def test_biased_estimates_of_unequal_attempts_are_not_compared(
    estimator: str, first: str, second: str, reason: str | None
) -> None:
    one, other = (squared(answer_spread(answers((given, "A"))), estimator) for given in (first, second))  # type: ignore[arg-type]
    assert incomparable(one, other) == reason


def test_estimators_are_not_mixed() -> None:
    spread = answer_spread(answers(("AAB", "A")))
    assert incomparable(squared(spread), squared(spread, "plug-in")) == "different estimators"


def test_items_of_very_different_size_have_an_interval() -> None:
    above, below = np.array([1e18, 1e-18, 2e-18]), np.array([4e18, 2e-18, 5e-18])
    without = np.array([3 / 7, 0.25, 0.25])
    found = jackknife_t(above, below)
    assert found is not None
    half = 4.302652730 * np.sqrt(2 / 3 * ((without - without.mean()) ** 2).sum())
    assert (found.low, found.high) == pytest.approx((0.25 - half, 0.25 + half))
