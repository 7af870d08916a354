"""A folder in which the workflow can run: the project's own rules, data of a test's choice."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
# From gathered judgements to the report, as the rules of the workflow have it.
REPORTED = (
    *(["table"], ["evaluate"], ["figures"], ["outcomes"], ["incoherence"], ["repeated_figures"]),
    ["report"],
)
PARTS = ("Snakefile", "workflow", "config", "profiles", "environment.yml", "data")


def lay_out(folder: Path) -> Path:
    """Link the project's parts into the folder; its results stay the folder's own."""
    for name in PARTS:
        (folder / name).symlink_to(ROOT / name)
    return folder


def snakemake(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Snakemake in the folder and return what it said."""
    command = [str(Path(sys.executable).with_name("snakemake")), "--cores", "2", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def ran(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the names of the rules that ran, the target left out."""
    lines = (done.stdout + done.stderr).splitlines()
    finished = [line.split("Rule: ")[1].rstrip(")") for line in lines if line.startswith("Finished jobid")]
    return sorted(name for name in finished if name != "all")


def write_trial(root: Path, name: str, reward: float, thought: str = "Fine.", steps: int = 3) -> None:
    """Write one Harbor trial of the task `name`."""
    folder = root / f"{name}__aBcD123"
    (folder / "agent").mkdir(parents=True)
    acting = [
        {
            "step_id": number,
            "source": "agent",
            "message": "",
            "reasoning_content": f"{thought} {number}",
            "tool_calls": [
                {"tool_call_id": f"c{number}", "function_name": "bash", "arguments": {"command": "ls"}}
            ],
            "observation": {"results": [{"source_call_id": f"c{number}", "content": "a\nb"}]},
        }
        for number in range(2, steps + 1)
    ]
    document = {
        "schema_version": "ATIF-v1.5",
        "agent": {"name": "test-agent", "version": "1"},
        "steps": [{"step_id": 1, "source": "user", "message": "Do it."}, *acting],
    }
    (folder / "agent" / "trajectory.json").write_text(json.dumps(document))
    result = {
        "task_name": name,
        "trial_name": folder.name,
        "verifier_result": {"rewards": {"reward": reward}},
    }
    (folder / "result.json").write_text(json.dumps(result))


def write_config(folder: Path, **changes: Any) -> Path:
    """Write the config of a small run over `runs`; `changes` replace top-level sections."""
    settings = {
        "datasets": {"small": {"paths": "runs", "format": "harbor", "shards": 3}},
        "judges": {"rules": {"kind": "rules"}},
        "evaluation": {"resamples": 50},
        "report": {"pages": "all"},
        **changes,
    }
    path = folder / "small.json"
    path.write_text(json.dumps(settings))
    return path


def write_tests(trial: Path, **statuses: str) -> None:
    """Write the verifier's results of single tests into a trial's folder."""
    tests = [{"name": name, "status": status} for name, status in statuses.items()]
    (trial / "verifier").mkdir(exist_ok=True)
    (trial / "verifier" / "ctrf.json").write_text(json.dumps({"results": {"tests": tests}}))
