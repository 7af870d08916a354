from typing import Any

import pytest

from coherence.formats.swe_bench import ReportIndex, read_resolved

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
