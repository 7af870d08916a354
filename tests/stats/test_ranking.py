"""Precision at k against enumeration of every way the ties can fall."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.stats.ranking import precision_at_k

ROWS = st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=8)


@given(ROWS, st.integers(1, 8))
def test_expected_and_extremes_agree_with_enumeration(rows: list[tuple[int, bool]], k: int) -> None:
    found = precision_at_k([score for score, _ in rows], [bad for _, bad in rows], k)
    if k > len(rows):
        assert found is None
        return
    border = sorted((score for score, _ in rows), reverse=True)[k - 1]
    above = [bad for score, bad in rows if score > border]
    tied = [bad for score, bad in rows if score == border]
    ways = [sum(above) + sum(drawn) for drawn in combinations(tied, k - len(above))]
    assert found is not None
    assert found.expected == pytest.approx(sum(ways) / len(ways))
    assert (found.lowest, found.highest) == (min(ways), max(ways))


def test_ties_that_all_fit_are_no_ties() -> None:
    found = precision_at_k([3, 2, 2, 1], [True, False, True, True], 3)
    assert found is not None
    assert (found.expected, found.lowest, found.highest, found.tied) == (2, 2, 2, 0)


@pytest.mark.parametrize("k", [0, -1, 5])
def test_no_precision_without_k_scores(k: int) -> None:
    assert precision_at_k([1, 2], [True, False], k) is None
