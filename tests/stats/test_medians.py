import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.stats.medians import median_ranks, summarise


@pytest.mark.parametrize(
    ("n", "ranks"),
    [
        (15, (4, 12, 0.96484375)),  # [binomial]
        (9, (2, 8, 0.9609375)),  # [binomial]
        (6, (1, 6, 1 - 2 / 2**6)),  # misses only if all six lie on one side
        (5, None),  # 1 - 2/2**5 = 0.9375 is not enough
        (0, None),
    ],
    ids=str,
)
def test_ranks_golden(n: int, ranks: tuple[int, int, float] | None) -> None:
    assert median_ranks(n) == (ranks and pytest.approx(ranks))


def test_the_interval_is_two_of_the_values() -> None:
    summary = summarise([10.0, 90.0, 30.0, 50.0, 70.0, 20.0, 40.0, 60.0, 80.0])
    assert (summary.median, summary.mean, summary.ranks) == (50, 50, (2, 8))
    assert summary.interval is not None
    assert (summary.interval.low, summary.interval.high) == (20, 80)
    assert summary.interval.level == pytest.approx(0.9609375)


def test_few_values_have_a_median_without_interval() -> None:
    summary = summarise([4.0, 1.0])
    assert (summary.n, summary.median, summary.interval) == (2, 2.5, None)


def test_no_values_have_no_median() -> None:
    summary = summarise([])
    assert (summary.n, summary.median, summary.mean) == (0, None, None)


@given(st.lists(st.floats(-1e6, 1e6), min_size=6, max_size=40))
def test_the_interval_holds_the_median_and_order_does_not_matter(values: list[float]) -> None:
    summary = summarise(values)
    assert summary == summarise(values[::-1])
    assert summary.median is not None
    assert summary.interval is not None
    assert summary.interval.low <= summary.median <= summary.interval.high
    assert summary.interval.level >= 0.95
