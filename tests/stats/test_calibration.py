from itertools import permutations

import pytest

from coherence.stats.calibration import calibration

LEVELS = [2, 3, 3, 3, 4, 4, 5]
FAILED = [False, True, True, False, True, False, True]


def test_each_level_has_an_exact_interval() -> None:
    found = calibration(LEVELS, FAILED)
    assert [(level.level, level.failed.count, level.failed.n) for level in found.levels] == [
        (2, 0, 1),
        (3, 2, 3),
        (4, 1, 2),
        (5, 1, 1),
    ]
    assert found.levels[0].failed.interval is not None
    assert found.levels[0].failed.interval.high == pytest.approx(0.975)
    assert found.n == 7


def test_the_permutation_test_tries_every_arrangement() -> None:
    middle, failures = sum(LEVELS) / 7, 4
    sums = [sum(order[:failures]) / failures for order in permutations(LEVELS)]
    observed = sum(level for level, bad in zip(LEVELS, FAILED, strict=True) if bad) / failures
    extreme = [abs(mean - middle) >= abs(observed - middle) - 1e-12 for mean in sums]
    assert calibration(LEVELS, FAILED).permutation_p == pytest.approx(sum(extreme) / len(extreme))


def test_a_clear_trend_is_found() -> None:
    found = calibration([1] * 8 + [5] * 8, [False] * 8 + [True] * 8)
    assert found.trend_p is not None
    assert found.permutation_p is not None
    assert found.trend_p < 0.001
    assert found.permutation_p < 0.005


@pytest.mark.parametrize(
    ("levels", "failed"),
    [([3, 3], [True, False]), ([1, 2], [True, True]), ([], [])],
    ids=["one level", "one outcome", "none"],
)
def test_no_trend_without_two_levels_and_two_outcomes(levels: list[int], failed: list[bool]) -> None:
    found = calibration(levels, failed)
    assert (found.trend_p, found.permutation_p) == (None, None)


def test_one_pass_alone_has_an_exact_p() -> None:
    assert calibration([2, 3, 4, 5, 5], [False, True, True, True, True]).permutation_p == 0.2
    assert calibration([5, 4, 4, 4, 5], [False, True, True, True, True]).permutation_p == 0.4
