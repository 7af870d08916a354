"""Golden values: exact enumeration of the paper's group sizes (own enumeration, cross-checked)."""

import numpy as np
import pytest
from scipy.stats import fisher_exact

from coherence.stats.power import detectable_gap, fisher_power, observed_power, rejection, required_n
from coherence.stats.tables import Counts


@pytest.mark.parametrize(
    ("p1", "p0", "expected"),
    [(0.9375, 13 / 28, 0.87676589), (0.75, 17 / 31, 0.18575803)],
    ids=["qwen-size effect", "gemma's own effect"],
)
def test_power_of_the_papers_second_dataset(p1: float, p0: float, expected: float) -> None:
    assert fisher_power(12, p1, 31, p0) == pytest.approx(expected, abs=1e-7)


def test_actual_size_stays_below_the_nominal_level() -> None:
    assert fisher_power(12, 26 / 43, 31, 26 / 43) == pytest.approx(0.03696856, abs=1e-7)


def test_rejection_agrees_with_scipy_on_every_table() -> None:
    rejected = rejection(7, 9)
    expected = [
        [fisher_exact(np.array([[a, 7 - a], [b, 9 - b]])).pvalue <= 0.05 for b in range(10)] for a in range(8)
    ]
    assert rejected.tolist() == expected


def test_detectable_gap_has_the_power_it_promises() -> None:
    gap = detectable_gap(12, 31, 0.6)
    assert gap is not None
    assert fisher_power(12, 0.6 + gap * 31 / 43, 31, 0.6 - gap * 12 / 43) >= 0.8


def test_no_gap_is_detectable_in_a_tiny_sample() -> None:
    assert detectable_gap(1, 2, 0.5) is None


def test_observed_power_is_that_of_the_rates_seen() -> None:
    assert observed_power(Counts(9, 12, 17, 31)) == pytest.approx(0.18575803, abs=1e-7)
    assert observed_power(Counts(0, 0, 17, 31)) is None


def test_the_number_the_papers_second_dataset_needed() -> None:
    found = required_n(0.28, 0.75, 17 / 31)
    assert found is not None
    assert 230 <= found.n <= 236  # statistics 1.5: about 235 at 28 % flagged
    assert found.power >= 0.8
    assert found.power == pytest.approx(fisher_power(found.risky_n, 0.75, found.safe_n, 17 / 31))


def test_no_smaller_number_will_do() -> None:
    found = required_n(0.4, 0.95, 0.4)
    assert found is not None
    smaller = [(round(n * 0.4), n - round(n * 0.4)) for n in range(3, found.n)]
    assert all(fisher_power(n1, 0.95, n0, 0.4) < 0.8 for n1, n0 in smaller)


def test_equal_rates_need_more_than_any_number() -> None:
    assert required_n(0.5, 0.5, 0.5) is None
