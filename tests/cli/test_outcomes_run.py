"""Repeated outcomes by config alone: files, datasets and judge samples, from the raw files to the tables."""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from workspace import REPORTED, lay_out, ran, snakemake, write_config, write_trial

from coherence.cli import main
from coherence.cli.config_files import parse
from coherence.cli.layout import Layout
from coherence.cli.workflow import Run
from coherence.errors import ConfigError
from coherence.incoherence.storing import stored_outcomes

FILE = "model,question,choice,key\nm,q1,A,A\nm,q1,B,A\nm,q2,C,C\nm,q2,C,C\nn,q1,,A\nn,q1,A,A\n"
COLUMNS = {"backbone": "model", "task": "question", "answer": "choice", "target": "key"}
STAGES = (["ingest"], ["preprocess"], ["features"], ["judge"], ["outcomes"], ["incoherence"])


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "results/tables" / f"{name}.csv").open(newline="") as lines:
        return list(csv.DictReader(lines))


def run_all(folder: Path, **sections: Any) -> Path:
    config = write_config(folder, **sections)
    for stage in STAGES:
        assert main([*stage, "--config", str(config)]) == 0
    return config


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers.csv").write_text(FILE)
    for number, reward in enumerate((1.0, 0.0, 1.0)):
        write_trial(tmp_path / "runs" / f"job-{number}", "sum", reward)
    write_trial(tmp_path / "runs" / "job-0", "other", 0.0)
    return tmp_path


def test_files_and_datasets_come_together(folder: Path) -> None:
    run_all(folder, outcomes={"exam": {"path": "answers.csv", "columns": COLUMNS, "notes": "a test"}})
    exam, small = rows(folder, "outcomes")

    assert (exam["dataset"], exam["attempts"], exam["groups"], exam["kind"]) == ("exam", "6", "2", "answer")
    assert (exam["passed"], exam["failed"], exam["unknown"], exam["notes"]) == ("4", "1", "1", "a test")
    assert (small["dataset"], small["attempts"], small["tasks"]) == ("small", "4", "2")
    assert (small["attempts_a_cell_min"], small["attempts_a_cell_max"]) == ("1", "3")
    assert {row["reason"].split(":")[0] for row in rows(folder, "outcome_exclusions")} == {
        "outcome unknown (kept)",
        "one attempt with an outcome",
        "every attempt passed",
    }
    assert [(row["group"], row["mixed_count"], row["mixed_n"]) for row in rows(folder, "outcome_groups")] == [
        ("m", "1", "2"),
        ("n", "0", "0"),
        ("test-agent", "1", "1"),
    ]
    frame = stored_outcomes(folder / "results/outcomes.parquet")
    assert frame["dataset"].to_list() == ["exam"] * 6 + ["small"] * 4
    assert set(frame["steps"].dropna()) == {2.0}
    assert set(frame["calls"].dropna()) == {2.0}


def test_without_repeats_the_tables_are_there_and_say_so(folder: Path) -> None:
    shutil.rmtree(folder / "runs")
    write_trial(folder / "runs", "sum", 1.0)
    run_all(folder)

    (row,) = rows(folder, "outcomes")
    assert (row["attempts"], row["counted"]) == ("0", "1 trial: no task was attempted twice by one group")
    assert rows(folder, "outcome_groups") == []
    assert "Nothing was attempted twice" in (folder / "results/tables/outcomes.md").read_text()


def recorded(folder: Path, name: str, *verdicts: tuple[str, int, str]) -> dict[str, Any]:
    lines = [
        {"trajectory": trajectory, "sample": sample, "state": state, "spans": []}
        | ({"reason": "refusal"} if state == "unjudged" else {})
        for trajectory, sample, state in verdicts
    ]
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return {"kind": "recorded", "path": f"{name}.jsonl"}


def test_samples_of_a_judge_are_attempts(folder: Path) -> None:
    dataset = {"small": {"paths": "runs", "format": "harbor", "simulated": "made up"}}
    config = write_config(folder, datasets=dataset)
    assert main(["ingest", "--config", str(config)]) == 0
    ids = sorted(path.stem for path in (folder / "results/small/trajectories").iterdir())
    said = [
        (ids[0], 0, "flagged"),
        (ids[0], 1, "unflagged"),
        (ids[0], 2, "unjudged"),
        (ids[1], 0, "unflagged"),
    ]
    judges = {
        "many": recorded(folder, "many", *said, (ids[1], 1, "unflagged")),
        "labels": recorded(folder, "labels", (ids[0], 0, "flagged")),
    }
    run_all(folder, datasets=dataset, judges=judges, incoherence={"reference": "labels"})

    own, samples = rows(folder, "outcomes")
    assert (own["dataset"], samples["dataset"]) == ("small", "small judged by many")
    assert (samples["attempts"], samples["tasks"], samples["kind"]) == ("7", "4", "answer")
    assert (samples["passed"], samples["failed"], samples["unknown"]) == ("1", "1", "5")
    reasons = {row["reason"] for row in rows(folder, "outcome_exclusions") if "judged by" in row["dataset"]}
    # A recorded judge says nothing of the two other trajectories: they are unjudged, not unflagged.
    assert {"unjudged (kept, no answer): refusal", "unjudged (kept, no answer): missing"} <= reasons
    assert {"answer without target (kept)"} <= reasons
    assert {row["simulated"] for row in rows(folder, "outcomes")} == {"made up"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"outcomes": {"small": {"path": "x.csv"}}}, r"outcomes\.small: a dataset has this name"),
        ({"outcomes": {"repeats": {"path": "x.csv"}}}, r"outcomes\.repeats: the figures of ingested"),
        ({"outcomes": {"Bad Name": {"path": "x.csv"}}}, r"outcomes\.Bad Name: a name has lower-case"),
        ({"outcomes": {"x": {}}}, "outcomes.x: 'path' is a required property"),
        ({"outcomes": {"x": {"path": "x.csv", "columns": {"tsk": "q"}}}}, "outcomes.x.columns"),
        ({"outcomes": {"x": {"path": "x.csv", "null_as": "passed"}}}, "outcomes.x.null_as"),
        (
            {"outcomes": {"x": {"path": "x.csv", "pass_reward": float("nan")}}},
            "pass_reward: must be a number",
        ),
        ({"incoherence": {"estimator": "best"}}, "incoherence.estimator"),
        ({"incoherence": {"lengths": ["words"]}}, "incoherence.lengths.0"),
        ({"incoherence": {"pairs": {"gone": [["a", "b"]]}}}, r"pairs\.gone: no outcomes and no dataset"),
        ({"incoherence": {"reference": "gone"}}, "reference: no judge 'gone'; known: rules"),
    ],
)
def test_a_wrong_setting_is_named(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    raw = {**json.loads(write_config(tmp_path).read_text()), **changes}
    with pytest.raises(ConfigError, match=message):
        parse(raw, "config")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "answers.csv: there is no such file"),
        ("question\nq1\n", "answers.csv: row 1: there is no column"),
        (
            "model,question,choice,key\nm,q,A,A\nm,q,A,B\n",
            "answers.csv: rows 2 and 3: task 'q' has two values",
        ),
    ],
)
def test_a_broken_file_stops_the_stage_and_is_named(
    data: str | None, message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "answers.csv").unlink() if data is None else (folder / "answers.csv").write_text(data)
    config = write_config(folder, outcomes={"exam": {"path": "answers.csv", "columns": COLUMNS}})
    assert main(["outcomes", "--config", str(config)]) == 1
    assert message in capsys.readouterr().err
    assert not Layout(parse(json.loads(config.read_text()), "c")).outcomes.exists()


def test_the_workflow_makes_them_and_notices_a_changed_file(tmp_path: Path) -> None:
    folder = lay_out(tmp_path)
    for number in range(2):
        write_trial(folder / "runs" / f"job-{number}", "sum", float(number))
    (folder / "answers.csv").write_text(FILE)
    settings = {"outcomes": {"exam": {"path": "answers.csv", "columns": COLUMNS}}}
    config = write_config(folder, **settings)
    target = ["results/tables/outcome_groups.csv", "--configfile", str(config)]
    done = snakemake(folder, *target)
    assert {"outcomes", "incoherence"} <= set(ran(done)), done.stderr
    assert [row["group"] for row in rows(folder, "outcome_groups")] == ["m", "n", "test-agent"]
    assert ran(snakemake(folder, *target)) == []

    (folder / "answers.csv").write_text(FILE.replace("n,q1", "k,q1"))
    assert ran(snakemake(folder, *target)) == ["incoherence", "outcomes"]
    assert [row["group"] for row in rows(folder, "outcome_groups")] == ["m", "k", "test-agent"]


def test_outcome_files_alone_are_a_run(folder: Path) -> None:
    run = Run({"datasets": {}, "judges": {}, "outcomes": {"exam": {"path": "answers.csv"}}})
    assert run.outcome_files() == ["answers.csv"]
    assert {"results/outcomes.parquet", "results/tables/outcome_groups.csv"} <= set(run.targets())
    with pytest.raises(ConfigError, match="datasets: none is named, and no `outcomes`"):
        Run({"datasets": {}, "judges": {}})


def test_a_report_on_outcome_files_alone_is_about_them(folder: Path) -> None:
    outcomes = {"exam": {"path": "answers.csv", "columns": COLUMNS, "notes": "Two models, asked again."}}
    config = write_config(folder, datasets={}, judges={}, outcomes=outcomes)
    for stage in REPORTED:
        assert main([*stage, "--config", str(config)]) == 0
    report = (folder / "results/report.html").read_text("utf-8")
    assert "<h1>Error incoherence of repeated attempts</h1>" in report
    assert "Two models, asked again." in report
    assert "Is the error of repeated attempts bias or scatter?" in report
    assert "No row." not in report
    assert "Does a flag go with failure?" not in report


def test_real_trials_with_text_are_repeated_outcomes(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    dataset = {"paths": str(shared / "corpora/tau_bench"), "format": "tau-bench", "backbone": "gpt-4o"}
    run_all(tmp_path, datasets={"airline": dataset})
    (row,) = rows(tmp_path, "outcomes")
    assert (row["attempts"], row["tasks"], row["attempts_a_cell_min"], row["passed"]) == (
        "200",
        "50",
        "4",
        "84",
    )
    (group,) = rows(tmp_path, "outcome_groups")
    assert (group["group"], group["failed"]) == ("tau-bench gpt-4o", "116")
    frame = stored_outcomes(tmp_path / "results/outcomes.parquet")
    assert frame["attempt"].value_counts().to_dict() == {"0": 50, "1": 50, "2": 50, "3": 50}
    rates = frame.groupby("task", observed=True)["passed"].mean().astype(float)
    # Error, bias and variance of pass or fail, as computed from the same file elsewhere.
    assert 1 - rates.mean() == pytest.approx(0.58)
    assert ((1 - rates) ** 2).mean() == pytest.approx(0.47)
    assert (rates * (1 - rates)).mean() == pytest.approx(0.11)
