import numpy as np
import pytest
from incoherence_samples import answers

from coherence.incoherence.aggregates import (
    ALIKE,
    DELTA_T,
    JACKKNIFE_T,
    TOO_FEW_TASKS,
    aggregate,
    delta_t,
    jackknife_t,
    untold,
)
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
    jackknife, delta = jackknife_t(above, below, least=2), delta_t(above, below, least=2)
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
        ([("AB", "A"), ("BA", "B")], 0.5, 1, False),
        ([("AABB", "A"), ("ABBB", "A"), ("BBBB", "A"), ("AAAB", "A"), ("AAAA", "A")], 0.5, 1 / 3, False),
        ([("AABB", "A"), ("ABBB", "A"), ("BBBB", "A"), ("AAAB", "A"), ("AABB", "A")], 0.6, 7 / 18, True),
        ([("AB", "A")] * 20, 0.5, 1, False),
        ([("BB", "A")] * 20, 1, 0, False),
    ],
    ids=[
        *("no items", "one attempt", "never wrong", "one item wrong", "two items wrong"),
        *("four items wrong", "five items wrong", "all scatter alike", "all wrong alike"),
    ],
)
def test_degenerate_groups(
    items: list[tuple[str, str]], error: float | None, incoherence: float | None, interval: bool
) -> None:
    found = aggregate(squared(answer_spread(answers(*items))))
    assert (found.error, found.incoherence) == pytest.approx((error, incoherence))
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
    found = jackknife_t(above, below, least=2)
    assert found is not None
    half = 4.302652730 * np.sqrt(2 / 3 * ((without - without.mean()) ** 2).sum())
    assert (found.low, found.high) == pytest.approx((0.25 - half, 0.25 + half))


@pytest.mark.parametrize(
    ("above", "below", "reason"),
    [
        ([0.1, 0.2, 0.3, 0.2], [0.5, 0.3, 0.4, 0.7], TOO_FEW_TASKS),
        ([0.1, 0.2, 0.3, 0.2, 0], [0.5, 0.3, 0.4, 0.7, 0], TOO_FEW_TASKS),
        ([0.1, 0.2, 0.3, 0.2, 0.1], [0.5, 0.3, 0.4, 0.7, 0.2], ""),
        ([0.1, 0.2, 0.3, 0.4, 0.5, 0], [0.3, 0.6, 0.9, 1.2, 1.5, 0], ALIKE),
        ([0, 0, 0, 0, 0], [0.3, 0.6, 0.9, 1.2, 1.5], ALIKE),
    ],
    ids=["four items", "four ever wrong", "five that differ", "one ratio", "no scatter"],
)
def test_why_there_is_no_interval(above: list[float], below: list[float], reason: str) -> None:
    found = untold(np.array(above), np.array(below))
    assert found == reason
    interval = jackknife_t(np.array(above), np.array(below))
    assert (interval is None) == bool(reason)
    assert interval is None or interval.has_width
