"""Vectors of single tests, a place a test of the task."""

import pytest

from coherence.incoherence.verifier_vectors import vectors
from coherence.records import Entry, Outcome, Trial, Verified, VerifierTests

A = VerifierTests("a", ("x", "z"), ("y",))
B = VerifierTests("b", ("w",), ("x",), ("y",))


def entry(tests: VerifierTests | str, task: str = "t") -> Entry:
    """A trial with these tests, or the one of this name without any."""
    known = isinstance(tests, VerifierTests)
    name = tests.trial if isinstance(tests, VerifierTests) else tests
    outcome = Outcome("failed", 0.0, tests=Verified() if known else None)
    return Entry(Trial(name, "d", task, name, "r", name, outcome, "ok"))


def made(*told: VerifierTests | str, task: str = "t") -> dict[str, str]:
    there = {tests.trial: tests for tests in told if isinstance(tests, VerifierTests)}
    return vectors([entry(one, task) for one in told], lambda one: there[one.trial.id])


def test_a_place_is_the_same_test_in_every_attempt() -> None:
    assert made(A, B) == {"a": "-101", "b": "10--"}


def test_the_order_of_attempts_does_not_matter() -> None:
    assert made(B, A) == made(A, B)


@pytest.mark.parametrize(
    "without", ["c", VerifierTests("c", no_result=("x", "v"))], ids=["none", "no result"]
)
def test_a_trial_without_any_result_has_no_vector(without: VerifierTests | str) -> None:
    assert made(A, without).keys() == {"a"}


def test_names_of_another_task_take_no_place() -> None:
    read = {"a": A, "b": B}
    found = vectors([entry(A, "t"), entry(B, "u")], lambda one: read[one.trial.id])
    assert found == {"a": "101", "b": "10-"}


def test_each_trial_with_tests_is_read_once() -> None:
    asked: list[str] = []

    def read(one: Entry) -> VerifierTests:
        asked.append(one.trial.id)
        return {"a": A, "b": B}[one.trial.id]

    vectors([entry(A), entry("c"), entry(B)], read)
    assert asked == ["a", "b"]
