"""Several configs given to a command are one; what fails is told, and what came of it is shown."""

import json
from pathlib import Path

import pytest
from snakemake.utils import update_config
from workspace import write_config, write_trial

from coherence.cli import main
from coherence.cli.config_files import merged
from coherence.cli.workflow import Run

CASES = [
    ({"a": 1}, {"b": 2}),
    ({"a": {"x": 1, "y": [1, 2]}}, {"a": {"y": [3]}}),
    ({"a": {"x": 1}}, {"a": {"z": {"deep": True}}}),
]


@pytest.mark.parametrize(("below", "above"), CASES)
def test_files_are_merged_as_snakemake_merges_them(
    below: dict[str, object], above: dict[str, object]
) -> None:
    theirs = json.loads(json.dumps(below))
    update_config(theirs, above)
    assert merged(below, above) == theirs


def test_a_command_takes_a_config_and_what_is_laid_over_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_trial(tmp_path / "runs", "alpha", 1.0)
    over = tmp_path / "over.yaml"
    over.write_text("datasets:\n  small:\n    shards: 2\n")
    files = ["--config", str(write_config(tmp_path)), "--config", str(over)]
    assert main(["plan", *files]) == 0
    assert "in 2 shards" in "".join(capsys.readouterr())
    assert main(["plan", "--config", str(over)]) == 1
    assert "'paths' is a required property" in capsys.readouterr().err


def test_a_config_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--config", "nowhere.yaml"]) == 1
    assert "nowhere.yaml: there is no such config file" in capsys.readouterr().err


def test_what_failed_jobs_said_is_told_with_their_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_trial(tmp_path / "runs", "alpha", 1.0)
    run = Run(json.loads(write_config(tmp_path).read_text()))
    logs = tmp_path / "results" / "logs" / "judge"
    logs.mkdir(parents=True)
    (logs / "fine.log").write_text("judge rules: 3 judgements\n")
    (logs / "lost.log").write_text("one line\ncoherence judge: no such prompt\n  name another\n")
    said = run.complaints()
    assert "lost.log:\ncoherence judge: no such prompt\n  name another" in said
    assert "fine" not in said
    assert "one line" not in said


def test_the_screen_shows_what_a_run_is_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = ["task,attempt,answer,target", *(f"t{n},{k},{'ab'[k % 2]},a" for n in range(6) for k in range(4))]
    (tmp_path / "answers.csv").write_text("\n".join(lines))
    config = tmp_path / "answers.json"
    config.write_text(json.dumps({"datasets": {}, "judges": {}, "outcomes": {"x": {"path": "answers.csv"}}}))
    for stage in ("outcomes", "incoherence", "evaluate", "show"):
        assert main([stage, "--config", str(config)]) == 0, stage
    shown = capsys.readouterr().out
    assert "Error incoherence of repeated attempts" in shown
    assert "Failure rates" not in shown
