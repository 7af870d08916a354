"""`mode: batch` by config alone, and the command that lists and cancels batches."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from workspace import ROOT, write_config, write_trial

from batches_server import Batches
from coherence.cli import main
from coherence.llm.batch_folder import BatchFolder
from messages_server import CUE, MessagesServer, answer, only_this_key, serving

JUDGED = Path("results/small/judgements/detector.jsonl")


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with serving() as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    only_this_key("test-key", monkeypatch, tmp_path)
    monkeypatch.chdir(tmp_path)
    write_trial(tmp_path / "runs", "bad", 0.0, f"The sum is 7, {CUE}.")
    write_trial(tmp_path / "runs", "good", 1.0, "The sum is right.")
    return tmp_path


def config_for(folder: Path, server: MessagesServer, **fields: Any) -> str:
    prompt = f"{ROOT / 'config/prompts'}/detector.md"
    judge = {"kind": "llm", "prompt": prompt, "base_url": server.url, "poll_seconds": 0.1, **fields}
    return str(write_config(folder, judges={"detector": judge}))


def judged(config: str) -> bytes:
    for stage in (["ingest"], ["preprocess"], ["judge"], ["gather", "judgements"]):
        assert main([*stage, "--config", config]) == 0
    return JUDGED.read_bytes()


def test_a_judge_in_batches_says_what_it_says_directly(folder: Path, server: MessagesServer) -> None:
    batches = Batches(server)
    batches.reply = answer
    in_batches = judged(config_for(folder, server, mode="batch"))

    assert b'"state":"flagged"' in in_batches and b'"state":"unflagged"' in in_batches
    assert [len(batch.requests) for batch in batches.batches.values()] == [2]
    assert judged(config_for(folder, server, mode="direct")) == in_batches
    assert server.received == []


def test_open_batches_are_listed_and_can_be_canceled(
    folder: Path, server: MessagesServer, capsys: pytest.CaptureFixture[str]
) -> None:
    batches = Batches(server, looks=9)
    config = config_for(folder, server, mode="batch", offline=True)
    assert main(["batches", "list", "--config", config]) == 0
    assert capsys.readouterr().out == "0 under way, 0 collected\n"
    kept = BatchFolder(folder / "results" / "replies" / "batches")
    with kept.locked():
        kept.name(kept.begin("detector", ["a", "b"], [b"{}", b"{}"]), "msgbatch_0001")
    batches.create({"a": {}, "b": {}})

    assert main(["batches", "list", "--config", config]) == 0
    assert "msgbatch_0001  " in (out := capsys.readouterr().out)
    assert out.endswith("  detector  2 requests\n1 under way, 0 collected\n")
    assert main(["batches", "cancel", "msgbatch_0001", "--config", config]) == 0
    assert capsys.readouterr().out.startswith("msgbatch_0001: canceling.")
    assert batches.batches["msgbatch_0001"].canceled


def test_a_batch_that_is_not_there_is_named(
    folder: Path, server: MessagesServer, capsys: pytest.CaptureFixture[str]
) -> None:
    Batches(server)
    config = config_for(folder, server, mode="batch")
    assert main(["batches", "cancel", "msgbatch_9", "--config", config]) == 1
    assert "msgbatch_9: no open batch" in capsys.readouterr().err


def test_a_cancel_the_api_refuses_is_named(
    folder: Path, server: MessagesServer, capsys: pytest.CaptureFixture[str]
) -> None:
    Batches(server)
    kept = BatchFolder(folder / "results" / "replies" / "batches")
    with kept.locked():
        kept.name(kept.begin("detector", ["a"], [b"{}"]), "msgbatch_9")

    config = config_for(folder, server, mode="batch")
    assert main(["batches", "cancel", "msgbatch_9", "--config", config]) == 1
    assert "msgbatch_9: cannot be canceled" in capsys.readouterr().err
