"""Exact figures of the reference (statistics 1.3, golden boot.binom_q)."""

import numpy as np
import pytest

from coherence.stats.proportions import clopper_pearson, wilson
from coherence.stats.resampling import chance_of_bounds, coverage, endless_bootstrap


@pytest.mark.parametrize(
    ("count", "n", "low", "high"),
    [
        (15, 16, 0.8125, 1.0),
        (13, 28, 0.2857142857142857, 0.6428571428571429),
        (12, 23, 0.30434782608695654, 0.7391304347826086),
    ],
    ids=["15/16", "13/28", "12/23"],
)
def test_endless_resampling_golden(count: int, n: int, low: float, high: float) -> None:
    interval = endless_bootstrap(count, n)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-12)


def test_no_row_has_no_interval() -> None:
    assert endless_bootstrap(0, 0) is None


@pytest.mark.parametrize(
    ("low", "high", "share", "chance"),
    [
        (7, 16, (12, 23), 0.23),
        (11, 19, (15, 20), 0.39),
        (12, 23, (18, 31), 0.29),
        (6, 15, (11, 22), 0.26),
        (8, 17, (12, 23), 0.165),
        (7, 16, (12, 21), 0.33),
        (13, 16, (15, 16), 0.994),
        (8, 18, (13, 28), 0.91),
    ],
    ids=str,
)
def test_chance_of_the_printed_bounds(low: int, high: int, share: tuple[int, int], chance: float) -> None:
    assert chance_of_bounds(low, high, share, 1000) == pytest.approx(chance, abs=0.016)


def test_the_chance_is_that_of_drawing() -> None:
    draws = np.random.default_rng(5).binomial(23, 12 / 23, (3000, 1000)) / 23
    ends = np.rint(100 * np.percentile(draws, [2.5, 97.5], axis=1))  # as printed
    met = (ends[0] == 30) & (ends[1] == 70)
    assert chance_of_bounds(7, 16, (12, 23), 1000) == pytest.approx(met.mean(), abs=0.03)


@pytest.mark.parametrize(
    ("rate", "percentile", "by_wilson"), [(0.9375, 64, 93), (0.9, 80, 93), (0.8, 85, 95)], ids=str
)
def test_coverage_at_sixteen(rate: float, percentile: int, by_wilson: int) -> None:
    assert round(100 * coverage(16, rate, endless_bootstrap)) == percentile
    assert round(100 * coverage(16, rate, wilson)) == by_wilson
    assert 98 <= round(100 * coverage(16, rate, clopper_pearson)) <= 99


def test_wilson_golden() -> None:
    interval = wilson(13, 28)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((0.2953, 0.6419), abs=5e-5)
