import pytest
from msgspec.structs import replace

from coherence.evaluation.detector_pairs import detector_pairs
from coherence.evaluation.groups import splits
from coherence.evaluation.scores import Score, scores, table
from coherence.evaluation.table import Row
from paper_rows import SETTINGS, rows


def scored(made: list[Row]) -> dict[str, Score]:
    return {row.reading.name: row for row in scores(tuple(splits(made, SETTINGS)), SETTINGS)}


def test_bits_of_the_papers_flags() -> None:
    found = scored(rows())
    for name, bits in {"detector": 0.520, "lexical": 0.470}.items():
        information = found[name].information
        assert information is not None
        assert information.bits_per_flag == pytest.approx(bits, abs=5e-4)


def test_the_area_shows_what_ties_leave_open() -> None:
    area = scored(rows())["detector"].auroc
    assert area is not None
    assert area.lowest < area.value < area.highest
    # Flag and confidence: 28 x 16 pairs, in which 10 flags are at 5, 5 failed and 1 passed flag at 3.
    assert area.value == pytest.approx((10 * 16 + 5 * 15.5 + 13 * 7.5) / (28 * 16))


def test_the_first_of_the_family_is_compared_with_the_others() -> None:
    found = scored(rows())
    assert found["detector"].versus is None
    versus = found["lexical"].versus
    assert versus is not None
    assert (versus.name, versus.n) == ("detector", 44)
    assert versus.difference.p is not None
    assert versus.permutation_p is not None


def test_one_outcome_alone_tells_nothing() -> None:
    found = scored([replace(row, outcome="failed") for row in rows()])["lexical"]
    assert (found.information, found.auroc, found.versus) == (None, None, None)
    assert table([found], SETTINGS).rows[0][4:] == ("-",) * 8


def test_a_dataset_of_which_nothing_could_be_read_has_no_scores() -> None:
    lost = [replace(row, excluded="unreadable") for row in rows()]
    assert scored(lost) == {}
    assert list(detector_pairs(tuple(splits(lost, SETTINGS)), SETTINGS)) == []
