from typing import Any

import pytest

from coherence.formats.deviations import Deviations
from coherence.formats.swe_bench import ReportIndex, read_resolved, read_tests
from coherence.records import VerifierTests

ID = "astropy__astropy-1"


@pytest.mark.parametrize(
    ("report", "own", "resolved"),
    [
        ({"resolved": True}, True, True),
        ({"resolved": False, "patch_exists": True}, True, False),
        ({"resolved": True}, False, None),
        ({ID: {"resolved": True}}, False, True),
        ({ID: {"resolved": False}, "resolved": True}, True, False),
        ({ID: True}, False, True),
        ({"other__other-1": {"resolved": True}}, False, None),
        ({"instances": [{"instance_id": "x"}, 5, {"instance_id": ID, "resolved": True}]}, False, True),
        ({"resolved_ids": [ID], "unresolved_ids": []}, False, True),
        ({"resolved_ids": ["x"], "unresolved_ids": [ID]}, False, False),
        ({"resolved_ids": ["x"], "unresolved_ids": ["y"]}, False, None),
        ({"resolved": "yes"}, True, None),
        ({"resolved": 1}, True, None),
        ({ID: None, "instances": "x", "resolved_ids": ID}, False, None),
        ([ID], True, None),
        (None, True, None),
    ],
    ids=repr,
)
def test_a_report_says_resolved_unresolved_or_nothing(report: Any, own: bool, resolved: bool | None) -> None:
    assert read_resolved(report, ID, own=own) is resolved


KEYS = [
    f"run/trajs/{ID}/{ID}.traj.json",
    f"run/trajs/{ID}/report.json",
    f"run/logs/eval/model/{ID}/report.json",
    f"other-run/logs/{ID}/report.json",
    f"run/notlogs/{ID}/report.json",
    "run/logs/another/report.json",
    "run/results_summary.json",
    "results.json",
    "run/logs/results.json",
]


def test_the_closest_report_comes_first_and_other_runs_are_left_aside() -> None:
    found = dict.fromkeys(ReportIndex(KEYS).for_instance(KEYS[0], ID))
    assert list(found) == [
        f"run/trajs/{ID}/report.json",
        f"run/logs/eval/model/{ID}/report.json",
        "run/results_summary.json",
        "results.json",
    ]


STATUS = {
    "FAIL_TO_PASS": {"success": ["b[1]"], "failure": ["a (x.Y)"]},
    "PASS_TO_PASS": {"success": ["c"], "failure": []},
    "FAIL_TO_FAIL": {"success": ["ignored"], "failure": []},
}
FOUND = VerifierTests("t", ("b[1]", "c"), ("a (x.Y)",))


@pytest.mark.parametrize(
    ("report", "own", "tests", "code"),
    [
        ({"resolved": False, "tests_status": STATUS}, True, FOUND, None),
        ({"resolved": False, "tests_status": STATUS}, False, None, None),
        ({ID: {"tests_status": STATUS}}, False, FOUND, None),
        ({ID: {"resolved": True}, "tests_status": {}}, True, None, None),
        ({"other__other-1": {"tests_status": STATUS}}, False, None, None),
        ({"tests_status": {"PASS_TO_PASS": {"success": ["c"]}}}, True, VerifierTests("t", ("c",)), None),
        ({"tests_status": {"PASS_TO_PASS": {"success": "c"}}}, True, None, "wrong_type"),
        ({"tests_status": {"PASS_TO_PASS": ["c"]}}, True, None, "wrong_type"),
        ({"tests_status": {"PASS_TO_PASS": {"success": [3]}}}, True, None, "test_unnamed"),
        (
            {"tests_status": {"FAIL_TO_PASS": {"success": ["c"], "failure": ["c"]}}},
            True,
            VerifierTests("t", no_result=("c",)),
            "test_repeated",
        ),
        ({"tests_status": None}, True, None, None),
        ([ID], True, None, None),
        (None, True, None, None),
    ],
    ids=repr,
)
def test_the_tests_that_decide_are_read(
    report: Any, own: bool, tests: VerifierTests | None, code: str | None
) -> None:
    notes = Deviations("f")
    assert read_tests(report, ID, notes, own=own).of("t") == tests
    assert [note.code for note in notes.records()] == ([code] if code else [])
