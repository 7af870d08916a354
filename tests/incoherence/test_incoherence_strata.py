from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from coherence.incoherence.strata import difficulty_for_others, equal_buckets, equal_halves, halves, medians
from coherence.incoherence.trends import Ranked, Trend, pooled_trend, trend

LENGTHS = st.lists(st.one_of(st.integers(0, 4).map(float), st.just(nan)), min_size=1, max_size=30)


@pytest.mark.parametrize(
    ("values", "buckets", "found"),
    [
        ([3, 1, 2, 4], 2, [1, 0, 0, 1]),
        ([5, 5, 5, 5], 2, [1, 1, 1, 1]),
        ([1, 2, 2, 3], 2, [0, 1, 1, 1]),
        ([1, nan, 2], 2, [0, -1, 1]),
        ([7], 4, [2]),
        ([], 3, []),
        ([1, 2, 3, 4, 5, 6, 7, 8, 9], 3, [0, 0, 0, 1, 1, 1, 2, 2, 2]),
    ],
    ids=["two", "all equal", "ties together", "unknown", "one item", "none", "nine in three"],
)
def test_equal_buckets(values: list[float], buckets: int, found: list[int]) -> None:
    assert equal_buckets(np.array(values, dtype=float), buckets).tolist() == found


@given(LENGTHS, st.integers(1, 5))
def test_buckets_rise_and_hold_equal_values_together(values: list[float], buckets: int) -> None:
    array = np.array(values)
    found = equal_buckets(array, buckets)
    for one, other in ((0.0, 1.0), (1.0, 2.0), (2.0, 3.0)):
        low, high = found[array == one], found[array == other]
        assert len(set(low)) <= 1
        assert not len(low) or not len(high) or low.max() <= high.min()
    assert found.max() < buckets


@given(LENGTHS)
def test_medians_are_numpys(values: list[float]) -> None:
    array = np.array([*values, 9.0])
    item = np.array([*(place % 3 for place in range(len(values))), 3])
    expected = [
        np.nanmedian(own) if np.isfinite(own := array[item == number]).any() else nan for number in range(5)
    ]
    assert medians(item, array, 5) == pytest.approx(expected, nan_ok=True)


def test_halves_put_ties_above() -> None:
    item = np.array([0, 0, 0, 0, 0, 1, 1, 1, 2])
    value = np.array([1, 2, 2, 2, 3, 5, 5, 5, nan])
    assert halves(item, value, 3).tolist() == [0, 1, 1, 1, 1, 1, 1, 1, -1]


def test_equal_halves_keep_those_farthest_from_the_median() -> None:
    item = np.array([0, 0, 0, 0, 0, 1, 1, 1, 2])
    value = np.array([1, 2, 2.5, 4, 3, 5, 5, 5, nan])
    assert equal_halves(item, value, 3).tolist() == [0, 0, -1, 1, 1, -1, -1, -1, -1]


@given(LENGTHS)
def test_equal_halves_are_equal(values: list[float]) -> None:
    item = np.array([place % 3 for place in range(len(values))])
    array = np.array(values)
    found, plain = equal_halves(item, array, 3), halves(item, array, 3)
    for number in range(3):
        own = found[item == number]
        assert (own == 0).sum() == (own == 1).sum()
        assert (own == 0).sum() == min((plain[item == number] == 0).sum(), (plain[item == number] == 1).sum())
        if (own == 0).any():
            lengths = array[item == number]
            assert lengths[own == 0].max() < lengths[own == 1].min()


def test_difficulty_is_that_for_the_other_groups() -> None:
    tasks = [np.array([0, 1]), np.array([0, 1, 2]), np.array([2, 0, 1]), np.array([], dtype=np.int64)]
    error = [np.array([1.0, 0.0]), np.array([0.5, nan, nan]), np.array([0.25, 0.0, 1.0]), np.array([])]
    first, second, third, none = difficulty_for_others(tasks, error)
    assert first == pytest.approx([0.25, 1.0])
    assert second == pytest.approx([0.5, 0.5, 0.25])
    assert third == pytest.approx([nan, 0.75, 0.0], nan_ok=True)
    assert none.tolist() == []


def test_a_trend_and_where_there_is_none() -> None:
    rising = np.array([1.0, 2.0, 3.0, 4.0, nan])
    found = trend(rising, rising**2)
    assert found.n == 4
    assert found.tau == pytest.approx(1)
    assert found.p == pytest.approx(1 / 12)
    assert trend(rising, np.ones(5)).tau is None
    assert trend(rising[:2], rising[:2]).p is None
    assert trend(np.array([inf, 1.0, 2.0]), np.array([3.0, 1.0, 2.0])).tau == pytest.approx(1)


def ranked(by: list[float], of: list[float], first: int = 0) -> Ranked:
    return Ranked(np.arange(first, first + len(by)), np.array(by, float), np.array(of, float))


BY, OF = [1.0, 2, 2, 4, 5, 6, nan, 8], [0.1, 0.5, 0.5, 0.2, nan, 0.9, 0.3, 0.8]


def test_the_trend_of_one_group_is_its_own() -> None:
    alone, found = trend(np.array(BY), np.array(OF)), pooled_trend([ranked(BY, OF)])
    assert found.n == alone.n == 6
    assert found.tau == pytest.approx(alone.tau)
    assert found.p is not None


def test_what_rounding_parts_is_tied() -> None:
    by, of = np.array([1.0, 2, 3, 4, 5]), np.array([0.0, 0.7 - 0.6 - 0.1, 0.3, 0.1 + 0.2, 0.9])
    exact = np.array([0.0, 0.0, 0.3, 0.3, 0.9])
    assert trend(by, of) == trend(by, exact)
    assert pooled_trend([ranked(list(by), list(of))] * 2) == pooled_trend([ranked(list(by), list(exact))] * 2)
    assert trend(by, 1e-30 * by).tau == pytest.approx(1)
    assert trend(by, np.array([0.3, 0.1 + 0.2, 0.3, 0.3, 0.3])).tau is None


@pytest.mark.parametrize("values", [2, 5, 1000])
def test_all_pairs_count_also_where_many_are_tied(values: int) -> None:
    by, of = np.random.default_rng(values).integers(0, values, (2, 3, 37)).astype(float)
    signs = [np.sign(each[:, :, None] - each[:, None, :]) for each in (by, of)]
    tau = (signs[0] * signs[1]).sum() / np.sqrt(np.prod([np.abs(each).sum() for each in signs]))
    found = pooled_trend([ranked(list(x), list(y)) for x, y in zip(by, of, strict=True)])
    assert found.tau == pytest.approx(tau)


def test_the_tasks_of_a_large_group_are_not_set_against_each_other_one_by_one() -> None:
    n = 50_000  # for which a table of all pairs would take 20 GB
    by = np.random.default_rng(1).random(n)
    found = pooled_trend([Ranked(np.arange(n), by, np.where(by < 0.5, by, 1 - by))])
    assert found.tau == pytest.approx(0, abs=0.02)


def test_groups_that_repeat_each_other_tell_no_more_than_one() -> None:
    once, thrice = (pooled_trend([ranked(BY, OF)] * times) for times in (1, 3))
    assert (once.n, once.tau, once.p) == pytest.approx((thrice.n, thrice.tau, thrice.p))


def test_differences_between_groups_are_no_trend() -> None:
    low, high = [1.0, 2, 3, 4], [101.0, 102, 103, 104]
    found = pooled_trend([ranked(low, [0.2, 0.1, 0.2, 0.1]), ranked(high, [0.8, 0.9, 0.8, 0.9], first=2)])
    assert found.n == 6
    assert found.tau == pytest.approx(0)


def test_the_standard_error_leaves_out_one_task_of_all_groups() -> None:
    random = np.random.default_rng(5)
    by, of = random.normal(size=(2, 12)), random.normal(size=(2, 12))

    def of_tasks(kept: "np.ndarray[Any, Any]") -> Trend:
        return pooled_trend([ranked(list(x[kept]), list(y[kept])) for x, y in zip(by, of, strict=True)])

    whole, without = of_tasks(np.arange(12)), [of_tasks(np.delete(np.arange(12), k)) for k in range(12)]
    spread = np.array([found.tau for found in without], float)
    error = (11 / 12 * ((spread - spread.mean()) ** 2).sum()) ** 0.5
    assert whole.tau is not None
    assert whole.p == pytest.approx(2 * t.sf(abs(whole.tau) / error, 11))


@pytest.mark.parametrize(
    ("by", "of", "n"),
    [([1, 2], [1, 2], 2), ([1, 1, 1, 1], [1, 2, 3, 4], 4), ([nan] * 3, [1, 2, 3], 0), ([], [], 0)],
    ids=["two tasks", "constant", "unknown", "nothing"],
)
def test_no_pooled_trend(by: list[float], of: list[float], n: int) -> None:
    found = pooled_trend([ranked(by, of), ranked(by, of)])
    assert (found.n, found.tau, found.p) == (n, None, None)


def test_a_perfect_trend_has_no_spread_and_no_p() -> None:
    found = pooled_trend([ranked([1, 2, 3, 4], [1, 2, 3, 4])])
    assert found.tau == pytest.approx(1)
    assert found.p is None
