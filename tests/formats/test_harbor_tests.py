"""Results of single tests in Harbor trials."""

from pathlib import Path
from typing import Any

import pytest
from format_samples import asked, atif, codes, put, read_one, said

from coherence.formats import Reading
from coherence.records import Verified, VerifierTests


def ctrf(**tests: str) -> dict[str, Any]:
    return {"results": {"tests": [{"name": name, "status": status} for name, status in tests.items()]}}


def read(folder: Path, files: dict[str, Any], reward: float | None = 0.0, run: bool = True) -> Reading:
    verdict = None if reward is None else {"rewards": {"reward": reward}}
    put(folder / "x__1" / "result.json", {"task_name": "x", "verifier_result": verdict})
    if run:
        put(folder / "x__1" / "agent" / "trajectory.json", atif(asked(), said("Done.")))
    for name, content in files.items():
        put(folder / "x__1" / name, content)
    return read_one("harbor", folder)


def test_tests_are_read_beside_the_reward(tmp_path: Path) -> None:
    reading = read(tmp_path, {"verifier/ctrf.json": ctrf(b="failed", a="passed", c="skipped")})
    assert reading.tests == VerifierTests(reading.trial.id, ("a",), ("b",), ("c",))
    assert reading.trial.outcome.tests == Verified(1, 1, 1)
    assert "x__1/verifier/ctrf.json" in {source.path for source in reading.trial.sources}
    assert codes(reading) & {"tests_contradict_reward", "tests_unreadable"} == set()


@pytest.mark.parametrize(
    ("reward", "status", "contradicts"),
    [(0.0, "failed", True), (1.0, "passed", False), (None, "unknown", False)],
)
def test_all_tests_passed_is_no_pass(
    reward: float | None, status: str, contradicts: bool, tmp_path: Path
) -> None:
    reading = read(tmp_path, {"verifier/ctrf.json": ctrf(a="passed")}, reward)
    assert reading.trial.outcome.status == status
    assert ("tests_contradict_reward" in codes(reading)) == contradicts


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"results": 5}', b"\xff\xfe"], ids=repr)
def test_a_broken_file_is_counted_and_harms_nothing(content: Any, tmp_path: Path) -> None:
    reading = read(tmp_path, {"verifier/ctrf.json": content})
    assert (reading.trial.status, reading.trial.outcome.status) == ("ok", "failed")
    assert (reading.tests, reading.trial.outcome.tests) == (None, None)
    assert "tests_unreadable" in codes(reading)


def test_a_trial_without_the_file_has_no_tests_and_nothing_to_report(tmp_path: Path) -> None:
    reading = read(tmp_path, {"verifier/test-stdout.txt": "5 passed"})
    assert (reading.tests, reading.trial.outcome.tests) == (None, None)
    assert not {code for code in codes(reading) if code.startswith("test")}


def test_a_trial_without_trajectory_has_tests(tmp_path: Path) -> None:
    reading = read(tmp_path, {"verifier/ctrf.json": ctrf(a="failed")}, run=False)
    assert (reading.trial.status, reading.trial.outcome.tests) == ("no_trajectory", Verified(0, 1))


def test_the_tests_of_a_step_stand_behind_its_name(tmp_path: Path) -> None:
    files = {
        "verifier/ctrf.json": ctrf(a="passed"),
        "steps/one/verifier/ctrf.json": ctrf(a="passed", b="passed"),
        "steps/two/verifier/ctrf.json": ctrf(a="failed"),
    }
    tests = read(tmp_path, files).tests
    assert tests is not None
    assert (tests.passed, tests.failed) == (("a", "one: a", "one: b"), ("two: a",))


def test_half_a_surrogate_in_a_name_can_be_written(tmp_path: Path) -> None:
    text = '{"results": {"tests": [{"name": "a\\ud800", "status": "passed"}]}}'
    tests = read(tmp_path, {"verifier/ctrf.json": text}).tests
    assert tests is not None
    assert tests.passed[0].encode() == "a\ufffd".encode()
