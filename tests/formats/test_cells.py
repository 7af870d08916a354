from typing import Any

import pytest

from coherence.formats.cells import Row
from coherence.formats.deviations import Deviations

GOOD, BAD = frozenset({"passed"}), frozenset({"failed"})


def row(cell: str) -> Row:
    return Row(7, {"x": cell}, Deviations("a.csv"))


@pytest.mark.parametrize(
    ("cell", "truth", "noted"),
    [
        ("1", True, 0),
        ("1.0", True, 0),
        (" TRUE ", True, 0),
        ("passed", True, 0),
        ("0", False, 0),
        ("no", False, 0),
        ("Failed", False, 0),
        ("", None, 0),
        ("  ", None, 0),
        ("NaN", None, 0),
        ("unknown", None, 0),
        ("2", None, 1),
        ("maybe", None, 1),
    ],
)
def test_truth(cell: str, truth: bool | None, noted: int) -> None:
    made = row(cell)
    assert made.truth("x", GOOD, BAD) is truth
    assert len(made.notes.records()) == noted


@pytest.mark.parametrize(
    ("cell", "number", "noted"),
    [
        ("0.5", 0.5, 0),
        (" 12 ", 12.0, 0),
        ("1e3", 1000.0, 0),
        ("", None, 0),
        ("nan", None, 0),
        ("inf", None, 1),
        ("twelve", None, 1),
    ],
)
def test_numbers(cell: str, number: float | None, noted: int) -> None:
    made = row(cell)
    assert made.number_in("x") == number
    assert len(made.notes.records()) == noted


@pytest.mark.parametrize(
    ("cell", "whole", "noted"), [("3", 3, 0), ("5.0", 5, 0), ("", None, 0), ("0", None, 1), ("2.5", None, 1)]
)
def test_whole_numbers_between_bounds(cell: str, whole: int | None, noted: int) -> None:
    made = row(cell)
    assert made.whole("x", 1, 5) == whole
    assert len(made.notes.records()) == noted


@pytest.mark.parametrize("read", ["text", "number_in"])
@pytest.mark.parametrize("column", ["missing", None])
def test_a_missing_column_is_unknown(read: str, column: Any) -> None:
    assert getattr(row("1"), read)(column) is None
