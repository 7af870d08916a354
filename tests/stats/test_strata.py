"""Golden values: R 4.2.2 mantelhaen.test and own enumeration (reference/golden_values, statistics 1.5)."""

from itertools import product
from math import comb, inf

import pytest

from coherence.stats.strata import (
    breslow_day,
    cmh,
    exact_cmh,
    mantel_haenszel,
    standardised,
    zelen,
)
from coherence.stats.tables import Counts

LOW = Counts(0, 1, 4, 13)
QWEN = {  # all whole-number solutions of the paper's tertiles
    "A": [LOW, Counts(5, 5, 6, 10), Counts(10, 10, 3, 5)],
    "B": [LOW, Counts(10, 10, 3, 5), Counts(5, 5, 6, 10)],
    "C": [LOW, Counts(4, 4, 6, 10), Counts(11, 11, 3, 5)],
    "D": [LOW, Counts(9, 9, 3, 5), Counts(6, 6, 6, 10)],
}
GEMMA = [Counts(1, 1, 8, 13), Counts(1, 3, 5, 11), Counts(7, 8, 4, 7)]
BOTH = [Counts(15, 16, 13, 28), Counts(9, 12, 17, 31)]
GIVEN_LEXICAL = [Counts(14, 14, 5, 7), Counts(1, 2, 8, 21)]
GIVEN_DETECTOR = [Counts(14, 14, 1, 2), Counts(5, 7, 8, 21)]


def test_cmh_golden() -> None:
    found = cmh(QWEN["A"])
    assert found is not None
    assert (found.chi2, found.p) == pytest.approx((4.310344828, 0.03788128232), abs=1e-7)
    assert found.odds_ratio == pytest.approx(9.333333333, abs=1e-7)


def test_exact_cmh_golden() -> None:
    found = exact_cmh(QWEN["A"])
    assert found is not None
    assert (found.two_sided, found.greater) == pytest.approx((0.07278662381, 0.04754429244), abs=1e-6)
    assert found.odds_ratio == pytest.approx(
        7.96407332, rel=1e-5
    )  # R's own root is as loose as in fisher.test


def test_two_models_pooled_golden() -> None:
    exact, plain, gap = exact_cmh(BOTH), cmh(BOTH), mantel_haenszel(BOTH)
    assert exact is not None
    assert plain is not None
    assert gap is not None
    assert exact.two_sided == pytest.approx(0.002050926821, abs=1e-7)
    assert (plain.odds_ratio, plain.chi2) == pytest.approx((5.429539779, 9.510328517), abs=1e-7)
    assert gap.gap == pytest.approx(34.9, abs=0.06)  # statistics 1.5


def test_gap_and_sato_variance_golden() -> None:
    found = mantel_haenszel(GEMMA)
    assert found is not None
    assert (found.gap / 100, found.se / 100) == pytest.approx((0.1716, 0.1729), abs=5e-5)


@pytest.mark.parametrize(
    ("strata", "p"),
    [(BOTH, 0.235601327), (QWEN["A"], 0.2413793103448276), (GEMMA, 0.5473053892)],
    ids=["qwen against gemma", "qwen tertiles", "gemma tertiles"],
)
def test_zelen_golden(strata: list[Counts], p: float) -> None:
    assert zelen(strata) == pytest.approx(p, abs=1e-8)


def test_breslow_day_golden() -> None:
    found = breslow_day(BOTH)
    assert found is not None
    assert (found.breslow_day, found.tarone) == pytest.approx((0.1274256, 0.1283863), abs=1e-6)


@pytest.mark.parametrize("strata", QWEN.values(), ids=QWEN)
def test_every_solution_of_the_qwen_tertiles_says_the_same(strata: list[Counts]) -> None:
    gap, plain, exact = mantel_haenszel(strata), cmh(strata), exact_cmh(strata)
    assert gap is not None
    assert plain is not None
    assert exact is not None
    assert 30.85 <= gap.gap <= 31.75
    assert 1.5 <= gap.interval.low <= 4.5
    assert 58.5 <= gap.interval.high <= 60.5
    assert 0.0325 <= plain.p <= 0.0445
    assert 0.0695 <= exact.two_sided <= 0.0795
    assert 0.0405 <= exact.greater <= 0.0565


def test_standardised_gaps() -> None:
    assert standardised(QWEN["A"], "risky") == pytest.approx(35.6, abs=0.05)
    assert standardised(QWEN["A"], "all") == pytest.approx(17.5, abs=0.05)


def test_gemma_tertiles_exact_p() -> None:
    found = exact_cmh(GEMMA)
    assert found is not None
    assert found.two_sided == pytest.approx(0.44, abs=0.005)


@pytest.mark.parametrize(
    ("strata", "gap", "p", "exact"),
    [(GIVEN_LEXICAL, 23.9, 0.098, 0.130), (GIVEN_DETECTOR, 37.5, 0.030, 0.042)],
    ids=["detector given lexical", "lexical given detector"],
)
def test_detector_and_lexical_given_each_other(
    strata: list[Counts], gap: float, p: float, exact: float
) -> None:
    adjusted, plain, conditional = mantel_haenszel(strata), cmh(strata), exact_cmh(strata)
    assert adjusted is not None
    assert plain is not None
    assert conditional is not None
    assert adjusted.gap == pytest.approx(gap, abs=0.05)
    assert plain.p == pytest.approx(p, abs=5e-4)
    assert conditional.two_sided == pytest.approx(exact, abs=5e-4)


def test_zelen_is_the_enumeration_in_whole_numbers() -> None:
    strata = [Counts(2, 3, 1, 4), Counts(1, 4, 3, 4), Counts(0, 2, 2, 3)]

    def ways(stratum: Counts, risky_fail: int) -> int:
        failed = stratum.risky_fail + stratum.safe_fail
        return comb(stratum.risky_n, risky_fail) * (
            comb(stratum.safe_n, failed - risky_fail) if failed >= risky_fail else 0
        )

    chances = [
        ways(strata[0], a) * ways(strata[1], b) * ways(strata[2], c)
        for a, b, c in product(range(4), range(5), range(3))
        if a + b + c == 3
    ]
    observed = ways(strata[0], 2) * ways(strata[1], 1) * ways(strata[2], 0)
    assert zelen(strata) == pytest.approx(sum(c for c in chances if c <= observed) / sum(chances))


def test_strata_without_both_groups_are_left_out_and_counted() -> None:
    found = mantel_haenszel([*GEMMA, Counts(0, 0, 3, 5)])
    alone = mantel_haenszel(GEMMA)
    assert found is not None
    assert alone is not None
    assert (found.gap, found.left_out) == (alone.gap, 1)


def test_nothing_to_compare_is_none() -> None:
    empty = [Counts(0, 0, 3, 5)]
    assert (mantel_haenszel(empty), cmh(empty), exact_cmh(empty)) == (None, None, None)
    assert (zelen(empty), breslow_day(empty), standardised(empty, "all")) == (None, None, None)


def test_an_infinite_odds_ratio_is_said() -> None:
    strata = [Counts(3, 3, 1, 4), Counts(2, 2, 2, 4)]
    plain, exact = cmh(strata), exact_cmh(strata)
    assert plain is not None
    assert exact is not None
    assert (plain.odds_ratio, exact.odds_ratio) == (inf, inf)
    assert breslow_day(strata) is None
