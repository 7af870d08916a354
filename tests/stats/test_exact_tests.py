"""Golden values: own enumeration on a 200,001-point grid, R 4.2.2 and scipy (reference/golden_values)."""

from math import inf

import pytest
from scipy.stats import barnard_exact, boschloo_exact

from coherence.stats.exact_tests import (
    MOST,
    barnard,
    boschloo,
    conditional_odds_ratio,
    mid_p,
)
from coherence.stats.tables import Counts

QWEN, WITHOUT_SEEDS, GEMMA = Counts(15, 16, 13, 28), Counts(12, 13, 13, 28), Counts(9, 12, 17, 31)


@pytest.mark.parametrize(
    ("counts", "p", "tolerance"),
    [(QWEN, 0.001916, 1e-6), (GEMMA, 0.237199, 1e-6), (WITHOUT_SEEDS, 0.00378, 5e-6)],
    ids=["qwen", "gemma", "seeds excluded"],
)
def test_mid_p_golden(counts: Counts, p: float, tolerance: float) -> None:
    assert mid_p(counts) == pytest.approx(p, abs=tolerance)


@pytest.mark.parametrize(
    ("counts", "p", "tolerance"),
    [(QWEN, 0.0014407184811, 1e-8), (WITHOUT_SEEDS, 0.004918308, 1e-7), (GEMMA, 0.2598, 5e-5)],
    ids=["qwen", "seeds excluded, where scipy misses the maximum", "gemma"],
)
def test_barnard_golden(counts: Counts, p: float, tolerance: float) -> None:
    assert barnard(counts) == pytest.approx(p, abs=tolerance)


@pytest.mark.parametrize(
    ("counts", "p", "tolerance"),
    [(QWEN, 0.0012221345126, 1e-8), (WITHOUT_SEEDS, 0.005117, 5e-7), (GEMMA, 0.2475, 5e-5)],
    ids=["qwen", "seeds excluded", "gemma"],
)
def test_boschloo_golden(counts: Counts, p: float, tolerance: float) -> None:
    assert boschloo(counts) == pytest.approx(p, abs=tolerance)


@pytest.mark.parametrize("cells", [(3, 7, 1, 9), (0, 5, 4, 6), (2, 2, 2, 8), (1, 4, 1, 4)], ids=str)
def test_scipy_finds_no_larger_p(cells: tuple[int, int, int, int]) -> None:
    a, n1, b, n0 = cells
    table = [[a, b], [n1 - a, n0 - b]]  # scipy takes groups as columns
    counts, precise = Counts(*cells), 1e-6
    assert barnard(counts) == pytest.approx(barnard_exact(table).pvalue, abs=precise)
    assert boschloo(counts) == pytest.approx(boschloo_exact(table).pvalue, abs=precise)


def test_conditional_odds_ratio_golden() -> None:
    found = conditional_odds_ratio(QWEN)
    assert found is not None
    figures = (found.value, found.interval.low, found.interval.high)
    assert figures == pytest.approx((16.31898914127829, 1.9904759223, 775.9976861933), abs=1e-6)


def test_an_odds_ratio_can_be_infinite() -> None:
    found = conditional_odds_ratio(Counts(10, 10, 9, 22))
    assert found is not None
    assert (found.value, found.interval.high) == (inf, inf)


@pytest.mark.parametrize("counts", [Counts(0, 0, 2, 4), Counts(0, 3, 0, 4)], ids=["empty", "no failure"])
def test_an_empty_margin_has_no_odds_ratio(counts: Counts) -> None:
    assert conditional_odds_ratio(counts) is None


def test_an_empty_group_has_no_p() -> None:
    empty = Counts(0, 0, 2, 4)
    assert (mid_p(empty), barnard(empty), boschloo(empty)) == (None, None, None)


def test_large_tables_are_left_to_the_other_tests() -> None:
    large = Counts(200, MOST, 100, MOST)
    assert (barnard(large), boschloo(large)) == (None, None)
