"""Tests of attempts beside each other."""

from coherence.records import VerifierTests
from coherence.report.task_tests import MOST_ROWS, Comparison, compare


def told(passed: str = "", failed: str = "", no_result: str = "") -> VerifierTests:
    return VerifierTests("t", tuple(passed), tuple(failed), tuple(no_result))


def rows(found: Comparison) -> dict[str, tuple[str, ...]]:
    return {row.name: row.results for row in found.rows}


def test_only_tests_that_failed_or_differ_are_rows_the_differing_first() -> None:
    found = compare([told("acz", "b"), told("ad", "bz", "c")])
    assert list(rows(found)) == ["c", "d", "z", "b"]
    assert rows(found) == {
        "c": ("passed", "none"),
        "d": ("none", "passed"),
        "z": ("passed", "failed"),
        "b": ("failed", "failed"),
    }
    assert (found.all_passed, found.never_known, found.more) == (1, 0, 0)


def test_attempts_without_tests_have_no_column_and_make_no_difference() -> None:
    found = compare([None, told("a", no_result="b"), None, told("a", no_result="b")])
    assert found == Comparison((1, 3), (), all_passed=1, never_known=1)


def test_further_rows_are_counted() -> None:
    names = tuple(f"{number:03}" for number in range(MOST_ROWS + 5))
    found = compare([VerifierTests("t", failed=names)])
    assert [row.name for row in found.rows] == list(names[:MOST_ROWS])
    assert found.more == 5


def test_without_attempts_there_is_nothing_to_compare() -> None:
    assert compare([]) == compare([None]) == Comparison()
