"""`coherence estimate` and `coherence replies`, on a small run behind a server of one's own."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from workspace import ROOT, write_config, write_trial

from coherence.cli import main
from coherence.llm.store import ReplyStore
from messages_server import (
    CUE,
    MessagesServer,
    Received,
    Response,
    failure,
    message,
    only_this_key,
    serving,
)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[MessagesServer]:
    """A server that counts a token for every four characters of text, and two runs to judge."""
    only_this_key("test-key", monkeypatch, tmp_path)
    monkeypatch.chdir(tmp_path)
    write_trial(tmp_path / "runs", "bad", 0.0, f"The sum is 7, {CUE}.")
    write_trial(tmp_path / "runs", "good", 1.0, "The sum is right.")
    with serving() as running:
        respond = running.respond

        def counting(received: Received) -> Response:
            if received.path != "/v1/messages/count_tokens":
                return respond(received)
            running.received.append(received)
            return Response({"input_tokens": sum(map(len, received.texts)) // 4})

        monkeypatch.setattr(running, "respond", counting)
        yield running


def config(folder: Path, server: MessagesServer, **settings: Any) -> str:
    budget = {"budget_usd": settings.pop("budget_usd")} if "budget_usd" in settings else {}
    judge = {
        "kind": "llm",
        "prompt": f"{ROOT}/config/prompts/detector.md",
        "base_url": server.url,
        **settings,
    }
    return str(write_config(folder, judges={"detector": judge}, **budget))


def prepared(path: str) -> None:
    for stage in ("ingest", "preprocess"):
        assert main([stage, "--config", path]) == 0


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    capsys.readouterr()
    assert main(list(arguments)) == code
    return capsys.readouterr().out


def test_an_estimate_counts_tokens_and_spends_nothing(
    tmp_path: Path, served: MessagesServer, capsys: pytest.CaptureFixture[str]
) -> None:
    path = config(tmp_path, served, samples=2)
    prepared(path)
    text = said(capsys, "estimate", "--config", path)

    assert "small / detector (claude-sonnet-4-6)\n  4 of 4 requests still to be sent" in text
    assert "counted by the API (4 of 4)" in text
    assert "as a batch about $0.0" in text and "in all about $0.0" in text and "budget none" in text
    assert {received.path for received in served.received} == {"/v1/messages/count_tokens"}
    assert not (tmp_path / "results/ledger.csv").exists()


def test_an_estimate_counts_every_part_of_a_long_run(
    tmp_path: Path, served: MessagesServer, capsys: pytest.CaptureFixture[str]
) -> None:
    path = config(tmp_path, served, window_tokens=100)
    prepared(path)
    text = said(capsys, "estimate", "--config", path, "--offline")
    assert main(["judge", "--config", path]) == 0

    assert len(served.received) > 2
    assert f"{len(served.received)} of {len(served.received)} requests still to be sent" in text


def test_an_offline_estimate_states_its_error_and_sends_nothing(
    tmp_path: Path, served: MessagesServer, capsys: pytest.CaptureFixture[str]
) -> None:
    path = config(tmp_path, served)
    prepared(path)
    text = said(capsys, "estimate", "--config", path, "--offline")

    assert "estimated from characters (3.5 a token): offline" in text
    assert "legacy; its successor is claude-sonnet-5-5" in text
    assert served.received == []


def test_a_server_that_cannot_count_is_no_failure(
    tmp_path: Path,
    served: MessagesServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(served, "respond", lambda _: failure(404, "not_found_error", "no such place"))
    path = config(tmp_path, served)
    prepared(path)

    text = said(capsys, "estimate", "--config", path)
    assert "from characters (3.5 a token): HTTP 404 not_found_error: no such place;" in text


def test_what_is_stored_is_not_estimated_and_what_was_spent_is_told(
    tmp_path: Path, served: MessagesServer, capsys: pytest.CaptureFixture[str]
) -> None:
    path = config(tmp_path, served, budget_usd=5)
    prepared(path)
    assert main(["judge", "--config", path]) == 0
    text = said(capsys, "estimate", "--config", path)

    assert "0 of 2 requests still to be sent\n" in text
    assert "in all about $0.00" in text and "spent so far $0.0" in text and "budget $5.00" in text
    more = said(capsys, "estimate", "--config", config(tmp_path, served, samples=3))
    assert "4 of 6 requests still to be sent" in more and "tokens a reply assumed" in more


def test_without_transcripts_the_missing_stage_is_named(
    tmp_path: Path, served: MessagesServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["estimate", "--config", config(tmp_path, served)]) == 1
    assert "Run `coherence ingest` and `coherence preprocess` first" in capsys.readouterr().err


def test_a_budget_stops_the_run_with_its_replies_kept(
    tmp_path: Path, served: MessagesServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """A call costs $0.0003 and can cost $0.24: one fits, the second does not."""
    prices = {"input": 0, "output": 15}
    path = config(tmp_path, served, budget_usd=0.2401, prices=prices)
    prepared(path)
    assert main(["judge", "--config", path]) == 1

    assert "more than `budget_usd: 0.2401` together" in capsys.readouterr().err
    assert len(list(ReplyStore(tmp_path / "results/replies").replies())) == len(served.received) == 1
    assert not list((tmp_path / "results/small/shards").glob("judge-*"))


def paid(tmp_path: Path, served: MessagesServer, **settings: Any) -> tuple[str, ReplyStore]:
    path = config(tmp_path, served, **settings)
    prepared(path)
    assert main(["judge", "--config", path]) == 0
    return path, ReplyStore(tmp_path / "results/replies")


def test_replies_are_listed_by_model(
    tmp_path: Path, served: MessagesServer, capsys: pytest.CaptureFixture[str]
) -> None:
    path, store = paid(tmp_path, served)
    size = sum(file.stat().st_size for file in store.replies())
    text = said(capsys, "replies", "list", "--config", path)

    assert text.startswith(f"claude-sonnet-4-6: 2 replies, {size:,} bytes, ")
    assert "0 failed attempts, 0 unreadable files" in text


def test_a_model_s_name_cannot_reach_the_terminal(
    tmp_path: Path, served: MessagesServer, capsys: pytest.CaptureFixture[str]
) -> None:
    served.script.append(message("{}", model="\x1b[31mred"))
    path, _ = paid(tmp_path, served, ask_again=False, concurrency=1)

    assert "\\x1b[31mred: 1 replies" in said(capsys, "replies", "list", "--config", path)


def test_a_sound_store_is_verified_and_each_bad_file_named(
    tmp_path: Path, served: MessagesServer, capsys: pytest.CaptureFixture[str]
) -> None:
    path, store = paid(tmp_path, served, samples=2)
    assert "4 replies, 0 of them bad" in said(capsys, "replies", "verify", "--config", path)
    cut, changed, _, moved = store.replies()
    cut.write_bytes(cut.read_bytes()[:100])
    document = json.loads(changed.read_text())
    document["request"]["model"] = "another"
    changed.write_text(json.dumps(document))
    moved.rename(moved.with_name(f"{'0' * 64}.json"))
    text = said(capsys, "replies", "verify", "--config", path, code=1)

    assert "4 replies, 3 of them bad" in text
    assert all(name in text for name in (cut.name, changed.name, "0" * 64))


def test_prune_names_what_is_not_needed_and_removes_it_only_when_told(
    tmp_path: Path, served: MessagesServer, capsys: pytest.CaptureFixture[str]
) -> None:
    _, store = paid(tmp_path, served, samples=3)
    path = config(tmp_path, served)
    named = said(capsys, "replies", "prune", "--config", path).splitlines()
    assert len(named) == 4 and len(list(store.replies())) == 6

    assert said(capsys, "replies", "prune", "--config", path, "--yes") == ""
    assert len(list(store.replies())) == 2
    assert main(["judge", "--config", path]) == 0  # nothing that is needed is gone
    assert len([received for received in served.received if received.path == "/v1/messages"]) == 6


def test_prune_removes_failures_that_are_answered_or_old(
    tmp_path: Path, served: MessagesServer, capsys: pytest.CaptureFixture[str]
) -> None:
    served.script.append(failure(400, "invalid_request_error", "no"))
    path, store = paid(tmp_path, served, concurrency=1)
    assert said(capsys, "replies", "prune", "--config", path) == ""
    (failed,) = store.failures()

    time.sleep(1.1)  # times are whole seconds
    assert str(failed.name) in said(capsys, "replies", "prune", "--config", path, "--failure-days", "0")
    assert main(["judge", "--config", path]) == 0  # asks again, and is answered
    assert failed.name in said(capsys, "replies", "prune", "--config", path)


def test_prune_keeps_a_refusal_as_too_long_for_the_replay(
    tmp_path: Path, served: MessagesServer, capsys: pytest.CaptureFixture[str]
) -> None:
    served.script.append(failure(400, "invalid_request_error", "prompt is too long: 1000001 tokens"))
    _, store = paid(tmp_path, served, concurrency=1)
    path = config(tmp_path, served, offline=True)
    time.sleep(1.1)  # times are whole seconds

    assert said(capsys, "replies", "prune", "--config", path, "--failure-days", "0", "--yes") == ""
    assert len(list(store.failures())) == 1
    assert main(["judge", "--config", path]) == 0


def test_prune_never_empties_the_store_for_a_config_without_llm_judges(
    tmp_path: Path, served: MessagesServer
) -> None:
    _, store = paid(tmp_path, served)
    assert main(["replies", "prune", "--yes", "--config", str(write_config(tmp_path))]) == 1
    assert len(list(store.replies())) == 2
