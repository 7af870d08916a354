"""Detector against marker count: the joint table that the paper's text determines (reference, 1.4)."""

import pytest
from msgspec.structs import replace

from coherence.evaluation.detector_pairs import DetectorPair, detector_pairs, table
from coherence.evaluation.groups import splits
from coherence.evaluation.table import Row
from coherence.stats.paired import mcnemar
from paper_rows import SETTINGS, rows


def pair(made: list[Row]) -> DetectorPair:
    return next(detector_pairs(tuple(splits(made, SETTINGS)), SETTINGS))


def test_the_joint_table() -> None:
    found = pair(rows())
    cells = (found.both, found.first_only, found.second_only, found.neither)
    assert [(cell.count, cell.n) for cell in cells] == [(14, 14), (1, 2), (5, 7), (8, 21)]
    assert found.right == mcnemar(1 + 2, 1 + 5)


def test_the_exchange_is_at_the_detectors_number_of_flags() -> None:
    found = pair(rows())
    assert found.exchange.k == 16
    assert (found.exchange.lowest, found.exchange.highest) == pytest.approx((1, 1))


def test_ties_at_the_border_give_two_values() -> None:
    flat = [replace(row, features={**row.features, "lexical": 2.0 + (row.id == "t00")}) for row in rows()]
    found = pair(flat)
    assert found.exchange.lowest is not None
    assert found.exchange.highest is not None
    assert found.exchange.lowest < 0.001
    assert found.exchange.highest > 0.9
    assert table([found]).rows[0][-1] == "< 0.001 to 1.000 (k = 16)"


def test_extremes_in_opposite_directions_leave_everything_open() -> None:
    made = [
        replace(row, features={**row.features, "lexical": 0.0}, outcome="failed" if number % 2 else "passed")
        for number, row in enumerate(rows())
    ]
    found = pair(made)
    assert found.exchange.lowest is not None
    assert found.exchange.lowest < 0.05
    assert found.exchange.highest == 1


def test_only_trajectories_that_both_divide_are_compared() -> None:
    unmeasured = [replace(row, features={**row.features, "lexical": None}) for row in rows()[:5]]
    assert pair(unmeasured + rows()[5:]).n == 39


def test_features_are_not_compared_with_each_other() -> None:
    found = detector_pairs(tuple(splits(rows(), SETTINGS)), SETTINGS)
    assert {row.first for row in found} == {"detector"}
