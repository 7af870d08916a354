"""Each command by itself, one after the other, as a user without Snakemake would run them."""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from workspace import REPORTED, write_config, write_tests, write_trial

from coherence.cli import main
from coherence.cli.workflow import Run

STAGES = (
    ["ingest"],
    ["preprocess"],
    ["features"],
    ["judge"],
    ["gather", "index"],
    ["gather", "features"],
    ["gather", "judgements"],
    *REPORTED,
)


def run_all(config: Path) -> None:
    for stage in STAGES:
        assert main([*stage, "--config", str(config)]) == 0


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


TABLE = """id,failed,w,steps,flag,conf,kinds,ack,act
a,1,2,10,1,4,other,3,5
b,1,1,20,1,,tool_output_vs_plan,4,6
c,0,1,5,0,,,,
d,0,4,7,,,,,
e,,1,9,0,,,,
"""


def table_config(folder: Path) -> Path:
    (folder / "facts.csv").write_text(TABLE)
    dataset = {
        "paths": "facts.csv",
        "format": "table",
        "columns": {"weight": "w"},
        "feature_columns": ["steps"],
        "verdict_columns": {
            "human": {
                "flagged": "flag",
                "confidence": "conf",
                "type": "kinds",
                "acknowledgment_step": "ack",
                "action_step": "act",
            }
        },
    }
    return write_config(folder, datasets={"facts": dataset}, judges={"human": {"kind": "recorded"}})


def test_a_table_without_text_goes_all_the_way(folder: Path) -> None:
    run_all(table_config(folder))
    rates = {
        (row["feature"], row["reading"]): row for row in rows(folder / "results/tables/failure_rates.csv")
    }
    human = rates["human", "flagged"]
    counts = [human[name] for name in ("risky_fail", "risky_n", "safe_fail", "safe_n")]
    assert counts == ["2", "2", "0", "1"]
    assert (human["n_unjudged"], human["n_unknown_outcome"]) == ("1", "1")
    assert rates["steps", "above median"]["risky_n"] == "2"


def test_sampling_weights_are_used_beside_the_plain_rates(folder: Path) -> None:
    run_all(table_config(folder))
    rates = {row["feature"]: row for row in rows(folder / "results/tables/failure_rates.csv")}
    assert float(rates["steps"]["weighted_safe_rate"]) == 0.0
    assert float(rates["steps"]["weighted_risky_rate"]) == 1.0


def test_quotes_of_a_table_are_not_checkable(folder: Path) -> None:
    run_all(table_config(folder))
    verdicts = {row["acknowledgment_verdict"] for row in rows(folder / "results/facts/spans.csv")}
    assert verdicts == {"not_checkable"}


def test_equal_paths_below_two_folders_are_two_trials(folder: Path) -> None:
    for root in ("one", "two"):
        write_trial(folder / root, "sum", 1.0)
    config = write_config(folder, datasets={"small": {"paths": ["one", "two"], "format": "harbor"}})
    assert main(["ingest", "--config", str(config)]) == 0
    assert len(list((folder / "results/small/trajectories").iterdir())) == 2


def test_a_second_path_does_not_rename_the_first_ones_trials(folder: Path) -> None:
    for root in ("one", "two"):
        write_trial(folder / root, "sum", 1.0)
    names = []
    for paths in (["one"], ["one", "two"]):
        config = write_config(folder, datasets={"small": {"paths": paths, "format": "harbor"}})
        assert main(["ingest", "--config", str(config)]) == 0
        names.append({path.name for path in (folder / "results/small/trajectories").iterdir()})
    assert names[0] < names[1]


def test_a_changed_table_is_read_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = table_config(folder)
    main(["ingest", "--config", str(config)])
    (folder / "facts.csv").write_text(TABLE + "f,1,1,3,0,,,,\n")
    main(["ingest", "--config", str(config)])
    assert "1 units read, 0 unchanged" in capsys.readouterr().err.splitlines()[-1]


def test_broken_files_stop_nothing_and_are_listed(folder: Path) -> None:
    write_trial(folder / "runs", "good", 1.0)
    for name, content in {"empty": b"", "cut": b'{"steps": [', "list": b"[1]", "nul": b"\x00\xff"}.items():
        write_trial(folder / "runs", name, 0.0)
        (folder / "runs" / f"{name}__aBcD123/agent/trajectory.json").write_bytes(content)
    config = write_config(folder)
    run_all(config)
    statuses = {row["task"]: row["status"] for row in rows(folder / "results/small/index.csv")}
    assert statuses == {"good": "ok", **dict.fromkeys(("empty", "cut", "list", "nul"), "unreadable")}
    assert {row["task"] for row in rows(folder / "results/small/attrition.csv")} == statuses.keys() - {"good"}
    listed = {row["file"].split("__")[0] for row in rows(folder / "results/small/ingest.csv")}
    assert listed == set(statuses)


def test_hostile_names_and_texts_come_through_every_stage(folder: Path) -> None:
    thought = "It should work but \x00\x1b[31m<script>alert(1)</script> \u202e \ud83d doesn't. Anyway, done."
    write_trial(folder / "runs", "täsk {x} '$(rm)' <b>", 0.0, thought)
    write_trial(folder / "runs", "plain", 1.0)
    run_all(write_config(folder, report={"pages": "all"}))
    pages = sorted((folder / "results/pages/small").iterdir())
    assert len(pages) == 2
    assert not any("<script>" in page.read_text() for page in pages)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ingest", "--dataset", "nope"], "--dataset nope: not in the config; known: small"),
        (["ingest", "--shard", "7"], "--shard 7: dataset small has shards 0 to 2"),
        (["judge", "--judge", "nope"], "--judge nope: the judges of dataset small are rules"),
        (["preprocess"], "index-0.jsonl: not there: `coherence ingest` makes it; run `snakemake --"),
        (["show"], "small.json` first"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_users_mistake_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    write_trial(folder / "runs", "sum", 1.0)
    assert main([*arguments, "--config", str(write_config(folder))]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        ({"columns": {"outcome": "rewrd"}}, "columns.outcome"),
        ({"feature_columns": ["stepz"]}, "feature_columns"),
        ({"verdict_columns": {"human": {"flagged": "flg"}}}, "verdict_columns.human.flagged"),
    ],
)
def test_a_table_without_a_named_column_is_refused_before_anything_runs(
    folder: Path, capsys: pytest.CaptureFixture[str], keys: dict[str, Any], key: str
) -> None:
    (folder / "facts.csv").write_text(TABLE)
    verdicts = {"verdict_columns": {"human": {"flagged": "flag"}}}
    datasets = {"facts": {"paths": "facts.csv", "format": "table", **verdicts, **keys}}
    config = write_config(folder, datasets=datasets, judges={"human": {"kind": "recorded"}})
    assert main(["plan", "--config", str(config)]) == 1
    assert f"(datasets.facts.{key}) among: id, failed, w" in capsys.readouterr().err


def test_an_llm_judge_without_a_key_says_what_to_do(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    write_trial(folder / "runs", "sum", 1.0)
    prompt = Path(__file__).parents[2] / "config/prompts/detector.md"
    judges = {"detector": {"kind": "llm", "prompt": str(prompt)}}
    config = write_config(folder, judges=judges)
    for stage in STAGES[:3]:
        main([*stage, "--config", str(config)])
    assert main(["judge", "--config", str(config)]) == 1
    assert "ANTHROPIC_API_KEY" in capsys.readouterr().err


def test_the_memo_holds_no_text_of_the_trajectories(folder: Path) -> None:
    write_trial(folder / "runs", "sum", 1.0, "a very private thought")
    config = write_config(folder)
    for stage in STAGES[:3]:
        main([*stage, "--config", str(config)])
    memos = list((folder / "results/memo").rglob("*.json"))
    assert memos
    assert not any("private" in path.read_text() for path in memos)


def test_every_row_can_be_traced(folder: Path) -> None:
    write_trial(folder / "runs", "sum", 1.0)
    run_all(write_config(folder))
    traced = json.loads((folder / "results/provenance.json").read_text())["datasets"]["small"][0]
    files = {source["path"] for source in traced["sources"]}
    assert "sum__aBcD123/agent/trajectory.json" in files
    assert traced["judges"]["rules"][0].startswith("rules")


def test_another_number_of_shards_loses_nothing(folder: Path) -> None:
    for number in range(9):
        write_trial(folder / "runs", f"task-{number}", 1.0)
    for shards in (3, 2, 5):
        config = write_config(
            folder, datasets={"small": {"paths": "runs", "format": "harbor", "shards": shards}}
        )
        run_all(config)
        for made in ("trajectories", "preprocessed"):
            assert len(list((folder / "results/small" / made).iterdir())) == 9


def test_a_trial_that_is_gone_leaves_no_files(folder: Path) -> None:
    for number in range(3):
        write_trial(folder / "runs", f"task-{number}", 1.0)
    config = write_config(folder)
    run_all(config)
    shutil.rmtree(folder / "runs" / "task-1__aBcD123")
    run_all(config)
    for made in ("trajectories", "preprocessed"):
        names = {path.name.split("__")[0] for path in (folder / "results/small" / made).iterdir()}
        assert names == {"task-0", "task-2"}


def test_a_recorded_line_that_fits_trials_of_two_shards_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for job in range(6):
        write_trial(folder / "runs" / f"job-{job}", "sum", 1.0)
    (folder / "verdicts.jsonl").write_text('{"trial": "sum__aBcD123", "state": "unflagged"}\n')
    config = write_config(folder, judges={"said": {"kind": "recorded", "path": "verdicts.jsonl"}})
    for stage in STAGES[:3]:
        main([*stage, "--config", str(config)])
    assert main(["judge", "--config", str(config)]) == 1
    assert "verdicts.jsonl:1" in capsys.readouterr().err


def test_a_changed_trajectory_changes_every_list_it_is_in(folder: Path) -> None:
    write_trial(folder / "runs", "sum", 1.0, "one thought")
    config = write_config(folder, datasets={"small": {"paths": "runs", "format": "harbor"}})
    lists = []
    for thought in ("one thought", "two thought"):
        shutil.rmtree(folder / "runs")
        write_trial(folder / "runs", "sum", 1.0, thought)
        for stage in STAGES[:2]:
            main([*stage, "--config", str(config)])
        shards = folder / "results/small/shards"
        lists.append([(shards / f"{name}-0.jsonl").read_bytes() for name in ("index", "preprocess")])
    assert lists[0][0] != lists[1][0]
    assert lists[0][1] != lists[1][1]


def test_what_a_message_quotes_cannot_drive_the_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "facts.csv").write_text("na\x1b]0;pwned\x07me,failed\nx,1\n")
    config = write_config(folder, datasets={"facts": {"paths": "facts.csv", "format": "table"}}, judges={})
    assert main(["ingest", "--config", str(config)]) == 1
    assert "\x1b" not in capsys.readouterr().err


def test_exported_spans_are_verdicts_again(folder: Path) -> None:
    thought = "The test should pass but it fails, that is strange. Anyway, done."
    write_trial(folder / "runs", "bad", 0.0, thought, steps=6)
    write_trial(folder / "runs", "good", 1.0)
    run_all(write_config(folder))
    exported = folder / "spans.jsonl"
    exported.write_bytes((folder / "results/small/spans.jsonl").read_bytes())
    spans = exported.read_text().count("\n")
    assert spans > 0
    again = {"kind": "recorded", "path": "spans.jsonl"}
    run_all(write_config(folder, judges={"rules": {"kind": "rules"}, "again": again}))
    words = {
        name: [json.loads(line) for line in lines.splitlines()]
        for name in ("rules", "again")
        for lines in [(folder / f"results/small/judgements/{name}.jsonl").read_text()]
    }
    flagged = [word for word in words["again"] if word["state"] == "flagged"]
    assert [word["spans"] for word in flagged] == [w["spans"] for w in words["rules"] if w["spans"]]
    assert {word["reason"] for word in words["again"] if word["state"] != "flagged"} == {"missing"}


def test_lines_about_nothing_here_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_trial(folder / "runs", "sum", 1.0)
    (folder / "verdicts.jsonl").write_text('{"trial": "elsewhere", "state": "unflagged"}\n')
    config = write_config(folder, judges={"said": {"kind": "recorded", "path": "verdicts.jsonl"}})
    for stage in STAGES[:4]:
        assert main([*stage, "--config", str(config)]) == 0
    assert "1 lines of its file are on no trajectory of small" in capsys.readouterr().err


def indexed(config: Path, results: Path) -> tuple[dict[str, tuple[str, str]], dict[str, bytes], bytes]:
    """Ingest, and return the counts of tests, the files of tests, and the index, all by task."""
    for stage in (["ingest"], ["gather", "index"]):
        assert main([*stage, "--config", str(config)]) == 0
    counts = {row["task"]: (row["tests_passed"], row["tests_failed"]) for row in rows(results / "index.csv")}
    files = {path.name.split("__")[0]: path.read_bytes() for path in (results / "tests").iterdir()}
    return counts, files, b"".join(path.read_bytes() for path in sorted(results.glob("shards/index-*")))


def test_tests_lie_beside_the_index_and_are_written_again_where_they_are_gone(folder: Path) -> None:
    for name in ("sum", "none"):
        write_trial(folder / "runs", name, 1.0)
    write_tests(folder / "runs" / "sum__aBcD123", a="passed", b="failed", c="skipped")
    config, results = write_config(folder), folder / "results/small"
    first = indexed(config, results)
    assert first[0] == {"sum": ("1", "1"), "none": ("", "")}
    assert list(first[1]) == ["sum"]
    shutil.rmtree(results / "tests")
    assert indexed(config, results) == first


def test_other_tests_change_the_index_and_none_leave_no_file(folder: Path) -> None:
    for name in ("sum", "gone"):
        write_trial(folder / "runs", name, 1.0)
        write_tests(folder / "runs" / f"{name}__aBcD123", a="passed", b="failed")
    config, results = write_config(folder), folder / "results/small"
    first = indexed(config, results)
    (folder / "runs" / "gone__aBcD123" / "verifier" / "ctrf.json").unlink()
    write_tests(folder / "runs" / "sum__aBcD123", a="passed", other="failed")
    counts, files, index = indexed(config, results)
    assert counts == {"sum": ("1", "1"), "gone": ("", "")}
    assert list(files) == ["sum"]
    assert not set(index.splitlines()) & set(first[2].splitlines())


def test_tests_that_are_gone_are_missed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for job in "ab":
        write_trial(folder / "runs" / job, "sum", 1.0)
        write_tests(folder / "runs" / job / "sum__aBcD123", a="passed")
    config = write_config(folder)
    for stage in STAGES[:4]:
        assert main([*stage, "--config", str(config)]) == 0
    shutil.rmtree(folder / "results/small/tests")
    assert main(["outcomes", "--config", str(config)]) == 1
    assert "run `coherence ingest` again" in capsys.readouterr().err


def test_the_workflow_reads_again_only_the_shard_whose_tests_are_gone(folder: Path) -> None:
    for name in ("sum", "mean", "none", "mode"):
        write_trial(folder / "runs", name, 1.0)
    for name in ("sum", "mean"):
        write_tests(folder / "runs" / f"{name}__aBcD123", a="passed")
    config = write_config(folder)
    assert main(["ingest", "--config", str(config)]) == 0
    lists = sorted((folder / "results/small/shards").glob("index-*"))
    lost = next((folder / "results/small/tests").glob("sum__*"))
    (promised,) = (path for path in lists if lost.stem in path.read_text())
    Run(json.loads(config.read_text()))
    assert all(path.exists() for path in lists)
    lost.unlink()
    Run(json.loads(config.read_text()))
    assert [path for path in lists if not path.exists()] == [promised]
