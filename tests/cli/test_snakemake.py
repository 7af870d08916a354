"""The workflow as a user runs it: what it makes, what a second run does again, and what it refuses."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from workspace import lay_out, ran, snakemake, write_config, write_trial

from coherence.cli.workflow import run_of

TASKS = 12


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A finished run of a small dataset in three shards."""
    folder = lay_out(tmp_path_factory.mktemp("run"))
    for number in range(TASKS):
        write_trial(folder / "runs", f"task-{number}", reward=float(number % 2), steps=3 + number)
    config = str(write_config(folder))
    part = snakemake(folder, "--configfile", config, "--until", "ingest")
    assert part.returncode == 0, part.stderr
    assert "Report: " not in part.stdout
    done = snakemake(folder, "--configfile", config)
    assert done.returncode == 0, done.stderr
    assert "Report: results/report.html" in done.stdout
    yield folder
    shutil.rmtree(folder)


def again(run: Path, *arguments: str) -> list[str]:
    """Run once more and return the rules that ran."""
    done = snakemake(run, "--configfile", "small.json", *arguments)
    assert done.returncode == 0, done.stderr
    return ran(done)


def test_nothing_is_done_twice(run: Path) -> None:
    assert again(run) == []


def test_a_config_file_stands_for_itself(run: Path) -> None:
    assert not (run / "results" / "qwen").exists()


def test_a_dry_run_changes_nothing(run: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (run / "results").rglob("*") if path.is_file()}
    assert again(run, "--dry-run") == []
    after = {path: path.stat().st_mtime_ns for path in (run / "results").rglob("*") if path.is_file()}
    assert before == after


def test_deleted_files_of_every_stage_are_noticed_and_made_the_same(run: Path) -> None:
    results = run / "results"
    names = (
        "small/shards/features-1.jsonl",
        "small/judgements/rules.jsonl",
        "small/attrition.csv",
        "tables/failure_rates.tex",
        "figures/small.gaps.svg",
        "provenance.json",
        "audit.html",
        "tables/published.csv",
    )
    page = sorted((results / "pages" / "small").iterdir())[0]
    whole = [
        page,
        *(sorted((results / "small" / stage).iterdir())[0] for stage in ("trajectories", "preprocessed")),
    ]
    paths = [*(results / name for name in names), *whole]
    before = [path.read_bytes() for path in paths]
    for path in paths:
        path.unlink()
    again(run)
    assert [path.read_bytes() for path in paths] == before


def test_another_seed_reruns_the_evaluation_and_nothing_before(run: Path) -> None:
    write_config(run, evaluation={"resamples": 50, "seed": 1})
    assert again(run) == ["evaluate", "figures", "report"]
    write_config(run)
    again(run)


def test_the_order_of_keys_is_no_change(run: Path) -> None:
    write_config(run, datasets={"small": {"shards": 3, "format": "harbor", "paths": "runs"}})
    assert again(run) == []
    write_config(run)


def test_an_added_trajectory_touches_its_shard_alone_and_there_only_itself(run: Path) -> None:
    write_trial(run / "runs", "task-added", reward=0.0)
    rules = again(run)
    assert [rules.count(name) for name in ("ingest", "preprocess", "features", "judge")] == [1, 1, 1, 1]
    logs = [path.read_text() for path in (run / "results" / "logs").rglob("*.log")]
    assert any("ingest" in log and "1 units read" in log for log in logs)
    assert any("features" in log and "1 trajectories measured" in log for log in logs)
    shutil.rmtree(run / "runs" / "task-added__aBcD123")
    again(run)
    assert not list((run / "results" / "small" / "trajectories").glob("task-added*"))


def test_a_wrong_key_is_named_and_nothing_runs(tmp_path: Path) -> None:
    folder = lay_out(tmp_path)
    config = write_config(folder, evaluation={"sed": 1})
    done = snakemake(folder, "--configfile", str(config))
    assert done.returncode != 0
    assert "evaluation: Additional properties are not allowed ('sed' was unexpected)" in done.stderr
    assert not (folder / "results").exists()


def test_an_empty_folder_is_named(tmp_path: Path) -> None:
    folder = lay_out(tmp_path)
    (folder / "runs").mkdir()
    done = snakemake(folder, "--configfile", str(write_config(folder)))
    assert done.returncode != 0
    assert "datasets.small.paths: runs: nothing in the format 'harbor' there" in done.stderr


def test_what_the_user_can_mend_is_said_alone(tmp_path: Path) -> None:
    path = tmp_path / "evil\x1b[2J"
    raw = {"datasets": {"mine": {"paths": str(path), "format": "harbor"}}, "judges": {}}
    with pytest.raises(SystemExit) as ended:
        run_of({**raw, "results": str(tmp_path / "results")}, is_main=True)
    said = str(ended.value.code)
    assert said.startswith("datasets.mine.paths: ")
    assert "evil\\x1b[2J: there is no such folder" in said
    assert said.endswith("Put the runs there, or write in the config where they are")


def test_the_default_run_is_the_replication_the_reconstruction_and_the_audit(tmp_path: Path) -> None:
    done = snakemake(lay_out(tmp_path))
    assert done.returncode == 0, done.stderr
    report = (tmp_path / "results" / "report.html").read_text()
    assert "Simulated data" in report
    assert report.index("26/41") < report.index("qwen (simulated)")
    assert "takes all of the flag&#39;s effect" in report
    assert 'href="audit.html"' in report
    audit = (tmp_path / "results" / "audit.html").read_text()
    assert "126 of 126 recomputed from published counts" in audit
    assert "What this does not show" in audit
    assert 'href="report.html"' in audit
