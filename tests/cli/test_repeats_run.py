"""Repeats, parts and absent quotes by config alone, from the runs to the report."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from workspace import REPORTED, ROOT, write_config, write_trial

from coherence.cli import main
from messages_server import CUE, MessagesServer, message, only_this_key, serving

STAGES = (
    *(["ingest"], ["preprocess"], ["features"], ["judge"], ["gather", "index"], ["gather", "features"]),
    ["gather", "judgements"],
    *REPORTED,
)
CLEAN = {"trajectory_summary": "s", "flagged_spans": []}


def run_all(folder: Path, server: MessagesServer, **settings: Any) -> None:
    judge = {"kind": "llm", "prompt": f"{ROOT}/config/prompts/detector.md", "concurrency": 1, **settings}
    config = write_config(folder, judges={"detector": {**judge, "base_url": server.url}})
    for stage in STAGES:
        assert main([*stage, "--config", str(config)]) == 0


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "results" / name).open(newline="") as lines:
        return list(csv.DictReader(lines))


def test_samples_bring_a_majority_and_a_table_of_their_agreement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    only_this_key("test-key", monkeypatch, tmp_path)
    write_trial(tmp_path / "runs", "bad", 0.0, f"The sum is 7, {CUE}.")
    write_trial(tmp_path / "runs", "worse", 0.0, f"The sum is 8, {CUE}.")
    with serving() as server:
        server.script.extend([message("not an answer"), message(json.dumps(CLEAN))])
        run_all(tmp_path, server, samples=3)
        assert len(server.received) == 7
    (repeats,) = rows(tmp_path, "tables/repeats.csv")
    (counted,) = rows(tmp_path, "tables/judgements.csv")
    states = {row["task"]: row["detector.state"] for row in rows(tmp_path, "small/table.csv")}

    assert (repeats["samples"], repeats["n"], repeats["unanimous_count"]) == ("3", "2", "1")
    assert float(repeats["flip_rate"]) == pytest.approx(1 / 3)
    assert (counted["n"], counted["flagged"], counted["asked_again"]) == ("6", "5", "1")
    assert sorted(states.values()) == ["flagged", "flagged"]
    assert "Agreement of repeated judgements" in (tmp_path / "results/report.html").read_text()
    provenance = (tmp_path / "results/provenance.json").read_text()
    assert all(path.stem in provenance for path in (tmp_path / "results/replies").rglob("*.json"))


def test_a_judge_asked_once_has_no_empty_table_in_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    only_this_key("test-key", monkeypatch, tmp_path)
    write_trial(tmp_path / "runs", "bad", 0.0, f"The sum is 7, {CUE}.")
    with serving() as server:
        run_all(tmp_path, server, window_tokens=150, window_overlap_steps=0)
    (counted,) = rows(tmp_path, "tables/judgements.csv")

    assert counted["in_parts"] == "1"
    assert rows(tmp_path, "tables/repeats.csv") == []
    assert "Agreement of repeated judgements" not in (tmp_path / "results/report.html").read_text()
