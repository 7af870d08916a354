"""Verdicts without text and runs without verdicts, joined by task."""

import csv
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from workspace import write_config, write_trial

from coherence.cli import main

ROOT = Path(__file__).parents[2]
STAGES = ("plan", "ingest", "preprocess", "features", "judge", "evaluate")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def datasets(**changes: Any) -> dict[str, Any]:
    table = {
        "paths": "verdicts.csv",
        "format": "table",
        "columns": {"id": "task", "passed": "passed"},
        "verdict_columns": {"reader": {"flagged": "flagged"}},
        "features_from": "runs",
        **changes,
    }
    return {"verdicts": table, "runs": {"paths": "runs", "format": "harbor"}}


def written(folder: Path, **changes: Any) -> str:
    lines = ["task,passed,flagged", "alpha,1,0", "beta,0,1", "gamma,0,0"]
    (folder / "verdicts.csv").write_text("\n".join(lines))
    judges = {"reader": {"kind": "recorded", "datasets": ["verdicts"]}}
    return str(write_config(folder, datasets=datasets(**changes), judges=judges))


def described(folder: Path) -> dict[str, dict[str, str]]:
    with (folder / "results/tables/description.csv").open(newline="") as lines:
        return {row["feature"]: row for row in csv.DictReader(lines) if row["dataset"] == "verdicts"}


def test_features_join_by_task_and_what_has_none_is_counted(folder: Path) -> None:
    for name, steps in (("alpha", 4), ("beta", 7), ("elsewhere", 9)):
        write_trial(folder / "runs", name, 1.0, steps=steps)
    config = written(folder)
    for stage in STAGES:
        assert main([stage, "--config", config]) == 0
    row = described(folder)["trajectory_length"]
    assert (row["n"], row["n_missing"], row["lowest"], row["highest"]) == ("2", "1", "4", "7")


def test_a_task_with_several_trials_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_trial(folder / "runs", "alpha", 1.0)
    shutil.copytree(folder / "runs" / "alpha__aBcD123", folder / "runs" / "alpha__zZ99999")
    config = written(folder)
    assert [main([stage, "--config", config]) for stage in STAGES][-1] == 1
    assert "dataset runs: task 'alpha' has several trials" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["verdicts", "nowhere"])
def test_only_another_dataset_lends_features(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "--config", written(folder, features_from=name)]) == 1
    assert f"datasets.verdicts.features_from: no other dataset '{name}'" in capsys.readouterr().err


@pytest.mark.slow
def test_beside_our_own_markers_the_real_flag_says_nothing_more(
    folder: Path, shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for name in ("config", "data"):
        (folder / name).symlink_to(ROOT / name)
    config = yaml.safe_load((ROOT / "config/replication.yaml").read_text())
    config["datasets"]["gemini-swe-bench-runs"]["paths"] = str(shared / "corpora/mini_swe_agent")
    path = folder / "replication.yaml"
    path.write_text(yaml.safe_dump(config, sort_keys=False))
    for stage in STAGES:
        assert main([stage, "--config", str(path)]) == 0
    with (folder / "results/replication/tables/regression.csv").open(newline="") as lines:
        found = {(row["dataset"], row["model"], row["covariate"]): row for row in csv.DictReader(lines)}
    alone = found["gemini-swe-bench", "flag alone", "flag"]
    assert (alone["n"], alone["n_left_out"]) == ("128", "0")
    beside = found["gemini-swe-bench", "flag and covariates", "flag"]
    assert (beside["n"], beside["n_left_out"]) == ("64", "64")
    assert float(alone["log_odds_ratio"]) > 0 > float(beside["log_odds_ratio"])
    assert (
        float(found["gemini-swe-bench-runs", "flag and covariates", "lexical"]["likelihood_ratio_p"]) < 0.001
    )
