"""Results of single tests as texts: a character a test of the task, at the same place in every attempt."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Final

from coherence.records import Entry, VerifierTests

PASSED: Final = "1"
FAILED: Final = "0"
NO_RESULT: Final = "-"
ReadTests = Callable[[Entry], VerifierTests | None]


def vectors(entries: Iterable[Entry], read: ReadTests) -> dict[str, str]:
    """Return by trial id the results of the tests that any of these attempts at its task has, sorted by name.

    A trial none of whose tests passed or failed has no vector. `read` is called once a trial, one task after
    another, so that the names of one task at a time are held.
    """
    by_task: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.trial.outcome.tests is not None:
            by_task[entry.trial.task].append(entry)
    found: dict[str, str] = {}
    for attempts in by_task.values():
        told = [tests for entry in attempts if (tests := read(entry)) is not None]
        names = sorted({name for tests in told for name in (*tests.passed, *tests.failed, *tests.no_result)})
        found |= {one.trial: _vector(one, names) for one in told if one.passed or one.failed}
    return found


def _vector(tests: VerifierTests, names: list[str]) -> str:
    results = dict.fromkeys(tests.passed, PASSED) | dict.fromkeys(tests.failed, FAILED)
    return "".join(results.get(name, NO_RESULT) for name in names)
