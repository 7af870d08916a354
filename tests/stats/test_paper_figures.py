"""Figures of the reference (statistics 1.1 to 1.5) that no other test of a single method holds."""

import pytest

from coherence.stats.differences import miettinen_nurminen
from coherence.stats.exact_tests import probability
from coherence.stats.proportions import clopper_pearson
from coherence.stats.rounding import half_up
from coherence.stats.strata import mantel_haenszel, zelen
from coherence.stats.tables import Counts, compare, fisher

DETECTOR, LEXICAL, GENERIC = Counts(15, 16, 13, 28), Counts(19, 21, 9, 23), Counts(26, 38, 2, 6)
SIMPLE = {"length": Counts(16, 21, 12, 23), "calls": Counts(15, 20, 13, 24), "errors": Counts(10, 13, 18, 31)}
GEMMA = Counts(9, 12, 17, 31)


def gap(counts: Counts) -> float:
    assert counts.gap is not None
    return float(counts.gap)


def test_without_the_prompts_own_tasks() -> None:
    found = compare(Counts(12, 13, 13, 28))
    assert found.points == 46
    assert found.gap == pytest.approx(45.88, abs=0.005)


def test_the_detector_beyond_the_baselines() -> None:
    assert gap(DETECTOR) - gap(GENERIC) == pytest.approx(12.23, abs=0.005)
    beyond = sorted(gap(DETECTOR) - gap(counts) for counts in SIMPLE.values())
    assert (beyond[0], beyond[-1]) == pytest.approx((23.30, 28.46), abs=0.005)


@pytest.mark.parametrize(
    ("flagged", "share"),
    [(16, 36), (38, 86), (21, 48), (10, 23)],
    ids=["detector", "generic", "lexical", "both"],
)
def test_selectivity(flagged: int, share: int) -> None:
    assert half_up(100 * flagged / 44) == share


@pytest.mark.parametrize(
    ("counts", "p"),
    [(Counts(0, 1, 4, 13), 1.0), (Counts(5, 5, 6, 10), 0.231), (Counts(10, 10, 3, 5), 0.095)],
    ids=["low", "middle", "high"],
)
def test_no_tertile_is_significant_alone(counts: Counts, p: float) -> None:
    assert fisher(counts) == pytest.approx(p, abs=5e-4)


def test_the_joint_flag_was_chosen_after_the_fact() -> None:
    assert probability(Counts(10, 10, 18, 34)) == pytest.approx(0.0053, abs=5e-5)  # 10 of 10 at random
    at_least = sum(probability(Counts(k, 16, 28 - k, 28)) for k in (15, 16))
    assert at_least == pytest.approx(0.0015, abs=5e-5)


def test_ten_of_ten() -> None:
    found = clopper_pearson(10, 10)
    assert found is not None
    assert found.low == pytest.approx(0.025**0.1)


def test_without_thoughtless_trajectories() -> None:
    found = compare(Counts(9, 12, 9, 18))
    assert found.gap == pytest.approx(25)
    assert found.fisher_p == pytest.approx(0.26, abs=0.005)


def test_high_tertile_of_the_second_dataset() -> None:
    found = compare(Counts(7, 8, 4, 7))
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((-14, 64), abs=0.5)
    assert found.fisher_p == pytest.approx(0.28, abs=0.005)


def test_not_being_in_the_lowest_tertile_as_a_baseline() -> None:
    found = compare(Counts(24, 30, 4, 14))
    assert found.gap == pytest.approx(51.4, abs=0.05)
    assert found.fisher_p == pytest.approx(0.0019, abs=5e-5)


def test_the_two_datasets_do_not_differ_for_certain() -> None:
    assert gap(DETECTOR) - gap(GEMMA) == pytest.approx(27.2, abs=0.05)
    assert zelen([DETECTOR, GEMMA]) == pytest.approx(0.2356, abs=5e-5)
    pooled = mantel_haenszel([DETECTOR, GEMMA])
    assert pooled is not None
    assert pooled.gap == pytest.approx(34.85, abs=0.005)


def test_intervals_of_the_reference_table_in_points() -> None:
    found = miettinen_nurminen(LEXICAL)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((24.3, 71.3), abs=0.05)
