from msgspec.structs import replace

from coherence.evaluation.calibration import calibrations, table
from coherence.evaluation.groups import splits
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Verdict
from paper_rows import SETTINGS, rows


def test_levels_of_confidence_of_the_flagged() -> None:
    found = list(calibrations(tuple(splits(rows(), SETTINGS)), SETTINGS))
    assert [(row.scale, row.level.level, row.level.failed.count, row.level.failed.n) for row in found] == [
        ("confidence", 3, 5, 6),
        ("confidence", 5, 10, 10),
    ]
    assert table(found).records[0]["permutation_p"] == 0.375  # 6 of the 16 places the one pass could have


def test_a_flag_without_confidence_is_counted_beside() -> None:
    made = [
        replace(row, verdicts={"detector": Verdict("flagged", spans=1)}) if row.id == "t14" else row
        for row in rows()
    ]
    found = list(calibrations(tuple(splits(made, SETTINGS)), SETTINGS))
    assert {(row.missing, row.calibration.n) for row in found} == {(1, 15)}
    assert table(found).rows[0][-1] == "1 without level"


def test_a_rating_judge_is_shown_by_rating_once() -> None:
    made = [
        replace(row, verdicts={"generic": Verdict("unflagged", rating=1 + number % 3)})
        for number, row in enumerate(rows())
    ]
    settings = EvaluationSettings(rating_at_most={"generic": 2}, features=())
    found = list(calibrations(tuple(splits(made, settings)), settings))
    assert [(row.scale, row.level.level) for row in found] == [("rating", 1), ("rating", 2), ("rating", 3)]
    assert sum(row.level.failed.n for row in found) == 44
