"""Golden values: exact enumeration of the paper's group sizes (own enumeration, cross-checked)."""

import numpy as np
import pytest
from scipy.stats import fisher_exact

from coherence.stats.power import detectable_gap, fisher_power, rejection


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
