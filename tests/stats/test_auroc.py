"""Golden values: pROC 1.18.0."""

import pytest

from coherence.stats.auroc import auroc, delong, permutation_p
from coherence.stats.intervals import Bootstrap

FAILED = [bool(y) for y in (1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0)]
A = [9, 8, 7, 3, 5, 6, 1, 2, 5, 4, 3, 6, 8, 2]
B = [7, 9, 4, 4, 6, 2, 3, 1, 5, 2, 6, 3, 9, 1]


def test_delong_golden() -> None:
    found = delong(A, B, FAILED)
    assert found is not None
    areas = (found.first.value, found.second.value, found.first.variance, found.second.variance)
    assert areas == pytest.approx((0.887755102, 0.8163265306, 0.007705122865, 0.0140219353), abs=1e-9)
    tests = (found.covariance, found.z, found.p)
    assert tests == pytest.approx((0.002481604887, 0.5516772844, 0.5811694759), abs=1e-9)


def test_ties_are_halves_and_their_bounds_are_shown() -> None:
    found = auroc([1, 1, 0], [True, False, False])
    assert found is not None
    assert (found.value, found.lowest, found.highest) == (0.75, 0.5, 1.0)


def test_scores_of_any_order_will_do() -> None:
    plain = auroc(A, FAILED)
    assert auroc([(value > 4, value) for value in A], FAILED) == plain


def test_a_perfect_ranking_has_no_interval() -> None:
    found = auroc([2, 2, 1], [True, True, False])
    assert found is not None
    assert (found.value, found.interval) == (1.0, None)


def test_a_score_does_not_differ_from_itself() -> None:
    found = delong(A, [2 * value for value in A], FAILED)
    assert found is not None
    assert (found.difference, found.z, found.p) == (0, None, None)


@pytest.mark.parametrize("failed", [[True, True], [False, False], []], ids=["all", "none", "empty"])
def test_one_outcome_has_no_area(failed: list[bool]) -> None:
    scores = list(range(len(failed)))
    assert auroc(scores, failed) is None
    assert delong(scores, scores, failed) is None
    assert permutation_p(scores, scores, failed, Bootstrap()) is None


def test_permutation_is_exact_where_it_is_small_and_seeded() -> None:
    failed = [True, False, True, False]
    one, two = [4, 1, 3, 2], [1, 4, 2, 3]
    assert permutation_p(one, two, failed, Bootstrap(100, 1)) == 0.125  # 2 of the 16 ways to swap
    draws = [permutation_p(A, B, FAILED, Bootstrap(500, 7)) for _ in range(2)]
    assert draws[0] == draws[1]
