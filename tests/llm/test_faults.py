"""Overloads, outages and hopeless settings, against a real server."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from asking import AT_ONCE, answers, request

from coherence.errors import ServiceError
from coherence.llm.pacing import LONGEST_OBEYED, LONGEST_WAIT, Pace, wait_before
from coherence.llm.store import Failure, Reply
from messages_server import MessagesServer, Received, Response, failure, message, only_this_key, serving


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[MessagesServer]:
    only_this_key("test-key", monkeypatch, tmp_path)
    with serving() as running:
        yield running


def overloaded_body() -> Response:
    return Response({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})


@pytest.mark.parametrize(
    "fault",
    [
        *(failure(status, "some_error", "no", **AT_ONCE) for status in (408, 409, 429, 500, 502, 503, 529)),
        overloaded_body(),
    ],
    ids=["408", "409", "429", "500", "502", "503", "529", "200 overloaded"],
)
def test_a_passing_fault_is_tried_again(served: MessagesServer, tmp_path: Path, fault: Response) -> None:
    served.script.extend([fault, message("at last")])
    (answer,) = answers(tmp_path, [request()], served.url)

    assert isinstance(answer, Reply)
    assert len(served.received) == 2


def test_a_lost_connection_is_tried_again(
    served: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Received] = []

    def respond(received: Received) -> Response:
        calls.append(received)
        if len(calls) == 1:
            raise ConnectionResetError
        return message("ok")

    monkeypatch.setattr(served, "respond", respond)
    monkeypatch.setattr(served, "handle_error", lambda *_: None)

    assert isinstance(answers(tmp_path, [request()], served.url)[0], Reply)
    assert len(calls) == 2


def test_a_timeout_is_tried_again(
    served: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Received] = []

    def respond(received: Received) -> Response:
        calls.append(received)
        time.sleep(0.4 if len(calls) == 1 else 0)
        return message("ok")

    monkeypatch.setattr(served, "respond", respond)
    monkeypatch.setattr(served, "handle_error", lambda *_: None)

    assert isinstance(answers(tmp_path, [request()], served.url, timeout_seconds=0.2)[0], Reply)
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("attempt", "retry_after", "low", "high"),
    [
        (0, None, 0.375, 0.5),
        (3, None, 3.0, 4.0),
        (50, None, 0.75 * LONGEST_WAIT, LONGEST_WAIT),
        (0, 7.0, 7.0, 7.0),
        (0, 4e6, LONGEST_OBEYED, LONGEST_OBEYED),
        (0, float("inf"), LONGEST_OBEYED, LONGEST_OBEYED),
        (0, -3.0, 0.375, 0.5),
        (3, 0.0, 3.0, 4.0),
    ],
)
def test_waits(attempt: int, retry_after: float | None, low: float, high: float) -> None:
    assert low <= wait_before(attempt, retry_after) <= high


@pytest.mark.parametrize("value", ["soon", "nan", "", "0"])
def test_a_retry_after_that_is_no_time_is_passed_over(
    served: MessagesServer, tmp_path: Path, value: str
) -> None:
    served.script.extend([failure(529, "overloaded_error", "x", retry_after=value), message("ok")])

    assert isinstance(answers(tmp_path, [request()], served.url)[0], Reply)


def test_after_a_retry_after_no_other_call_starts_before_its_time(
    served: MessagesServer, tmp_path: Path
) -> None:
    served.script.append(failure(429, "rate_limit_error", "slow down", retry_after="0.4"))
    served.script.extend(message("ok") for _ in range(4))
    begun = time.monotonic()
    answers(tmp_path, [request(str(n)) for n in range(4)], served.url, concurrency=1)

    assert len(served.received) == 5
    assert time.monotonic() - begun >= 0.4


def test_an_overload_halves_the_calls_at_once_and_successes_bring_them_back() -> None:
    async def run() -> list[int]:
        pace = Pace(8)
        limits = []
        async with pace.place() as first, pace.place() as second:
            pace.overloaded(first, None)
            pace.overloaded(second, None)  # began before the slow-down: nothing new
            limits.append(pace.limit)
        async with pace.place() as third:
            pace.overloaded(third, None)
            limits.append(pace.limit)
        for _ in range(2 + 3):
            pace.succeeded()
        limits.append(pace.limit)
        for _ in range(100):
            pace.succeeded()
        return [*limits, pace.limit]

    assert asyncio.run(run()) == [4, 2, 4, 8]


@pytest.mark.parametrize(
    ("fault", "remedy"),
    [
        (failure(401, "authentication_error", "invalid key"), "ANTHROPIC_API_KEY"),
        (failure(402, "billing_error", "pay"), "credit"),
        (failure(404, "not_found_error", "model: nonsense"), "check `model`"),
        (failure(400, "invalid_request_error", "Your credit balance is too low"), "settings"),
    ],
    ids=["key", "credit", "model", "credit as 400"],
)
def test_a_hopeless_fault_stops_the_run_at_once(
    served: MessagesServer, tmp_path: Path, fault: Response, remedy: str
) -> None:
    served.script.extend([message("kept"), *(fault for _ in range(100))])
    with pytest.raises(ServiceError, match=rf"(?s){remedy}.*99 requests.*is kept"):
        answers(tmp_path, [request(str(n)) for n in range(100)], served.url, concurrency=1)

    assert len(served.received) == 2
    assert len([path for path in tmp_path.rglob("*.json") if "failed" not in path.name]) == 1


def test_what_the_breaker_left_is_asked_in_the_next_run(served: MessagesServer, tmp_path: Path) -> None:
    requests = [request(str(n)) for n in range(6)]
    served.script.extend([message("0"), failure(401, "authentication_error", "bad key")])
    with pytest.raises(ServiceError):
        answers(tmp_path, requests, served.url, concurrency=1)
    served.script.extend(message("ok") for _ in range(5))

    assert all(isinstance(answer, Reply) for answer in answers(tmp_path, requests, served.url))
    assert len(served.received) == 7


def test_the_same_refusal_of_the_first_requests_stops_the_run(served: MessagesServer, tmp_path: Path) -> None:
    served.script.extend(failure(400, "invalid_request_error", "temperature: no") for _ in range(40))
    with pytest.raises(
        ServiceError, match=r"the first 5 requests were all turned away alike.*temperature: no"
    ):
        answers(tmp_path, [request(str(n)) for n in range(40)], served.url, concurrency=1)

    assert len(served.received) == 5


@pytest.mark.parametrize(
    "fault",
    [
        lambda n: failure(413, "request_too_large", "too large"),
        lambda n: failure(400, "invalid_request_error", "prompt is too long: 1000001 tokens"),
        lambda n: failure(400, "invalid_request_error", f"messages.0: {n} is bad"),
        lambda n: Response(b"<html>"),
    ],
    ids=["too large", "too long", "each its own", "no message"],
)
def test_faults_of_single_items_stop_nothing(
    served: MessagesServer, tmp_path: Path, fault: Callable[[int], Response]
) -> None:
    served.script.extend(fault(n) for n in range(12))
    got = answers(tmp_path, [request(str(n)) for n in range(12)], served.url)

    assert all(isinstance(answer, Failure) for answer in got)


def test_an_outage_stops_the_run_after_ten_requests_whatever_went_well(
    served: MessagesServer, tmp_path: Path
) -> None:
    served.script.extend([message("ok"), *(failure(500, "api_error", "down", **AT_ONCE) for _ in range(90))])
    with pytest.raises(ServiceError, match=r"10 requests in a row.*try again later"):
        answers(tmp_path, [request(str(n)) for n in range(40)], served.url, concurrency=1, max_retries=1)

    assert len(served.received) == 1 + 10 * 2


def event(kind: str, **fields: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def streamed(*, end: bytes, stop: bool = True) -> Response:
    start: dict[str, object] = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-6", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 7, "output_tokens": 1},
    }  # fmt: skip
    parts = [
        event("message_start", message=start),
        event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
        event("content_block_delta", index=0, delta={"type": "text_delta", "text": "long"}),
    ]
    if stop:
        delta = {"stop_reason": "end_turn", "stop_sequence": None}
        parts += [event("content_block_stop", index=0)]
        parts += [event("message_delta", delta=delta, usage={"output_tokens": 9})]
    return Response(b"".join([*parts, end]), headers={"content-type": "text/event-stream"})


def test_a_long_reply_is_streamed(served: MessagesServer, tmp_path: Path) -> None:
    served.script.append(streamed(end=event("message_stop")))
    (answer,) = answers(tmp_path, [request(max_tokens=30_000)], served.url)

    assert isinstance(answer, Reply)
    assert served.received[0].body["stream"] is True
    assert (answer.stop_reason, answer.message["content"][0]["text"]) == ("end_turn", "long")
    assert (answer.usage["input_tokens"], answer.usage["output_tokens"]) == (7, 9)


@pytest.mark.parametrize(
    "end",
    [event("error", error={"type": "overloaded_error", "message": "Overloaded"}), b""],
    ids=["overloaded", "cut off"],
)
def test_a_stream_that_breaks_is_tried_again_and_its_usage_kept(
    served: MessagesServer, tmp_path: Path, end: bytes
) -> None:
    served.script.extend([streamed(end=end, stop=False), streamed(end=event("message_stop"))])
    (answer,) = answers(tmp_path, [request(max_tokens=30_000)], served.url)

    assert isinstance(answer, Reply)
    assert len(served.received) == 2


def test_a_failure_keeps_the_usage_the_api_reports(served: MessagesServer, tmp_path: Path) -> None:
    served.script.append(streamed(end=b"", stop=False))
    (answer,) = answers(tmp_path, [request(max_tokens=30_000)], served.url, max_retries=0)

    assert isinstance(answer, Failure)
    assert answer.usage["input_tokens"] == 7
