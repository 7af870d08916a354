"""The paper's tertiles (solution A of the reference) from rows."""

import pytest
from msgspec.structs import replace

from coherence.evaluation.adjusted import Adjusted, adjusted, table
from coherence.evaluation.groups import splits
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row
from coherence.stats.tables import Counts
from paper_rows import SETTINGS, rows


def first(made: list[Row], settings: EvaluationSettings = SETTINGS) -> Adjusted:
    return next(adjusted(tuple(splits(made, settings)), settings))


def test_the_thirds_are_those_of_the_paper() -> None:
    found = first(rows())
    assert [stratum.comparison.counts for stratum in found.strata] == [
        Counts(0, 1, 4, 13),
        Counts(5, 5, 6, 10),
        Counts(10, 10, 3, 5),
    ]
    assert [stratum.comparison.points for stratum in found.strata] == [-31, 40, 40]


def test_the_adjusted_gap_is_smaller_than_the_crude_one() -> None:
    found = first(rows())
    assert found.gap is not None
    assert found.exact is not None
    assert found.gap.gap == pytest.approx(31.35, abs=0.005)
    assert found.crude.gap == pytest.approx(47.32, abs=0.005)
    assert (found.exact.two_sided, found.zelen_p) == pytest.approx((0.072787, 0.241379), abs=1e-6)
    assert (found.standardised_risky, found.standardised_all) == pytest.approx((35.6, 17.5), abs=0.05)


def test_the_feature_that_makes_the_thirds_is_not_adjusted_for_itself() -> None:
    found = adjusted(tuple(splits(rows(), SETTINGS)), SETTINGS)
    assert [row.reading.name for row in found] == ["detector", "lexical"]


def test_rows_without_the_value_are_left_out_and_counted() -> None:
    made = [replace(row, features={**row.features, "think_chars": None}) for row in rows()[:4]] + rows()[4:]
    found = first(made)
    assert (found.missing, found.crude.counts.n) == (4, 40)


def test_a_dataset_without_the_feature_has_a_reason() -> None:
    found = first(rows(), replace(SETTINGS, stratify_by="unheard of"))
    assert (found.missing, found.gap, found.exact) == (44, None, None)
    assert "not applicable: no stratum has both groups" in table([found], SETTINGS).rows[0]


def test_where_another_dataset_has_the_feature_one_without_has_no_row() -> None:
    bare = [replace(row, features={"lexical": row.features["lexical"]}) for row in rows("other")]
    found = adjusted(tuple(splits([*rows(), *bare], SETTINGS)), SETTINGS)
    assert {row.reading.dataset for row in found} == {"qwen"}


def test_the_table_shows_what_each_third_rests_on() -> None:
    shown = table([first(rows())], SETTINGS)
    assert shown.rows[0][3:6] == ("-31: 0/1 against 4/13", "+40: 5/5 against 6/10", "+40: 10/10 against 3/5")
    assert shown.note == "qwen is simulated: counts."


def test_an_interval_that_the_exact_test_contradicts_is_starred() -> None:
    found = first(rows())
    assert found.gap is not None
    assert found.exact is not None
    assert found.gap.interval.low > 0  # and its exact p is 0.073
    shown = table([found, replace(found, exact=replace(found.exact, two_sided=0.01))], SETTINGS).rows
    assert [row[7].endswith(" *") for row in shown] == [True, False]
