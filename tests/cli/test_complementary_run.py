"""Complementary judges and a second look by config alone: asked of a server, replayed, and recorded."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from workspace import ROOT, lay_out, snakemake, write_config, write_trial

from coherence.cli import main
from coherence.cli.config_files import parse
from coherence.cli.workflow import Run
from coherence.errors import ConfigError
from messages_server import CUE, only_this_key, serving

STAGES = (
    ["ingest"],
    ["preprocess"],
    ["features"],
    ["judge"],
    ["gather", "judgements"],
    ["table"],
    ["evaluate"],
)
PROMPTS = ROOT / "config/prompts"


def judges(url: str) -> dict[str, Any]:
    common = {"kind": "llm", "base_url": url}
    return {
        "detector": {**common, "prompt": str(PROMPTS / "detector.md")},
        "silent": {**common, "prompt": str(PROMPTS / "silent_overreach.md")},
        "proxy": {**common, "prompt": str(PROMPTS / "proxy_goal.md"), "of": "detector"},
    }


def table(folder: Path, name: str) -> list[dict[str, str]]:
    path = folder / "results" / "tables" / f"{name}.csv"
    return list(csv.DictReader(path.read_text("utf-8").splitlines()))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    only_this_key("test-key", monkeypatch, tmp_path)
    write_trial(tmp_path / "runs", "bad", 0.0, f"The sum is 7, {CUE}.")
    write_trial(tmp_path / "runs", "worse", 0.0, "All is well.")
    write_trial(tmp_path / "runs", "good", 1.0, "The sum is right.")
    return tmp_path


def evaluated(folder: Path, chosen: dict[str, Any], **changes: Any) -> None:
    settings = {"resamples": 20, "complementary": {"detector": ["silent", "proxy"]}}
    config = write_config(folder, judges=chosen, evaluation=settings, **changes)
    for stage in STAGES:
        assert main([*stage, "--config", str(config)]) == 0


def test_asked_then_replayed_then_recorded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as server:
        evaluated(folder, judges(server.url))
        assert len(server.received) == 3 + 3 + 1
    first = {name: table(folder, name) for name in ("complementary", "proxy_goal")}
    found = {row["judges"]: row for row in first["complementary"]}
    assert list(found) == [
        "detector", "silent", "proxy", "detector + silent", "detector + proxy", "detector + silent + proxy"
    ]  # fmt: skip
    assert [(row["caught_count"], row["caught_n"], row["n"]) for row in found.values()] == [
        ("1", "2", "3")
    ] * 6
    assert [(row["hacking_spans"], row["spans_n"]) for row in first["proxy_goal"]] == [("1", "1")]

    monkeypatch.delenv("ANTHROPIC_API_KEY")
    evaluated(folder, judges("http://127.0.0.1:9"), offline=True)
    assert {name: table(folder, name) for name in first} == first

    kept = folder / "kept"
    kept.mkdir()
    for name in judges(""):
        (folder / f"results/small/judgements/{name}.jsonl").rename(kept / f"{name}.jsonl")
    recorded: dict[str, Any] = {
        name: {"kind": "recorded", "path": f"kept/{name}.jsonl"} for name in judges("")
    }
    recorded["silent"]["reports"] = "passages"
    recorded["proxy"] |= {"reports": "proxy", "of": "detector"}
    evaluated(folder, recorded)
    assert {name: table(folder, name) for name in first} == first


def test_snakemake_judges_spans_after_the_judge_they_are_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = lay_out(tmp_path)
    write_trial(folder / "runs", "bad", 0.0, f"The sum is 7, {CUE}.")
    chosen = {name: judges("")[name] for name in ("proxy", "detector")}  # named first, judged last
    settings = {"resamples": 20, "complementary": {"detector": ["proxy"]}}
    write_config(folder, judges=chosen, evaluation=settings, offline=True)
    done = snakemake(folder, "--configfile", "small.json")
    assert done.returncode == 0, done.stderr
    words = (folder / "results/small/judgements/proxy.jsonl").read_text().splitlines()
    assert [json.loads(word)["detail"] for word in words] == ["not judged by detector"]
    not_run = [row["not_run"] for row in table(folder, "complementary")]
    assert not_run[0] == "detector: no stored reply, and the run is offline"
    run = Run(json.loads((folder / "small.json").read_text()))
    shards = [f"judge-detector-{shard}.jsonl" for shard in range(3)]
    assert [Path(path).name for path in run.judged_before("small", "proxy")] == shards
    assert run.judged_before("small", "detector") == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"judges": {"p": {"kind": "llm", "prompt": "x", "of": "gone"}}}, "judges.p.of: no judge gone"),
        (
            {
                "judges": {
                    "p": {"kind": "llm", "prompt": "x", "of": "q"},
                    "q": {"kind": "recorded", "path": "x", "of": "p"},
                }
            },
            "looks at another judge's spans itself",
        ),
        ({"evaluation": {"complementary": {"a": []}}}, "evaluation.complementary.a: no judge a"),
        ({"evaluation": {"references": ["b"]}}, "evaluation.references: no judge b"),
    ],
    ids=["of", "chain", "complementary", "references"],
)
def test_a_judge_that_is_not_there_is_named(changes: dict[str, Any], said: str) -> None:
    raw = {"datasets": {}, "judges": {"rules": {"kind": "rules"}}, **changes}
    with pytest.raises(ConfigError, match=said):
        parse(raw, "config")
