"""Figures of the paper's first dataset; the tests themselves are proven in tests/stats."""

import pytest
from msgspec.structs import replace

from coherence.evaluation.further_tests import FurtherTest, further_tests, table
from coherence.evaluation.groups import splits
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row
from coherence.stats.multiplicity import holm
from paper_rows import SETTINGS, rows


def by_reading(
    made: list[Row], settings: EvaluationSettings = SETTINGS
) -> dict[tuple[str, str], FurtherTest]:
    found = further_tests(tuple(splits(made, settings)), settings)
    return {(row.reading.name, row.reading.label): row for row in found}


def test_the_detector_of_the_paper() -> None:
    found = by_reading(rows())["detector", "flagged"]
    assert found.miettinen_nurminen is not None
    assert (found.miettinen_nurminen.low, found.miettinen_nurminen.high) == pytest.approx(
        (19.91, 66.44), abs=0.005
    )
    assert (found.mid_p, found.boschloo_p) == pytest.approx((0.001916, 0.001222), abs=1e-6)
    assert found.clustered is None  # no task repeats


def test_holm_is_within_the_family_and_variants_are_outside_it() -> None:
    seeds = replace(SETTINGS, seeds={"detector": ("task10",)})
    found = by_reading(rows(), seeds)
    members = [row for row in found.values() if row.holm_p is not None]
    assert [row.reading.name for row in members] == ["detector", "lexical", "think_chars"]
    assert [row.holm_p for row in members] == list(holm([row.comparison.fisher_p for row in members]))
    assert {row.family for row in found.values()} == {3}
    assert found["detector", "flagged, without the prompt's own tasks"].holm_p is None


def test_the_family_can_be_declared() -> None:
    found = by_reading(rows(), replace(SETTINGS, family=("detector", "lexical")))
    assert found["think_chars", "above median"].holm_p is None
    assert found["detector", "flagged"].holm_p == pytest.approx(0.002635, abs=1e-6)
    assert by_reading(rows(), replace(SETTINGS, family=("other",)))["detector", "flagged"].family == 0


def test_repeated_tasks_are_resampled_whole() -> None:
    found = by_reading([replace(row, task=f"task{int(row.id[1:]) // 4}") for row in rows()])[
        "detector", "flagged"
    ]
    assert found.clustered is not None
    assert (found.clustered.clusters, found.clustered.largest) == (11, 4)


def test_a_group_that_is_empty_has_a_reason_and_no_tests() -> None:
    unflagged = [row for row in rows() if row.verdicts["detector"].state == "unflagged"]
    found = by_reading(unflagged)["detector", "flagged"]
    assert found.comparison.reason == "no trajectory is risky"
    assert (found.miettinen_nurminen, found.mid_p, found.holm_p, found.power) == (None,) * 4
    assert "not applicable: no trajectory is risky" in table([found], SETTINGS).rows[0]


def test_a_side_of_one_outcome_has_its_reason_in_the_place_of_the_interval() -> None:
    repeated = [replace(row, task=f"task{int(row.id[1:]) // 4}") for row in rows()]
    alike = [
        replace(row, outcome="failed") if row.verdicts["detector"].state == "flagged" else row
        for row in repeated
    ]
    found = by_reading(alike)["detector", "flagged"]
    assert "none: one side has one outcome only" in table([found], SETTINGS).rows[0]
    assert table([found], SETTINGS).records[0]["by_task_reason"] == "one side has one outcome only"
