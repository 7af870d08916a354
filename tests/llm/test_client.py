import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from coherence.errors import CredentialError, ReplyMissingError
from coherence.llm.client import Answer, Ask, Client
from coherence.llm.request import Connection, Request, store_key
from coherence.llm.store import Failure, Reply, ReplyStore
from messages_server import MessagesServer, Response, failure, message, only_this_key, serving

RETRY_AT_ONCE = {"retry_after_ms": "1"}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    only_this_key("test-key", monkeypatch, tmp_path)


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with serving() as running:
        yield running


@pytest.fixture
def store(tmp_path: Path) -> ReplyStore:
    return ReplyStore(tmp_path / "replies")


def request(text: str = "hello", **fields: Any) -> Request:
    return Request(model="claude-sonnet-4-6", messages=({"role": "user", "content": text},), **fields)


def answers(
    store: ReplyStore, requests: list[Request], server: MessagesServer | None = None, **connection: Any
) -> list[Answer]:
    async def work(item: Request, ask: Ask) -> Answer:
        return await ask(item, 0)

    url = server and server.url
    client = Client(store, Connection(**{"base_url": url, **connection}))
    return list(client.each(requests, work))


def closed_port() -> str:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{unused.getsockname()[1]}"


def text(answer: Answer) -> str:
    assert isinstance(answer, Reply)
    return str(answer.message["content"][0]["text"])


def test_the_wire_carries_what_is_configured_and_no_more(server: MessagesServer, store: ReplyStore) -> None:
    server.script.append(message("ok"))
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    answers(store, [request("h\u00e9", output_schema=schema, max_tokens=50)], server)

    received = server.received[0]
    assert received.path == "/v1/messages"
    assert received.body == {
        "model": "claude-sonnet-4-6",
        "max_tokens": 50,
        "messages": [{"role": "user", "content": "h\u00e9"}],
        "output_config": {"format": {"type": "json_schema", "schema": schema}},
    }
    assert "h\u00e9".encode() in received.data
    assert received.headers["authorization"] == "Bearer test-key"
    assert received.headers["anthropic-version"] != "2023-06-01"


def test_a_temperature_goes_out_under_the_configured_api_version(
    server: MessagesServer, store: ReplyStore
) -> None:
    server.script.append(message("ok"))
    answers(store, [request(temperature=0.0, api_version="2023-06-01", extra={"top_k": 3})], server)

    received = server.received[0]
    assert (received.body["temperature"], received.body["top_k"]) == (0.0, 3)
    assert received.headers["anthropic-version"] == "2023-06-01"


def test_a_reply_is_stored_raw_with_usage_request_id_and_stop_reason(
    server: MessagesServer, store: ReplyStore
) -> None:
    server.script.append(message("chopped {", "max_tokens", unknown_field={"kept": 1}))
    (answer,) = answers(store, [request()], server)

    stored = store.get(store_key(request()))
    assert stored == answer
    assert isinstance(stored, Reply)
    assert stored.message == server_body(message("chopped {", "max_tokens", unknown_field={"kept": 1}))
    assert (stored.stop_reason, stored.request_id) == ("max_tokens", "req_1")
    assert stored.usage == {"input_tokens": 100, "output_tokens": 20}
    assert stored.request == request()


def server_body(response: Response) -> dict[str, Any]:
    assert isinstance(response.body, dict)
    return response.body


def test_a_replay_needs_no_key_no_server_and_no_sdk(
    server: MessagesServer, store: ReplyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script.append(message("kept"))
    answers(store, [request()], server)
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    replay = f"""
import sys
from pathlib import Path
import msgspec
from coherence.llm.client import Client
from coherence.llm.request import Connection, Request
from coherence.llm.store import ReplyStore
async def work(item, ask):
    return await ask(item, 0)
request = msgspec.json.decode({msgspec.json.encode(request())!r}, type=Request)
connection = Connection(base_url={closed_port()!r}, max_retries=0)
(reply,) = Client(ReplyStore(Path({str(store.root)!r})), connection).each([request], work)
print(reply.message["content"][0]["text"], "anthropic" in sys.modules)
"""
    ran = subprocess.run([sys.executable, "-c", replay], capture_output=True, text=True, check=True)

    assert ran.stdout.split() == ["kept", "False"]
    assert len(server.received) == 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "invalid_request_error"), (403, "permission_error"), (413, "request_too_large")],
)
def test_an_error_that_cannot_pass_is_tried_once_and_kept_as_a_failure(
    server: MessagesServer, store: ReplyStore, status: int, kind: str
) -> None:
    server.script.append(failure(status, kind, "no\nsuch luck"))
    (answer,) = answers(store, [request()], server)

    assert isinstance(answer, Failure)
    assert (answer.status, answer.detail) == (status, f"HTTP {status} {kind}: no such luck")
    assert answer.request_id == "req_1"
    assert len(server.received) == 1
    assert store.get(store_key(request())) is None
    assert len(list(store.root.rglob("*.failed-1.json"))) == 1


@pytest.mark.parametrize("status", [429, 500, 529])
def test_an_error_that_can_pass_is_tried_again(
    server: MessagesServer, store: ReplyStore, status: int
) -> None:
    server.script.extend(failure(status, "overloaded_error", "busy", **RETRY_AT_ONCE) for _ in range(4))
    server.script.append(message("at last"))

    assert [text(answer) for answer in answers(store, [request()], server)] == ["at last"]
    assert len(server.received) == 5


def test_retries_end(server: MessagesServer, store: ReplyStore) -> None:
    server.script.extend(failure(429, "rate_limit_error", "busy", **RETRY_AT_ONCE) for _ in range(9))
    (answer,) = answers(store, [request()], server, max_retries=2)

    assert isinstance(answer, Failure)
    assert answer.status == 429
    assert len(server.received) == 3


def test_a_failure_is_asked_again_in_the_next_run(server: MessagesServer, store: ReplyStore) -> None:
    server.script.extend([failure(400, "invalid_request_error", "no"), message("yes")])
    first = answers(store, [request()], server)
    second = answers(store, [request()], server)

    assert isinstance(first[0], Failure)
    assert text(second[0]) == "yes"


def test_no_server_is_a_failure(store: ReplyStore) -> None:
    (answer,) = answers(store, [request()], base_url=closed_port(), max_retries=0)

    assert isinstance(answer, Failure)
    assert answer.status is None
    assert answer.detail.startswith("APIConnectionError")


@pytest.mark.parametrize(
    "body",
    [b"<html>", b"[]", b'{"error": "overloaded"}', b'{"content": [], "n": 1e999, "m": NaN}', b"\xff"],
    ids=["markup", "list", "no content", "NaN", "not text"],
)
def test_a_200_without_a_message_is_a_failure(server: MessagesServer, store: ReplyStore, body: bytes) -> None:
    server.script.append(Response(body))
    (answer,) = answers(store, [request()], server)

    assert isinstance(answer, Failure)
    assert answer.status == 200
    assert store.get(store_key(request())) is None


def test_a_lone_surrogate_in_a_reply_does_not_lose_it(server: MessagesServer, store: ReplyStore) -> None:
    server.script.append(Response(b'{"content": [{"type": "text", "text": "a\\ud800b"}]}'))

    assert text(answers(store, [request()], server)[0]) == "a\ufffdb"


def test_one_failure_costs_no_other_reply_and_the_order_stays(
    server: MessagesServer, store: ReplyStore
) -> None:
    server.script.extend([message("0"), failure(400, "invalid_request_error", "no"), message("2")])
    got = answers(store, [request(str(n)) for n in range(3)], server, concurrency=1)

    assert isinstance(got[1], Failure)
    assert [text(got[0]), text(got[2])] == ["0", "2"]


def test_results_keep_the_order_of_the_items_whatever_the_order_of_the_replies(
    server: MessagesServer, store: ReplyStore
) -> None:
    async def work(number: int, ask: Ask) -> int:
        await asyncio.sleep(0.02 if number % 7 == 0 else 0)
        return number

    client = Client(store, Connection(concurrency=2))
    assert list(client.each(range(50), work)) == list(range(50))


def test_no_more_calls_at_once_than_allowed(server: MessagesServer, store: ReplyStore) -> None:
    server.delay = 0.05
    server.script.extend(message("ok") for _ in range(12))
    answers(store, [request(str(n)) for n in range(12)], server, concurrency=3)

    assert server.busiest == 3


def test_items_are_taken_as_they_are_needed(store: ReplyStore) -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(1000):
            taken.append(number)
            yield number

    async def work(number: int, ask: Ask) -> int:
        return number

    results = Client(store, Connection(concurrency=2)).each(items(), work)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert len(taken) <= 10


def test_equal_requests_share_one_call(server: MessagesServer, store: ReplyStore) -> None:
    server.script.append(message("once"))
    got = answers(store, [request(), request(), request()], server)

    assert [text(answer) for answer in got] == ["once"] * 3
    assert len(server.received) == 1


def test_an_abandoned_run_leaves_nothing_open(server: MessagesServer, store: ReplyStore) -> None:
    async def work(item: Request, ask: Ask) -> Answer:
        return await ask(item, 0)

    server.script.append(message("first"))
    server.script.extend(message("late") for _ in range(9))
    server.delay = 0.05
    results = Client(store, Connection(base_url=server.url, concurrency=2)).each(
        [request(str(n)) for n in range(10)], work
    )
    first = next(results)
    results.close()  # type: ignore[attr-defined]

    assert isinstance(first, Reply)
    assert store.get(first.key) == first


@pytest.mark.parametrize("profiles", [None, "no-such-folder"])
def test_without_a_key_what_is_stored_is_served_and_then_the_rest_is_named(
    server: MessagesServer, store: ReplyStore, monkeypatch: pytest.MonkeyPatch, profiles: str | None
) -> None:
    server.script.append(message("kept"))
    answers(store, [request("1")], server)
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    if profiles:
        monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", profiles)

    async def work(item: Request, ask: Ask) -> Answer:
        return await ask(item, 0)

    results = Client(store, Connection()).each([request(str(n)) for n in range(4)], work)
    assert text(next(results)) == "kept"
    with pytest.raises(CredentialError, match=r"3 requests to claude-sonnet-4-6.*is kept.*ANTHROPIC_API_KEY"):
        next(results)
    assert len(server.received) == 1


def test_offline_a_missing_reply_is_named_and_nothing_is_sent(
    server: MessagesServer, store: ReplyStore
) -> None:
    with pytest.raises(ReplyMissingError, match=r"1 request to claude-sonnet-4-6.*offline"):
        answers(store, [request()], server, offline=True)

    assert server.received == []


def test_a_server_of_ones_own_needs_no_key(
    server: MessagesServer, store: ReplyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    server.script.append(message("ok"))

    assert [text(answer) for answer in answers(store, [request()], server)] == ["ok"]


def test_no_key_is_written_anywhere(server: MessagesServer, store: ReplyStore) -> None:
    server.script.extend([message("ok"), failure(403, "permission_error", "bad key")])
    answers(store, [request("1"), request("2")], server, concurrency=1)

    written = [path.read_bytes() for path in store.root.rglob("*.json")]
    assert len(written) == 2
    assert not any(b"test-key" in content for content in written)


def test_jobs_that_ask_the_same_at_once_pay_for_it_once(server: MessagesServer, tmp_path: Path) -> None:
    server.delay = 0.3
    server.script.extend(message(f"reply {n}") for n in range(8))
    code = f"""
from pathlib import Path
from asking import answers, request
asked = [request(str(n)) for n in range(4)]
got = answers(Path({str(tmp_path)!r}), asked, {server.url!r})
print(*(answer.message["content"][0]["text"] for answer in got))
"""
    folders = os.pathsep.join(filter(None, sys.path))
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": folders},
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    said = [process.communicate()[0] for process in started]

    assert said[0] == said[1] != ""
    assert len(server.received) == 4
