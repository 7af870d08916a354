"""Ablations by config alone: the shipped config offline, and prompts asked of a server and replayed."""

import csv
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from workspace import REPORTED, ROOT, lay_out, snakemake, write_config, write_trial

from coherence.cli import main
from coherence.cli.config import LlmJudge, RecordedJudge, RulesJudge
from coherence.cli.config_files import parse
from coherence.cli.variants import changes
from coherence.cli.workflow import Run
from coherence.errors import ConfigError
from coherence.judges.rules import RulesSettings
from messages_server import CUE, MessagesServer, only_this_key, serving

BEFORE = (["ingest"], ["preprocess"], ["features"])
JUDGED = (["judge"], ["gather", "judgements"], ["table"], ["evaluate"])
TASKS = 6


def config_for(folder: Path, url: str, offline: bool = False) -> Path:
    full = {"kind": "llm", "prompt": str(ROOT / "config/prompts/detector.md"), "base_url": url}
    judges = {
        "full": full,
        "no-vocabulary": {**full, "drop": ["Kinds of conflict"]},
        "action-only": {**full, "show_thoughts": False},
        "rules": {"kind": "rules"},
        "rules-plain": {"kind": "rules", "settings": {"resolution_check": False}},
    }
    ablated = {"full": ["no-vocabulary", "action-only"], "rules": ["rules-plain"]}
    settings = {"resamples": 20, "ablations": ablated, "equivalence": {"at_least": TASKS}}
    return write_config(folder, judges=judges, evaluation=settings, offline=offline)


def stages(config: Path, *commands: list[str]) -> None:
    for command in commands:
        assert main([*command, "--config", str(config)]) == 0


def table(folder: Path) -> dict[str, dict[str, str]]:
    lines = csv.DictReader((folder / "results/tables/ablations.csv").read_text("utf-8").splitlines())
    return {line["judge"]: line for line in lines}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with trials: the even ones name a conflict and fail."""
    monkeypatch.chdir(tmp_path)
    only_this_key("test-key", monkeypatch, tmp_path)
    for number in range(TASKS):
        thought = f"The sum is {number}, {CUE}." if number % 2 == 0 else f"{number} is right."
        write_trial(tmp_path / "runs", f"task-{number}", float(number % 2), thought)
    return tmp_path


def asked(folder: Path, server: MessagesServer) -> Path:
    config = config_for(folder, server.url)
    stages(config, *BEFORE, *JUDGED)
    return config


def test_prompts_are_asked_compared_and_paid_for(folder: Path) -> None:
    with serving() as server:
        asked(folder, server)
        assert len(server.received) == 2 * TASKS + 1  # the runs differ by their thoughts alone
    found = table(folder)
    assert [found[name]["changed"] for name in found] == [
        "", "drop: Kinds of conflict", "show_thoughts: false", "", "resolution_check: false",
    ]  # fmt: skip
    assert [found[name]["flagged_count"] for name in ("full", "no-vocabulary", "action-only")] == [
        "3",
        "3",
        "0",
    ]
    assert (found["action-only"]["flags_full_only"], found["action-only"]["right_full_only"]) == ("3", "3")
    assert found["action-only"]["right_mcnemar_exact_p"] == "0.25"
    assert found["no-vocabulary"]["right_mcnemar_mid_p"] == "1"
    assert [found[name]["calls"] for name in found] == ["6", "6", "1", "", ""]
    assert float(found["full"]["dollars"]) > 0
    assert all(line["not_run"] == "" for line in found.values())


def test_without_server_and_key_the_stored_replies_give_the_same_table(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as server:
        asked(folder, server)
    before = table(folder)
    for shard in (folder / "results/small/shards").glob("judge-*"):
        shard.unlink()
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    stages(config_for(folder, "http://127.0.0.1:9", offline=True), *JUDGED)
    assert table(folder) == before


def test_without_replies_the_prompts_are_shown_as_not_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    config = config_for(folder, "http://127.0.0.1:9", offline=True)
    stages(config, *BEFORE, *JUDGED, *REPORTED)
    found = table(folder)
    reasons = {name: line["not_run"] for name, line in found.items()}
    assert set(reasons) == {"full", "no-vocabulary", "action-only", "rules", "rules-plain"}
    assert {reasons[name] for name in ("full", "no-vocabulary", "action-only")} == {
        "no stored reply, and the run is offline"
    }
    assert (reasons["rules"], found["rules"]["flagged_n"], found["full"]["gap"]) == ("", str(TASKS), "")
    report = (folder / "results/report.html").read_text("utf-8")
    assert "Ablations of the judges" in report
    assert "not run: no stored reply" in report
    assert (folder / "results/figures/ablations.svg").is_file()


def judged_by_models(folder: Path) -> list[Path]:
    shards = sorted((folder / "results/small/shards").glob("judge-*.jsonl"))
    return [path for path in shards if b'"kind":"llm"' in path.read_bytes()]


def test_what_was_not_run_is_run_once_it_may_be(folder: Path) -> None:
    config = config_for(folder, "http://127.0.0.1:9", offline=True)
    stages(config, *BEFORE, ["judge"])
    unasked = judged_by_models(folder)
    assert unasked
    raw = json.loads(config.read_text())
    Run(raw)
    assert judged_by_models(folder) == unasked  # still offline, and no reply has come
    Run({**raw, "offline": False})
    assert judged_by_models(folder) == []


def test_what_was_not_run_is_looked_at_again_after_a_reply_has_come(folder: Path) -> None:
    config = config_for(folder, "http://127.0.0.1:9", offline=True)
    stages(config, *BEFORE, ["judge"])
    assert judged_by_models(folder)
    new = folder / "results/replies/ab"
    new.mkdir(parents=True)
    os.utime(new, (time.time() + 60,) * 2)
    Run(json.loads(config.read_text()))
    assert judged_by_models(folder) == []


def test_the_shipped_ablations_run_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    folder = lay_out(tmp_path)
    planned = snakemake(folder, "--configfile", "config/ablations.yaml", "--dry-run")
    assert planned.returncode == 0, planned.stderr
    # Each stage once for everything: the workflow would start a process a judge and dataset.
    monkeypatch.chdir(folder)
    stages(folder / "config/ablations.yaml", *BEFORE, *JUDGED, *REPORTED[1:])
    results = folder / "results/ablations"
    lines = list(csv.DictReader((results / "tables/ablations.csv").read_text("utf-8").splitlines()))
    of = {name: [line for line in lines if line["full"] == name] for name in ("full", "rules")}
    assert len(of["full"]) == 13
    assert all(line["not_run"] for line in of["full"])
    assert {line["dataset"] for line in of["rules"]} == {
        *("example-model-a", "example-model-b", "qwen", "gemma")
    }
    assert len(of["rules"]) == 4 * 8
    assert all(line["flagged_n"] and not line["not_run"] for line in of["rules"])
    assert (results / "figures/ablations.png").stat().st_size


@pytest.mark.parametrize(
    ("ablated", "said"),
    [
        ({"none": []}, "evaluation.ablations.none: no judge none"),
        ({"rules": ["gone"]}, "evaluation.ablations.rules: no judge gone"),
        ({"rules": ["rules"]}, "rules is itself a judge with variants"),
    ],
    ids=["full", "variant", "itself"],
)
def test_an_ablation_of_a_judge_that_is_not_there_is_refused(ablated: Any, said: str) -> None:
    raw = {"datasets": {}, "judges": {"rules": {"kind": "rules"}}, "evaluation": {"ablations": ablated}}
    with pytest.raises(ConfigError, match=said):
        parse(raw, "config")


@pytest.mark.parametrize(
    ("full", "variant", "said"),
    [
        (
            RulesJudge(),
            RulesJudge(settings=RulesSettings(typed=False, window=1)),
            ["typed: false", "window: 1"],
        ),
        (RulesJudge(), RecordedJudge(path="x"), ["kind: recorded, not rules"]),
        (RulesJudge(), RulesJudge(), ["no change"]),
        (LlmJudge(prompt="p"), LlmJudge(prompt="p", drop=("A", "B")), ["drop: A, B"]),
        (LlmJudge(prompt="p"), LlmJudge(prompt="p", replace={"A": "f.md"}), ["replace: A"]),
        (LlmJudge(prompt="p", drop=("A",)), LlmJudge(prompt="p", base_url="x", offline=True), ["drop: -"]),
    ],
    ids=["settings", "kind", "nothing", "drop", "replace", "what travels"],
)
def test_what_a_variant_changes_is_read_off_the_config(full: Any, variant: Any, said: list[str]) -> None:
    assert list(changes(full, variant)) == said


def test_the_assembled_prompt_is_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = str(config_for(folder, "http://127.0.0.1:9"))
    assert main(["prompt", "--config", config, "--judge", "no-vocabulary"]) == 0
    assert "## Worked examples" in (said := capsys.readouterr().out)
    assert "## Kinds of conflict" not in said
    assert main(["prompt", "--config", config, "--judge", "rules"]) == 1
    assert "there are full, no-vocabulary, action-only" in capsys.readouterr().err


def test_a_judge_is_stale_when_a_text_it_puts_in_its_prompt_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_trial(tmp_path / "runs", "alpha", 1.0)
    judge = {"kind": "llm", "prompt": "p.md", "replace": {"Definition": "d.md"}}
    for name in ("p.md", "d.md"):
        (tmp_path / name).write_text("")
    run = Run(json.loads(write_config(tmp_path, judges={"detector": judge}).read_text()))
    assert run.judge_files("detector") == ["p.md", "d.md"]
