from typing import Any

import pytest

from coherence.formats.ctrf import read_ctrf
from coherence.formats.deviations import Deviations
from coherence.formats.documents import Document
from coherence.formats.verifier_tests import Results
from coherence.records import VerifierTests


def read(value: Any, problem: str | None = None, prefix: str = "") -> tuple[VerifierTests | None, set[str]]:
    results, document = Results(), Document("ctrf.json", value, problem, None, Deviations("ctrf.json"))
    read_ctrf(document, results, prefix)
    return results.of("t"), {note.code for note in document.notes.records()}


def report(*tests: Any) -> dict[str, Any]:
    return {"results": {"tool": {"name": "pytest"}, "tests": list(tests)}}


def one(name: Any, status: Any) -> dict[str, Any]:
    return {"name": name, "status": status, "duration": 1, "trace": "AssertionError"}


def test_parametrised_tests_are_apart_and_only_pass_and_fail_are_results() -> None:
    statuses = ("passed", "failed", "skipped", "pending", "other")
    tests, noted = read(report(*(one(f"test_x[{status}]", status) for status in statuses)))
    assert tests == VerifierTests(
        "t",
        ("test_x[passed]",),
        ("test_x[failed]",),
        ("test_x[other]", "test_x[pending]", "test_x[skipped]"),
    )
    assert noted == set()


@pytest.mark.parametrize("status", ["PASSED", "error", "", None, True, {}], ids=repr)
def test_a_status_of_another_kind_is_no_result(status: Any) -> None:
    tests, noted = read(report(one("a", status)))
    assert tests == VerifierTests("t", no_result=("a",))
    assert noted == {"test_status_unknown"}


@pytest.mark.parametrize(
    ("value", "problem"),
    [(None, "not JSON"), ([], None), ({}, None), ({"results": []}, None), ({"results": {"tests": {}}}, None)],
    ids=repr,
)
def test_a_broken_report_tells_nothing(value: Any, problem: str | None) -> None:
    assert read(value, problem) == (None, {"tests_unreadable"})


def test_what_is_no_test_is_left_out() -> None:
    tests, noted = read(report("x", 5, one(None, "passed"), one("a", "passed")))
    assert tests == VerifierTests("t", ("a",))
    assert noted == {"wrong_type", "test_unnamed"}


def test_an_empty_report_has_no_test() -> None:
    assert read(report()) == (None, set())


def test_names_stand_behind_a_prefix() -> None:
    assert read(report(one("a", "passed")), prefix="one: ")[0] == VerifierTests("t", ("one: a",))
