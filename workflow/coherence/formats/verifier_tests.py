"""Results of a verifier's single tests, collected by name from whatever file has them."""

from typing import Final

from msgspec.structs import replace

from coherence.files import digest
from coherence.formats.deviations import Deviations
from coherence.formats.identity import HASH_LENGTH
from coherence.records import Outcome, Verified, VerifierTests

LONGEST_NAME: Final = 1_000  # characters of a test's name; a longer one is cut and told apart by its digest


class Results:
    """Collects the results of one trial's tests."""

    def __init__(self) -> None:
        self._found: dict[str, bool | None] = {}

    def add(self, name: object, passed: bool | None, notes: Deviations) -> None:
        """Take one test; None is no result, and so are two results that differ."""
        if not isinstance(name, str) or not name.strip():
            notes.add("test_unnamed")
            return
        name = _short(name)
        if name in self._found:
            notes.add("test_repeated", name)
            passed = passed if self._found[name] == passed else None
        self._found[name] = passed

    @property
    def counts(self) -> Verified | None:
        """How many tests came to what, None where there is no test."""
        results = list(self._found.values())
        if not results:
            return None
        return Verified(results.count(True), results.count(False), results.count(None))

    def of(self, trial: str) -> VerifierTests | None:
        """Return the tests of the trial with this id, None where there is no test."""
        if not self._found:
            return None
        return VerifierTests(trial, self._named(True), self._named(False), self._named(None))

    def _named(self, result: bool | None) -> tuple[str, ...]:
        return tuple(sorted(name for name, found in self._found.items() if found is result))


def with_tests(outcome: Outcome, results: Results, notes: Deviations) -> Outcome:
    """Return the outcome with the counts of its tests, and note where they contradict it."""
    found = replace(outcome, tests=results.counts)
    if found.tests is not None and found.contradicted:
        told = f"{found.tests.passed} of {found.tests.known} tests passed, and the trial {found.status}"
        notes.add("tests_contradict_reward", told)
    return found


def _short(name: str) -> str:
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[: LONGEST_NAME - HASH_LENGTH - 1]}…{digest(name)[:HASH_LENGTH]}"
