"""The Claude path by config alone: a server of one's own, then no server and no key."""

from pathlib import Path

import pytest
from workspace import ROOT, write_config, write_trial

from coherence.cli import main
from messages_server import CUE, MessagesServer, serving

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
