"""Precision over all k, and its agreement with the single cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.evaluation.precision import precision_curves, table
from coherence.stats.ranking import precision_at_k, precision_over_k
from paper_rows import SETTINGS, rows

SCORED = st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=30)


@given(SCORED)
def test_every_point_is_the_cut_at_its_k(pairs: list[tuple[int, bool]]) -> None:
    scores, failed = [score for score, _ in pairs], [bad for _, bad in pairs]
    points = list(precision_over_k(scores, failed, 100))
    assert [point.k for point in points] == list(range(1, len(pairs) + 1))
    assert points == [precision_at_k(scores, failed, point.k) for point in points]


@given(SCORED, st.integers(2, 9))
def test_a_curve_of_few_points_has_both_ends(pairs: list[tuple[int, bool]], most: int) -> None:
    ks = [
        point.k for point in precision_over_k([score for score, _ in pairs], [bad for _, bad in pairs], most)
    ]
    assert len(ks) <= most
    assert (ks[0], ks[-1]) == (1, len(pairs))
    assert ks == sorted(set(ks))


def test_no_scores_make_no_points() -> None:
    assert list(precision_over_k([], [], 10)) == []


def test_the_table_has_every_point_and_the_end_is_the_base_rate() -> None:
    curves = list(precision_curves(rows(), SETTINGS))
    assert [(curve.ranked_by, curve.judge, curve.flagged) for curve in curves] == [
        ("detector", "detector", 16),
        ("lexical", "-", 0),
        ("think_chars", "-", 0),
    ]
    for curve in curves:
        assert curve.points[-1].expected == curve.failed == 28
    made = table(curves)
    assert (len(made.rows), len(made.records)) == (3, 3 * 44)
    at_16 = next(one for one in made.records if one["ranked_by"] == "detector" and one["k"] == 16)
    assert at_16["failed_expected"] == pytest.approx(15)
