"""Expected values: golden figures of the statistics reference (their source in brackets) and closed forms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.stats.intervals import Bootstrap
from coherence.stats.proportions import bootstrap, clopper_pearson, proportion, wilson

# Tables 1 and 2 of the paper: failures, n and the published percentile bootstrap interval in %.
PUBLISHED = {
    "qwen detector risky": (15, 16, 81, 100),
    "qwen detector safe": (13, 28, 29, 64),
    "qwen lexical risky": (19, 21, 76, 100),
    "qwen lexical safe": (9, 23, 22, 61),
    "qwen generic risky": (26, 38, 53, 82),
    "qwen generic safe": (2, 6, 0, 67),
    "qwen length risky": (16, 21, 57, 95),
    "qwen length safe": (12, 23, 30, 70),
    "qwen think calls risky": (15, 20, 55, 95),
    "qwen think calls safe": (13, 24, 33, 75),
    "qwen tool errors risky": (10, 13, 54, 100),
    "qwen tool errors safe": (18, 31, 39, 74),
    "gemma detector risky": (9, 12, 50, 100),
    "gemma detector safe": (17, 31, 39, 71),
    "gemma lexical risky": (15, 21, 52, 90),
    "gemma lexical safe": (11, 22, 27, 68),
    "gemma generic risky": (21, 32, 50, 81),
    "gemma generic safe": (5, 11, 18, 73),
    "gemma tool errors risky": (14, 20, 50, 90),
    "gemma tool errors safe": (12, 23, 35, 74),
    "gemma length risky": (12, 21, 33, 76),
    "gemma length safe": (14, 22, 41, 82),
    "gemma think calls risky": (9, 17, 29, 76),
    "gemma think calls safe": (17, 26, 46, 85),
}
COUNTS = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def test_wilson_golden() -> None:
    interval = wilson(13, 28)  # [statsmodels]
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((0.2953, 0.6419), abs=5e-5)


@pytest.mark.parametrize(
    ("count", "n", "low", "high"),
    [
        (10, 10, 0.025 ** (1 / 10), 1.0),
        (0, 10, 0.0, 1 - 0.025 ** (1 / 10)),
        (1, 1, 0.025, 1.0),
        (15, 16, 0.698, 0.998),  # [exact enumeration, three digits]
    ],
    ids=["all", "none", "one of one", "15 of 16"],
)
def test_clopper_pearson_closed_forms(count: int, n: int, low: float, high: float) -> None:
    interval = clopper_pearson(count, n)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=5e-4)


@pytest.mark.parametrize(
    ("count", "n", "low", "high"),
    [(15, 16, 13, 16), (13, 28, 8, 18), (12, 23, 7, 17)],
    ids=["15 of 16", "13 of 28", "12 of 23"],
)
def test_bootstrap_with_many_resamples_is_the_binomial_quantile(
    count: int, n: int, low: int, high: int
) -> None:
    interval = bootstrap(count, n, Bootstrap(resamples=200_000, seed=1))  # [binomial quantile, B = infinity]
    assert interval is not None
    assert (interval.low, interval.high) == (low / n, high / n)


@pytest.mark.parametrize(("count", "n", "low", "high"), PUBLISHED.values(), ids=PUBLISHED)
def test_bootstrap_is_within_one_lattice_step_of_the_paper(count: int, n: int, low: int, high: int) -> None:
    interval = bootstrap(count, n, Bootstrap())
    assert interval is not None
    step = 1 / n + 0.005  # a published endpoint is rounded to a whole percentage
    assert abs(interval.low - low / 100) <= step
    assert abs(interval.high - high / 100) <= step


def test_bootstrap_says_how_it_was_made() -> None:
    interval = bootstrap(3, 7, Bootstrap(resamples=50, seed=9))
    assert interval is not None
    assert (interval.method, interval.n, interval.resamples, interval.seed) == (
        "percentile bootstrap",
        7,
        50,
        9,
    )


def test_same_counts_have_one_interval() -> None:
    assert bootstrap(12, 23, Bootstrap(seed=3)) == bootstrap(12, 23, Bootstrap(seed=3))


def test_the_seed_decides_the_draws() -> None:
    intervals = {bootstrap(480, 1000, Bootstrap(resamples=100, seed=seed)) for seed in range(5)}
    assert len({(interval.low, interval.high) for interval in intervals if interval}) > 1


@pytest.mark.parametrize("count", [0, 8])
def test_an_interval_without_width_has_an_exact_companion(count: int) -> None:
    share = proportion(count, 8, lambda k, n: bootstrap(k, n, Bootstrap()))
    assert share.interval is not None
    assert share.exact is not None
    assert not share.interval.has_width
    assert share.exact.has_width


def test_nothing_of_nothing_is_unknown() -> None:
    empty = proportion(0, 0, lambda k, n: bootstrap(k, n, Bootstrap()))
    assert (empty.value, empty.interval, empty.exact, wilson(0, 0)) == (None, None, None, None)


@given(COUNTS)
def test_intervals_hold_the_share_and_stay_within_0_and_1(counts: tuple[int, int]) -> None:
    count, n = counts
    for interval in (wilson(count, n), clopper_pearson(count, n)):
        assert interval is not None
        assert -1e-12 <= interval.low <= count / n + 1e-12
        assert count / n - 1e-12 <= interval.high <= 1 + 1e-12


@given(COUNTS, st.integers(0, 5))
def test_bootstrap_bounds_are_shares_that_can_be_drawn(counts: tuple[int, int], seed: int) -> None:
    count, n = counts
    interval = bootstrap(count, n, Bootstrap(resamples=40, seed=seed))
    assert interval is not None
    assert 0 <= interval.low <= interval.high <= 1
    assert interval.low * n == pytest.approx(round(interval.low * n))
