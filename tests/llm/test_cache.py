"""The prompt cache: where the breakpoint stands, and that one request goes first to fill it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asking import answers, blocks, request

from coherence.llm.request import Request, body, shared_prefix, store_key, wire
from messages_server import MessagesServer, Received, Response, failure, message, only_this_key, serving


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[MessagesServer]:
    only_this_key("test-key", monkeypatch, tmp_path)
    with serving() as running:
        yield running


def test_the_breakpoint_stands_after_the_first_block_and_is_no_part_of_the_key() -> None:
    asked = blocks("transcript", "instructions")
    first, second = wire(asked, "1h")["messages"][0]["content"]

    assert first == {
        "type": "text", "text": "transcript", "cache_control": {"type": "ephemeral", "ttl": "1h"}
    }  # fmt: skip
    assert second == {"type": "text", "text": "instructions"}
    assert body(asked)["messages"][0]["content"][0] == {"type": "text", "text": "transcript"}
    assert wire(asked, "none") == body(asked)
    assert wire(request("one text"), "5m") == body(request("one text"))


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (blocks("transcript", "other instructions"), True),
        (blocks("another transcript", "instructions"), False),
        (Request("m", blocks("transcript", "x").messages), False),
        (request("one text"), False),
    ],
)
def test_a_prefix_is_shared_up_to_the_first_block(other: Request, same: bool) -> None:
    assert (shared_prefix(other) == shared_prefix(blocks("transcript", "instructions"))) is same


def watched(served: MessagesServer, monkeypatch: pytest.MonkeyPatch, **first: Any) -> list[tuple[str, int]]:
    """What is under way beside each request when it arrives, by its first block."""
    seen: list[tuple[str, int]] = []
    respond = served.respond

    def watching(received: Received) -> Response:
        seen.append((received.texts[0], served.busy))
        return respond(received)

    monkeypatch.setattr(served, "respond", watching)
    served.delay = 0.05
    return seen


def test_the_first_request_of_a_prefix_is_answered_before_the_others_start(
    served: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = watched(served, monkeypatch)
    served.script.extend(message("ok") for _ in range(8))
    answers(tmp_path, [blocks("a", "i")] * 4 + [blocks("b", "i")] * 4, served.url, cache="5m")

    assert sorted(text for text, _ in seen[:2]) == ["a", "b"]  # prefixes do not wait for each other
    assert len({store_key(blocks("a", "i"), n) for n in range(4)}) == 4
    assert max(busy for _, busy in seen[:2]) <= 1
    assert max(busy for _, busy in seen[2:]) >= 3  # then all at once


def test_where_the_first_one_fails_the_next_one_goes_first(
    served: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = watched(served, monkeypatch)
    served.script.append(failure(400, "invalid_request_error", "no"))
    served.script.extend(message("ok") for _ in range(3))
    answers(tmp_path, [blocks("a", str(n)) for n in range(4)], served.url, cache="5m")

    assert [busy for _, busy in seen[:2]] == [0, 0]
    assert len(seen) == 4


def test_without_a_cache_nobody_waits(
    served: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = watched(served, monkeypatch)
    served.script.extend(message("ok") for _ in range(4))
    answers(tmp_path, [blocks("a", "i")] * 4, served.url)

    assert max(busy for _, busy in seen) == 3
    assert not any("cache_control" in received.data.decode() for received in served.received)
