"""The Claude path by config alone: a server of one's own, then no server and no key."""

import json
from pathlib import Path

import pytest
from workspace import ROOT, write_config, write_trial

from coherence.cli import main
from coherence.cli.workflow import Run
from coherence.files import read_lines
from coherence.records import Judgement, Lost
from messages_server import CUE, MessagesServer, failure, only_this_key, serving

STAGES = (
    ["ingest"],
    ["preprocess"],
    ["features"],
    ["judge"],
    ["gather", "judgements"],
    ["table"],
    ["evaluate"],
)
MADE = ("small/judgements/detector.jsonl", "small/judgements/generic.jsonl", "tables/failure_rates.csv")


def config_for(folder: Path, server: MessagesServer) -> Path:
    prompts = ROOT / "config/prompts"
    judges = {
        "detector": {"kind": "llm", "prompt": f"{prompts}/detector.md", "base_url": server.url},
        "generic": {
            "kind": "llm",
            "prompt": f"{prompts}/generic.md",
            "base_url": server.url,
            "rating_at_most": 3,
        },
    }
    return write_config(folder, judges=judges)


def test_both_judges_run_against_a_server_and_then_from_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    write_trial(tmp_path / "runs", "bad", 0.0, f"The sum is 7, {CUE}.")
    write_trial(tmp_path / "runs", "good", 1.0, "The sum is right.")
    with serving() as server:
        config = config_for(tmp_path, server)
        for stage in STAGES:
            assert main([*stage, "--config", str(config)]) == 0
        calls = len(server.received)
    first = {name: (tmp_path / "results" / name).read_bytes() for name in MADE}
    assert b'"state":"flagged"' in first["small/judgements/detector.jsonl"]
    assert calls == 4
    for stage in STAGES:
        assert main([*stage, "--config", str(config)]) == 0
    assert {name: (tmp_path / "results" / name).read_bytes() for name in MADE} == first


def test_a_failed_call_is_tried_again_by_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    only_this_key("test-key", monkeypatch, tmp_path)
    write_trial(tmp_path / "runs", "bad", 0.0, f"The sum is 7, {CUE}.")
    with serving() as server:
        config = config_for(tmp_path, server)
        server.script.append(failure(400, "invalid_request_error", "a bad field"))
        for stage in STAGES[:4]:
            assert main([*stage, "--config", str(config)]) == 0
        shards = sorted((tmp_path / "results/small/shards").glob("judge-*.jsonl"))
        failed = [path for path in shards if b'"reason":"api"' in path.read_bytes()]
        assert len(failed) == 1
        Run(json.loads(config.read_text()))
        assert [path for path in shards if not path.exists()] == failed


def test_a_failed_call_beside_a_flag_is_tried_again_and_the_flag_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    only_this_key("test-key", monkeypatch, tmp_path)
    write_trial(tmp_path / "runs", "bad", 0.0, f"The sum is 7, {CUE}.", steps=8)
    with serving() as server:
        prompt, window = (
            f"{ROOT}/config/prompts/detector.md",
            {"window_tokens": 200, "window_overlap_steps": 0},
        )
        judge = {"kind": "llm", "prompt": prompt, "base_url": server.url, **window}
        dataset = {"paths": "runs", "format": "harbor", "shards": 1}
        config = write_config(tmp_path, datasets={"small": dataset}, judges={"detector": judge})
        shard = tmp_path / "results/small/shards/judge-detector-0.jsonl"
        server.dealers.append(lambda n, _: failure(400, "invalid_request_error", "no") if n == 1 else None)
        for stage in STAGES[:4]:
            assert main([*stage, "--config", str(config)]) == 0
        (flagged,) = read_lines(shard, Judgement)
        assert (flagged.state, flagged.lost) == ("flagged", (Lost(2, "api"),))

        Run(json.loads(config.read_text()))
        assert not shard.exists()
        asked = len(server.received)
        assert main([*STAGES[3], "--config", str(config)]) == 0
        (again,) = read_lines(shard, Judgement)
        assert (again.state, again.lost) == ("flagged", ())
        assert {span.acknowledgment_step for span in flagged.spans} < {
            span.acknowledgment_step for span in again.spans
        }
        assert len(server.received) > asked
        Run(json.loads(config.read_text()))
        assert shard.exists()


def test_judgements_are_stale_under_other_headers_of_the_api_and_those_that_ask_nobody_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.md").write_text("Judge.")
    asking = {"kind": "llm", "prompt": "p.md"}
    judges = {"detector": asking, "dated": {**asking, "temperature": 0.5}, "rules": {"kind": "rules"}}
    run = Run(json.loads(write_config(tmp_path, judges=judges).read_text()), is_main=False)

    def stale(lines: str) -> set[str]:
        monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", lines)
        return {name for name in judges if run.judge_version(name) != before[name]}

    monkeypatch.delenv("ANTHROPIC_CUSTOM_HEADERS", raising=False)
    before = {name: run.judge_version(name) for name in judges}
    assert stale("x-gateway-key: hush-hush") == set()
    assert stale("anthropic-beta: other-2026") == {"detector", "dated"}
    assert stale("anthropic-version: 2020-01-01") == {"detector"}, "a temperature brings a version of its own"


def test_a_threshold_for_a_prompt_without_a_rating_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_trial(tmp_path / "runs", "bad", 0.0)
    judge = {"kind": "llm", "prompt": str(ROOT / "config/prompts/detector.md"), "rating_at_most": 2}
    config = write_config(tmp_path, judges={"detector": judge})
    for stage in STAGES[:3]:
        main([*stage, "--config", str(config)])
    assert main(["judge", "--config", str(config)]) == 1
    assert "reports no rating" in capsys.readouterr().err
