"""The tests of attempts at one task beside each other: those that failed or differ, and how many others."""

from collections.abc import Sequence
from typing import Final, Literal

from coherence.records import Record, VerifierTests

MOST_ROWS: Final = 60  # tests; the rest is counted
Result = Literal["passed", "failed", "none"]


class ResultRow(Record, frozen=True):
    """One test: its results in the order of the columns."""

    name: str
    results: tuple[Result, ...]


class Comparison(Record, frozen=True):
    """The rows, and what is not among them; `columns` are the places of the attempts that have any test."""

    columns: tuple[int, ...] = ()
    rows: tuple[ResultRow, ...] = ()
    all_passed: int = 0
    never_known: int = 0
    more: int = 0


def compare(attempts: Sequence[VerifierTests | None]) -> Comparison:
    """Return the tests that an attempt failed or that differ: the differing first, then by name."""
    told = {place: _results(tests) for place, tests in enumerate(attempts) if tests is not None}
    differing, failing = list[ResultRow](), list[ResultRow]()
    all_passed = never_known = 0
    for name in sorted({name for results in told.values() for name in results}):
        row = ResultRow(name, tuple(results.get(name, "none") for results in told.values()))
        found = set(row.results)
        all_passed += found == {"passed"}
        never_known += found == {"none"}
        if len(found) > 1:
            differing.append(row)
        elif found == {"failed"}:
            failing.append(row)
    rows = (*differing, *failing)
    return Comparison(tuple(told), rows[:MOST_ROWS], all_passed, never_known, max(0, len(rows) - MOST_ROWS))


def _results(tests: VerifierTests) -> dict[str, Result]:
    found: dict[str, Result] = dict.fromkeys(tests.no_result, "none")
    return found | dict.fromkeys(tests.passed, "passed") | dict.fromkeys(tests.failed, "failed")
