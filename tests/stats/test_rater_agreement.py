"""Agreement among repeated ratings, against published values and by hand."""

import numpy as np
import pytest

from coherence.evaluation.agreement import kappa
from coherence.stats.agreement import (
    Ratings,
    agreeing_pairs,
    estimate,
    flip_rate,
    gwet_ac1,
    krippendorff_alpha,
)
from coherence.stats.intervals import Bootstrap


def items(*pairs: tuple[int, int, int]) -> Ratings:
    """Repeat (no, yes) as often as the third number says."""
    return np.array([pair[:2] for pair in pairs for _ in range(pair[2])], dtype=np.int64)


TWO_RATERS = items((2, 0, 118), (1, 1, 7))  # [[118, 5], [2, 0]]


def test_ac1_stands_the_rare_flag_that_kappa_does_not() -> None:
    assert gwet_ac1(TWO_RATERS) == pytest.approx(0.9407763376, abs=1e-10)
    assert kappa(0, 2, 5, 118).value == pytest.approx(-0.0233918129, abs=1e-10)


def test_alpha_of_the_canonical_matrix() -> None:
    none = None
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, none, none, none],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, none, 3],
        [none, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, none],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, none],
    ]
    units = [[[row[unit] for row in observers].count(value) for value in range(1, 6)] for unit in range(12)]

    assert krippendorff_alpha(np.array(units)).value == pytest.approx(0.7434, abs=5e-5)


@pytest.mark.parametrize(
    ("pair", "flips"), [((3, 0), 0.0), ((2, 1), 2 / 3), ((1, 1), 1.0), ((4, 1), 0.4), ((5, 5), 25 / 45)]
)
def test_the_flip_rate_of_one_item(pair: tuple[int, int], flips: float) -> None:
    assert flip_rate(items((*pair, 1))) == pytest.approx(flips)
    assert agreeing_pairs(items((*pair, 1))) == pytest.approx(1 - flips)


def test_items_with_more_samples_weigh_no_more() -> None:
    assert flip_rate(items((1, 1, 1), (9, 0, 1))) == pytest.approx(0.5)


def test_ac1_of_three_samples_by_hand() -> None:
    share = (2 / 3 + 1 + 0) / 3
    chance = 2 * share * (1 - share)
    pairs = (1 / 3 + 1 + 1) / 3

    assert gwet_ac1(items((1, 2, 1), (0, 3, 1), (3, 0, 1))) == pytest.approx((pairs - chance) / (1 - chance))


@pytest.mark.parametrize("counts", [items((3, 0, 5)), items((0, 3, 5))])
def test_when_all_say_the_same(counts: Ratings) -> None:
    assert (gwet_ac1(counts), flip_rate(counts)) == (1.0, 0.0)
    assert krippendorff_alpha(counts).value is None
    assert krippendorff_alpha(counts).reason == "all ratings say the same"


def test_no_item_is_no_estimate() -> None:
    assert estimate(np.zeros((0, 2), dtype=np.int64), flip_rate, Bootstrap()).value is None
    assert krippendorff_alpha(np.zeros((0, 2), dtype=np.int64)).value is None


def test_the_interval_is_seeded_and_resamples_items() -> None:
    counts = items((2, 1, 30), (3, 0, 70))
    found = estimate(counts, flip_rate, Bootstrap(2_000, 7))
    expected = 2 / 3 * np.quantile(np.random.default_rng(1).binomial(100, 0.3, 100_000) / 100, [0.025, 0.975])

    assert found.value == pytest.approx(0.2)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx(tuple(expected), abs=0.01)
    assert found == estimate(counts, flip_rate, Bootstrap(2_000, 7))
    assert found != estimate(counts, flip_rate, Bootstrap(2_000, 8))
