"""The batch client against a real server: what is asked, stored, asked again, and never asked twice."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from batches_server import Batches, errored
from coherence.errors import CredentialError, JudgeError, ReplyMissingError
from coherence.files import read_json
from coherence.llm.account import Account
from coherence.llm.batch_folder import Batch, BatchFolder, file_name
from coherence.llm.batch_queue import Limits
from coherence.llm.batch_standing import ROUNDS
from coherence.llm.batches import BatchClient
from coherence.llm.client import Answer, Ask, Client
from coherence.llm.ledger import Ledger, read_ledger
from coherence.llm.pacing import LONGEST_OBEYED
from coherence.llm.request import Connection, Request, store_key
from coherence.llm.store import Failure, Reply, ReplyStore
from messages_server import MessagesServer, Response, failure, message, only_this_key, serving

QUICK = 0.12
RETRY_AT_ONCE = {"retry_after": "0.01"}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    only_this_key("test-key", monkeypatch, tmp_path)


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with serving() as running:
        yield running


@pytest.fixture
def batches(server: MessagesServer) -> Batches:
    return Batches(server)


@pytest.fixture
def store(tmp_path: Path) -> ReplyStore:
    return ReplyStore(tmp_path / "replies")


def request(text: object = "hello", **fields: Any) -> Request:
    return Request(model="claude-sonnet-4-6", messages=({"role": "user", "content": str(text)},), **fields)


def key(text: object) -> str:
    return store_key(request(text))


async def one_reply(item: Request, ask: Ask) -> Answer:
    return await ask(item, 0)


def client(
    store: ReplyStore, server: MessagesServer, limits: Limits | None = None, **connection: Any
) -> BatchClient:
    fields = {"base_url": server.url, "poll_seconds": QUICK, "max_retries": 1, **connection}
    return BatchClient(store, Connection(**fields), Account(store.root / "ledger.csv", "detector"), limits)


def answers(store: ReplyStore, server: MessagesServer, *texts: object, **fields: Any) -> list[Answer]:
    return list(client(store, server, **fields).each([request(text) for text in texts], one_reply))


def said(answer: Answer) -> str:
    return str(answer.message["content"][0]["text"]) if isinstance(answer, Reply) else answer.detail


def folder(store: ReplyStore) -> BatchFolder:
    return BatchFolder(store.root / "batches")


def open_ids(store: ReplyStore) -> list[str | None]:
    return [batch.id for batch in folder(store).open().values()]


def test_shuffled_results_reach_their_items_by_custom_id(
    server: MessagesServer, batches: Batches, store: ReplyStore
) -> None:
    got = answers(store, server, *range(40))

    assert [said(answer) for answer in got] == [f"re: {number}\u2028." for number in range(40)]
    assert len(batches.batches) == 1
    assert sorted(batches.carried) == sorted(map(key, range(40)))
    assert [store.get(key(number)) for number in range(40)] == got


def test_a_request_in_a_batch_is_what_is_sent_directly(
    server: MessagesServer, batches: Batches, store: ReplyStore
) -> None:
    server.script.append(message("direct"))
    asked = request(thinking={"type": "adaptive"}, output_schema={"type": "object"}, extra={"stop": 1})
    list(Client(ReplyStore(store.root / "other"), Connection(base_url=server.url)).each([asked], one_reply))
    list(client(store, server).each([asked], one_reply))

    (batch,) = batches.batches.values()
    assert batch.requests == {store_key(asked): server.received[0].body}


def test_a_stored_reply_says_that_a_batch_brought_it(
    server: MessagesServer, batches: Batches, store: ReplyStore
) -> None:
    (reply,) = answers(store, server, "a")

    assert isinstance(reply, Reply)
    assert reply.usage["service_tier"] == "batch"
    assert reply.request_id == "msgbatch_0001"
    assert reply.request == request("a")


def test_replies_serve_both_modes_and_a_replay_needs_no_network(
    server: MessagesServer, batches: Batches, store: ReplyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script.append(message("direct"))
    direct = Client(store, Connection(base_url=server.url))
    list(direct.each([request("a")], one_reply))
    first = answers(store, server, "a", "b")
    monkeypatch.delenv("ANTHROPIC_API_KEY")

    assert batches.carried == [key("b")]
    assert answers(store, server, "a", "b", base_url=None) == first
    offline = Client(store, Connection(offline=True))
    assert list(offline.each([request("a"), request("b")], one_reply)) == first
    assert [said(answer) for answer in first] == ["direct", "re: b\u2028."]


def test_equal_requests_share_one_entry_and_samples_do_not(
    server: MessagesServer, batches: Batches, store: ReplyStore
) -> None:
    async def sampled(item: int, ask: Ask) -> Answer:
        return await ask(request(), item)

    got = list(client(store, server).each([0, 1, 0], sampled))

    assert len(batches.carried) == 2
    assert got[0] == got[2] != got[1]


def test_work_that_asks_again_is_answered_by_a_later_batch(
    server: MessagesServer, batches: Batches, store: ReplyStore
) -> None:
    async def chain(item: int, ask: Ask) -> str:
        two = await asyncio.gather(ask(request(item), 0), ask(request(item), 1))
        if item % 2:
            return said(await ask(request(f"{item}: {said(two[1])}"), 0))
        return said(two[0])

    got = list(client(store, server).each(range(4), chain))

    assert got == ["re: 0\u2028.", "re: 1: re: 1\u2028.\u2028.", "re: 2\u2028.", "re: 3: re: 3\u2028.\u2028."]
    assert [len(batch.requests) for batch in batches.batches.values()] == [8, 2]


def test_only_what_expired_failed_or_is_missing_is_submitted_again(
    server: MessagesServer, batches: Batches, store: ReplyStore
) -> None:
    kinds = {"b": {"type": "expired"}, "c": {"type": "canceled"}, "d": errored("overloaded_error")}
    kinds |= {"e": errored("invalid_request_error", "too long"), "f": {"type": "missing"}}
    batches.outcomes = {key(text): deque([result]) for text, result in kinds.items()}
    got = answers(store, server, *"abcdef")

    refused = got.pop(4)
    assert [said(answer) for answer in got] == [f"re: {text}\u2028." for text in "abcdf"]
    assert isinstance(refused, Failure)
    assert refused.detail == "batch result errored invalid_request_error: too long"
    first, second = batches.batches.values()
    assert set(first.requests) == set(map(key, "abcdef"))
    assert set(second.requests) == set(map(key, "bcdf"))
    kept = sorted(path.name for path in store.root.rglob("*.failed-*.json"))
    assert kept == sorted(f"{key(text)}.failed-1.json" for text in "bcdef")


def test_resubmission_ends_and_a_later_run_tries_anew(
    server: MessagesServer, batches: Batches, store: ReplyStore
) -> None:
    batches.outcomes = {key("a"): deque([{"type": "expired"}] * ROUNDS)}
    got = answers(store, server, "a", "b")

    assert [type(answer) for answer in got] == [Failure, Reply]
    assert said(got[0]) == "batch result expired"
    assert batches.carried.count(key("a")) == ROUNDS
    assert said(answers(store, server, "a")[0]) == "re: a\u2028."


SUCCEEDED = {"type": "succeeded", "message": {"content": [], "stop_reason": "end_turn"}}


def result_line(custom_id: str, result: dict[str, Any]) -> bytes:
    return json.dumps({"custom_id": custom_id, "result": result}).encode()


@pytest.mark.parametrize(
    ("line", "warning"),
    [
        (b'{"custom_id": "', "1 results are unreadable"),
        (b"[1]", "1 results are unreadable"),
        (b"\xff", "1 results are unreadable"),
        (result_line("f" * 64, SUCCEEDED), "1 results are unknown"),
        (result_line("../../x", SUCCEEDED), "1 results are unknown"),
        (result_line(key("a"), {"type": "expired"}), "1 results are duplicated"),
        (result_line(key("a"), SUCCEEDED), "1 results are duplicated"),
    ],
    ids=["cut", "list", "not text", "unknown", "path", "expired too", "twice"],
)
def test_an_odd_line_costs_no_reply_and_is_named(
    server: MessagesServer,
    batches: Batches,
    store: ReplyStore,
    caplog: pytest.LogCaptureFixture,
    line: bytes,
    warning: str,
) -> None:
    batches.extra_lines.append(line)
    got = answers(store, server, "a", "b")

    assert [type(answer) for answer in got] == [Reply, Reply]
    assert warning in caplog.text
    assert len(batches.carried) == 2
    assert len([path for path in store.root.rglob("*.json") if path.parent.name != "collected"]) == 2


@pytest.mark.parametrize("end", [b"", b'{"custom_id": "'], ids=["whole lines", "half a line"])
def test_results_that_lack_some_are_read_again_before_these_are_paid_for_again(
    server: MessagesServer, batches: Batches, store: ReplyStore, end: bytes
) -> None:
    batches.results_script.append(Response(result_line(key("a"), SUCCEEDED) + b"\n" + end))
    got = answers(store, server, "a", "b")

    assert isinstance(got[0], Reply) and got[0].message == SUCCEEDED["message"]
    assert said(got[1]) == "re: b\u2028."
    assert len(batches.carried) == 2


def test_results_that_are_not_found_now_and_then_are_asked_for_again(
    server: MessagesServer, batches: Batches, store: ReplyStore
) -> None:
    batches.results_script.extend(failure(404, "not_found_error", "no") for _ in range(3))

    assert said(answers(store, server, "a")[0]) == "re: a\u2028."
    assert len(batches.carried) == 1


def test_a_server_that_is_away_for_a_while_is_waited_for(
    server: MessagesServer, batches: Batches, store: ReplyStore
) -> None:
    batches.looks_script.extend(failure(500, "api_error", "away", retry_after_ms="1") for _ in range(6))

    assert said(answers(store, server, "a")[0]) == "re: a\u2028."
    assert len(batches.carried) == 1


def test_a_server_that_stays_away_is_named_and_the_batch_is_kept(
    server: MessagesServer, batches: Batches, store: ReplyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coherence.llm.batch_watch.PATIENCE", 2)
    away = [failure(500, "api_error", "away", retry_after_ms="1") for _ in range(4)]
    batches.looks_script.extend(away)

    with pytest.raises(JudgeError, match=r"batch msgbatch_0001: 1 requests.*away.*Run again"):
        answers(store, server, "a")
    assert open_ids(store) == ["msgbatch_0001"]
    assert len(answers(store, server, "a")) == len(batches.carried) == 1


def test_a_batch_the_api_does_not_know_is_an_error_that_costs_no_other_reply(
    server: MessagesServer, batches: Batches, store: ReplyStore
) -> None:
    with folder(store).locked():
        intent = folder(store).begin("detector", [key("a")], [b"{}"])
    folder(store).name(intent, "msgbatch_gone")
    running = client(store, server).each([request("a"), request("b")], one_reply)

    assert said(next(running)) == "re: b\u2028."
    with pytest.raises(
        JudgeError, match=r"msgbatch_gone.*not found.*Run again.*delete .*msgbatch_gone\.json"
    ):
        next(running)
    assert batches.carried == [key("b")]
    assert open_ids(store) == ["msgbatch_gone"]


def test_a_batch_is_no_larger_than_the_limits(
    server: MessagesServer, batches: Batches, store: ReplyStore
) -> None:
    assert len(answers(store, server, *range(7), limits=Limits(requests=3))) == 7
    assert [len(batch.requests) for batch in batches.batches.values()] == [3, 3, 1]
    texts = ["x" * 1000 + str(number) for number in range(4)]
    assert len(answers(store, server, *texts, limits=Limits(data=2500))) == 4
    assert [len(batch.requests) for batch in batches.batches.values()][3:] == [2, 2]


def test_requests_with_other_headers_go_into_another_batch(
    server: MessagesServer, batches: Batches, store: ReplyStore
) -> None:
    old = request("a", temperature=0.0, api_version="2023-06-01")
    got = list(client(store, server).each([old, request("b"), request("c", temperature=1.0)], one_reply))

    assert [type(answer) for answer in got] == [Reply, Reply, Failure]
    assert sorted(batch.version for batch in batches.batches.values())[0] == "2023-06-01"
    assert len(batches.batches) == 2


def test_a_batch_too_large_for_the_server_is_halved(
    server: MessagesServer, batches: Batches, store: ReplyStore
) -> None:
    batches.refusals.append(failure(413, "request_too_large", "too large"))

    assert len(answers(store, server, *range(5))) == 5
    assert [len(batch.requests) for batch in batches.batches.values()] == [2, 3]


def test_a_create_that_is_put_off_is_tried_again(
    server: MessagesServer, batches: Batches, store: ReplyStore
) -> None:
    batches.refusals.extend(failure(s, "overloaded_error", "busy", **RETRY_AT_ONCE) for s in (429, 529))

    assert len(answers(store, server, "a", max_retries=2)) == 1
    assert len(batches.batches) == 1


def test_a_refused_create_stops_with_the_reason_and_leaves_nothing_open(
    server: MessagesServer, batches: Batches, store: ReplyStore
) -> None:
    answers(store, server, "a")
    batches.refusals.append(failure(401, "authentication_error", "bad key"))
    running = client(store, server).each([request("a"), request("b")], one_reply)

    assert said(next(running)) == "re: a\u2028."
    with pytest.raises(JudgeError, match="HTTP 401 authentication_error: bad key"):
        next(running)
    assert open_ids(store) == []


@pytest.mark.parametrize("made", [True, False])
def test_a_create_without_an_answer_is_looked_for_before_it_is_repeated(
    server: MessagesServer, batches: Batches, store: ReplyStore, made: bool
) -> None:
    answers(store, server, *"yz")  # another batch of the same size and time
    lost = failure(500, "api_error", "lost")
    if made:
        batches.created.append(lambda _: lost)
    else:
        batches.refusals.append(lost)

    assert [said(answer) for answer in answers(store, server, *"ab")] == ["re: a\u2028.", "re: b\u2028."]
    assert len(batches.batches) == 2
    assert folder(store).collected() == 2


def test_a_batch_is_found_on_a_later_page_and_told_from_strangers(
    server: MessagesServer, batches: Batches, store: ReplyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coherence.llm.batch_api.PER_PAGE", 2)

    def lost(_: Any) -> Response:
        for number in range(5):  # another store's batches, newer and of the same size
            answers(ReplyStore(store.root / f"other{number}"), server, f"other {number}")
        return failure(500, "api_error", "lost")

    batches.created.append(lost)
    got = answers(store, server, "a")

    assert said(got[0]) == "re: a\u2028."
    assert batches.carried.count(key("a")) == 1


RUN = """
import sys
from pathlib import Path
from coherence.llm.account import Account
from coherence.llm.batches import BatchClient
from coherence.llm.request import Connection, Request
from coherence.llm.store import ReplyStore
async def work(item, ask):
    return await ask(item, 0)
root, url = sys.argv[1:]
requests = [Request(model="claude-sonnet-4-6", messages=({"role": "user", "content": t},)) for t in "abc"]
connection = Connection(base_url=url, poll_seconds=0.12, max_retries=1)
account = Account(Path(root) / "ledger.csv", "detector")
for reply in BatchClient(ReplyStore(Path(root)), connection, account).each(requests, work):
    print(reply.message["content"][0]["text"], flush=True)
"""


def started(store: ReplyStore, server: MessagesServer) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", RUN, str(store.root), server.url]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(condition: Any) -> None:
    for _ in range(2000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("did not come about")


def test_a_killed_run_is_resumed_and_nothing_is_submitted_twice(
    server: MessagesServer, batches: Batches, store: ReplyStore
) -> None:
    batches.looks = 1_000
    process = started(store, server)
    wait_for(lambda: open_ids(store) == ["msgbatch_0001"])
    process.kill()
    process.communicate()
    batches.batches["msgbatch_0001"].looks = 1

    assert [said(a) for a in answers(store, server, *"abc")] == [f"re: {t}\u2028." for t in "abc"]
    assert len(batches.carried) == 3
    assert open_ids(store) == []


def test_a_run_killed_while_its_batch_is_created_finds_it_again(
    server: MessagesServer, batches: Batches, store: ReplyStore
) -> None:
    process: list[subprocess.Popen[str]] = []
    begun = threading.Event()

    def kill(_: Any) -> None:
        begun.wait()
        process[0].kill()
        process[0].wait()

    batches.created.append(kill)
    process.append(started(store, server))
    begun.set()
    process[0].communicate()
    assert open_ids(store) == [None]

    assert [said(a) for a in answers(store, server, *"abcd")] == [f"re: {t}\u2028." for t in "abcd"]
    assert len(batches.carried) == 4
    assert folder(store).collected() == 2


def test_an_interrupt_leaves_a_batch_that_can_be_resumed_and_says_so(
    server: MessagesServer, batches: Batches, store: ReplyStore
) -> None:
    batches.looks = 1_000
    process = started(store, server)
    wait_for(lambda: open_ids(store) == ["msgbatch_0001"])
    os.kill(process.pid, signal.SIGINT)
    _, told = process.communicate()

    assert "msgbatch_0001 (3 requests) is left running and billed; the next run collects it" in told
    assert "coherence batches cancel msgbatch_0001" in told
    batches.batches["msgbatch_0001"].looks = 1
    assert len(answers(store, server, *"abc")) == 3
    assert len(batches.carried) == 3


def test_a_termination_during_a_create_waits_for_the_id(
    server: MessagesServer, batches: Batches, store: ReplyStore
) -> None:
    created = threading.Event()

    def interrupt(_: Any) -> None:
        os.kill(process.pid, signal.SIGTERM)
        time.sleep(0.2)
        created.set()

    batches.created.append(interrupt)
    process = started(store, server)
    _, told = process.communicate()

    assert created.is_set()
    assert open_ids(store) == ["msgbatch_0001"]
    assert "msgbatch_0001 (3 requests) is left running" in told


def test_two_processes_share_the_batches_of_equal_requests(
    server: MessagesServer, batches: Batches, store: ReplyStore
) -> None:
    batches.looks = 1_000
    process = started(store, server)
    wait_for(lambda: open_ids(store) == ["msgbatch_0001"])
    batches.looks = 1

    def end_the_first(_: Any) -> None:
        batches.batches["msgbatch_0001"].looks = 1

    batches.created.append(end_the_first)
    got = answers(store, server, *"abcd")
    output, told = process.communicate()

    assert process.returncode == 0, told
    assert output.split("\n")[:3] == [said(answer) for answer in got[:3]]
    assert [set(batch.requests) for batch in batches.batches.values()] == [set(map(key, "abc")), {key("d")}]


def test_without_a_key_what_is_stored_is_served_and_the_rest_is_named(
    server: MessagesServer, batches: Batches, store: ReplyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(store, server, "a")
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    running = client(store, server, base_url=None).each(map(request, "abc"), one_reply)

    assert said(next(running)) == "re: a\u2028."
    with pytest.raises(CredentialError, match="2 requests"):
        next(running)
    with pytest.raises(ReplyMissingError, match="2 requests"):
        list(client(store, server, offline=True).each(map(request, "abc"), one_reply))


def test_an_error_in_the_work_is_not_swallowed(
    server: MessagesServer, batches: Batches, store: ReplyStore
) -> None:
    async def broken(item: Request, ask: Ask) -> Answer:
        await ask(item, 0)
        raise ValueError("a bug")

    with pytest.raises(ValueError, match="a bug"):
        list(client(store, server).each([request()], broken))


def test_no_key_is_written_anywhere(server: MessagesServer, batches: Batches, store: ReplyStore) -> None:
    batches.looks = 1_000
    running = threading.Thread(target=answers, args=(store, server, "a"))
    running.start()
    wait_for(lambda: open_ids(store) == ["msgbatch_0001"])
    written = [path.read_bytes() for path in store.root.rglob("*") if path.is_file()]
    batches.batches["msgbatch_0001"].looks = 1
    running.join()

    assert len(written) == 3
    assert not any(b"test-key" in content for content in written)


def test_progress_is_told_on_stderr(
    server: MessagesServer, batches: Batches, store: ReplyStore, capfd: pytest.CaptureFixture[str]
) -> None:
    batches.looks = 3
    answers(store, server, "a", "b")

    assert capfd.readouterr().err.splitlines() == [
        "coherence: batch msgbatch_0001: 2 requests submitted",
        "coherence: waiting for 1 batches, 2 requests processing",
        "coherence: batch msgbatch_0001: 2 replies stored, 0 requests failed",
    ]


def within(store: ReplyStore, server: MessagesServer, *texts: object, budget: float = 0.01) -> list[Answer]:
    """The answers of a client whose budget takes one request of at most $0.0076, but not two."""
    account = Account(store.root / "ledger.csv", "detector", budget)
    connection = Connection(base_url=server.url, poll_seconds=QUICK)
    asked = [request(text, max_tokens=1000) for text in texts]
    return list(BatchClient(store, connection, account).each(asked, one_reply))


def spent(store: ReplyStore) -> float:
    return Ledger(store.root / "ledger.csv").spent()


def test_a_run_that_was_killed_has_reserved_for_the_next_one(
    server: MessagesServer, batches: Batches, store: ReplyStore
) -> None:
    asked = request("a", max_tokens=1000)
    Account(store.root / "ledger.csv", "detector", 0.01).reserve(asked, 0, store_key(asked))

    assert said(within(store, server, "a")[0]) == "re: a\u2028."
    assert 0 < spent(store) < 0.001


@pytest.mark.parametrize(
    ("kinds", "answered"),
    [(["overloaded_error", "api_error"], True), (["invalid_request_error"], False)],
    ids=["passing", "for good"],
)
def test_a_request_that_fails_in_a_batch_costs_nothing(
    server: MessagesServer, batches: Batches, store: ReplyStore, kinds: list[str], answered: bool
) -> None:
    batches.outcomes[store_key(request("a", max_tokens=1000))] = deque(map(errored, kinds))
    (answer,) = within(store, server, "a")

    assert isinstance(answer, Reply) == answered
    assert (spent(store) == 0) != answered
    assert spent(store) < 0.001


@pytest.mark.parametrize(("status", "stops"), [(400, False), (403, True)])
def test_a_batch_that_is_refused_costs_nothing(
    server: MessagesServer, batches: Batches, store: ReplyStore, status: int, stops: bool
) -> None:
    batches.refusals.append(failure(status, "some_error", "no\nnever"))
    with pytest.raises(JudgeError) if stops else nullcontext():
        within(store, server, "a")

    assert spent(store) == 0


def test_a_result_without_a_message_may_have_been_billed(
    server: MessagesServer, batches: Batches, store: ReplyStore
) -> None:
    batches.outcomes[store_key(request("a", max_tokens=1000))] = deque([{"type": "succeeded", "message": {}}])
    (answer,) = within(store, server, "a")

    assert isinstance(answer, Failure)
    assert spent(store) == pytest.approx(0.0076, abs=2e-4)


def test_results_read_twice_are_entered_in_the_ledger_once(
    server: MessagesServer, batches: Batches, store: ReplyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(BatchFolder, "finish", killed)
        answers(store, server, "a", "b")
    both = spent(store)
    store.path(key("b")).unlink()
    answers(store, server, "a", "b")

    assert len(batches.carried) == 2
    assert spent(store) == pytest.approx(both)
    path = store.root / "ledger.csv"
    assert (len(read_ledger(path)), path.read_text().count(",ok,")) == (2, 3)  # b's result was read twice


def test_a_request_paid_for_in_two_batches_is_two_charges(
    server: MessagesServer, batches: Batches, store: ReplyStore
) -> None:
    batches.outcomes[key("a")] = deque([{"type": "expired"}])
    answers(store, server, "a")
    once = spent(store)
    store.path(key("a")).unlink()
    answers(store, server, "a")

    rows = read_ledger(store.root / "ledger.csv")
    assert [row.status for row in rows] == ["batch result expired", "ok", "ok"]
    assert sum(row.dollars or 0 for row in rows) == pytest.approx(2 * once) == pytest.approx(spent(store))
    assert len(batches.batches) == 3


@pytest.mark.parametrize("wait", [{"retry_after": "1000000"}, {"retry_after_ms": "1e9"}], ids=str)
def test_a_wait_of_weeks_is_cut_short_where_the_sdk_tries_again(
    server: MessagesServer,
    batches: Batches,
    store: ReplyStore,
    monkeypatch: pytest.MonkeyPatch,
    wait: dict[str, str],
) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("anyio.sleep", sleep)
    batches.looks_script.append(failure(429, "rate_limit_error", "slow down", **wait))

    assert said(answers(store, server, "a")[0]) == "re: a\u2028."
    assert waits == [LONGEST_OBEYED]


@pytest.mark.parametrize(
    "name",
    ["../../escaped", "/escaped", "a/b", "x.intent", ".hidden", "y" * 300, "caf\u00e9", "a\x1b[2J\nb"],
    ids=["up", "root", "folder", "like an intent", "hidden", "long", "not ASCII", "control"],
)
def test_a_batch_id_never_names_a_file_outside_the_folder(
    server: MessagesServer, batches: Batches, store: ReplyStore, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    batches.ids.append(name)
    (got,) = answers(store, server, "a")

    assert said(got) == "re: a\u2028."
    assert isinstance(got, Reply)
    assert got.request_id == name
    (collected,) = (store.root / "batches/collected").iterdir()
    assert folder(store).known() == {file_name(name)} == {collected.stem}
    assert read_json(collected, Batch).id == name
    assert [path.name for path in store.root.parent.iterdir()] == [store.root.name]
    assert "\x1b" not in capfd.readouterr().err


def test_an_id_that_fits_no_url_is_told_and_its_requests_are_not_submitted_again(
    server: MessagesServer, batches: Batches, store: ReplyStore
) -> None:
    batches.ids.append("..")
    for _ in range(2):
        with pytest.raises(JudgeError, match=r"the id '\.\.' fits no URL"):
            answers(store, server, "a")
    assert open_ids(store) == [".."]
    assert len(batches.batches) == 1


@pytest.mark.parametrize("name", [None, 7, ""])
def test_a_batch_without_an_id_counts_as_not_known(
    server: MessagesServer, batches: Batches, store: ReplyStore, name: Any
) -> None:
    batches.created.append(lambda batch: Response({"id": name, "type": "message_batch"}))
    (got,) = answers(store, server, "a")

    assert said(got) == "re: a\u2028."
    assert batches.carried == [key("a")]
