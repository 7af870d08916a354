"""Pages of tasks that fail, from runs of two agents."""

import csv
from pathlib import Path

import pytest
from workspace import write_config, write_tests, write_trial

from coherence.cli import main, repeated_section
from coherence.cli.config_files import parse
from coherence.cli.layout import Layout
from coherence.evaluation.mitigation import FailingTask
from coherence.files import read_json

STAGES = (["ingest"], ["preprocess"], ["features"], ["judge"], ["outcomes"], ["incoherence"])
LAST = (
    *(["gather", "index"], ["gather", "features"], ["gather", "judgements"], ["table"], ["evaluate"]),
    *(["figures"], ["repeated_figures"], ["report"]),
)


def attempt(folder: Path, agent: str, job: str, task: str, reward: float) -> None:
    root = folder / "runs" / f"{agent}-{job}"
    write_trial(root, task, reward)
    trial = next(root.glob(f"{task}__*"))
    path = trial / "agent" / "trajectory.json"
    if task == "sum":
        write_tests(trial, adds="passed" if reward else "failed", reads="passed")
    path.write_text(path.read_text().replace("test-agent", agent))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for job in "ab":
        attempt(tmp_path, "agent-1", job, "sum", float(job == "a"))
        attempt(tmp_path, "agent-2", job, "sum", 1.0)
        attempt(tmp_path, "agent-1", job, "bad", 1.0)
        attempt(tmp_path, "agent-2", job, "bad", 0.0)
    return tmp_path


def test_the_page_of_a_task_has_the_attempts_of_groups_that_never_failed_it(folder: Path) -> None:
    config = write_config(folder)
    for stage in (*STAGES, *LAST):
        assert main([*stage, "--config", str(config)]) == 0
    with (folder / "results/tables/failing_tasks.csv").open(newline="") as lines:
        found = [row for row in csv.DictReader(lines) if row["task"] == "sum"]
    assert [(row["group"], row["outcome_kind"]) for row in found] == [("agent-1", "tests")]
    assert (found[0]["loss_median"], found[0]["loss_worst"]) == ("0.25", "0.5")
    page = next((folder / "results/pages/tasks/small").glob("sum*")).read_text()
    assert "Attempts with text, n = 4" in page
    assert "without text" not in page
    assert [page.count(words) for words in ("✗ failed</span></td></tr>", "1 test passed in all")] == [0, 1]
    assert page.count('<td><span class="outcome failed">✗ failed</span></td>') == 2


def test_the_most_failing_tasks_of_all_groups_have_pages(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = write_config(folder)
    for stage in STAGES:
        assert main([*stage, "--config", str(config)]) == 0
    monkeypatch.setattr(repeated_section, "MOST_PAGES", 1)
    settings = parse(read_json(config, dict), "config")
    found = repeated_section.failing_tasks(settings, Layout(settings))
    rows: list[FailingTask] = found["small"]["bad"]
    assert list(found["small"]) == ["bad"]
    assert [row.group for row in rows] == ["agent-2"]
