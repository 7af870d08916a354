from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.stats.intervals import Bootstrap
from coherence.stats.weighted import Sample, compare_weighted

FEW = Bootstrap(resamples=50, seed=4)
ROWS = st.lists(st.tuples(st.booleans(), st.sampled_from([0.5, 2.0, 5.75])), min_size=1, max_size=12)


def sample(rows: list[tuple[bool, float]]) -> Sample:
    return Sample([failed for failed, _ in rows], [weight for _, weight in rows])


def test_weights_bring_a_sample_back_to_its_cohort() -> None:
    # 64 of 129 failures and 64 of 371 passes drawn: the weights restore 129 of 500.
    drawn = [(True, 129 / 64)] * 64 + [(False, 371 / 64)] * 64
    comparison = compare_weighted(sample(drawn), sample(drawn), FEW)
    assert comparison is not None
    assert comparison.risky.rate == pytest.approx(129 / 500)
    assert comparison.gap == pytest.approx(0)


def test_the_gap_is_in_points() -> None:
    risky, safe = [(True, 3.0), (False, 1.0)], [(True, 1.0), (False, 1.0)]
    comparison = compare_weighted(sample(risky), sample(safe), FEW)
    assert comparison is not None
    assert comparison.gap == pytest.approx(25)


def test_equal_weights_give_the_binomial_quantiles() -> None:
    rows = [(number < 13, 2.5) for number in range(28)]
    comparison = compare_weighted(sample(rows), sample(rows), Bootstrap(resamples=20_000, seed=2))
    assert comparison is not None  # 8/28 and 18/28 are the 2.5 % and 97.5 % quantiles of a binomial
    interval = comparison.risky.interval
    assert (interval.low, interval.high) == pytest.approx((8 / 28, 18 / 28))


@pytest.mark.parametrize("empty", ["risky", "safe"])
def test_an_empty_group_has_no_weighted_comparison(empty: str) -> None:
    groups = {name: sample([] if name == empty else [(True, 1.0)]) for name in ("risky", "safe")}
    assert compare_weighted(groups["risky"], groups["safe"], FEW) is None


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows: list[tuple[bool, float]], random: Random) -> None:
    shuffled = random.sample(rows, len(rows))
    other = [(True, 1.0), (False, 2.0)]
    assert compare_weighted(sample(rows), sample(other), FEW) == compare_weighted(
        sample(shuffled), sample(other), FEW
    )


@given(ROWS, ROWS)
def test_rates_and_bounds_are_shares(risky: list[tuple[bool, float]], safe: list[tuple[bool, float]]) -> None:
    comparison = compare_weighted(sample(risky), sample(safe), FEW)
    assert comparison is not None
    for group in (comparison.risky, comparison.safe):
        assert 0 <= group.interval.low <= group.interval.high <= 1
        assert 0 <= group.rate <= 1
