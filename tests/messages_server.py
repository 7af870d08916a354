"""A real HTTP server that speaks as much of the Messages API as the tests need, behind the real SDK.

It answers from the text it receives: a thought that says CUE and the next call make a span, in the shape the
request's schema asks for. `script` holds responses that go out first, one a request.
"""

import json
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

CUE = "that cannot be right"
HEADING = re.compile(r"^\[(?P<marker>[0-9a-f]{8,}) (?P<words>[A-Z]+(?: [^\n\]]*)?)\]$", re.MULTILINE)
QUOTES = {"acknowledgment": "first", "action": "second"}


@dataclass(frozen=True)
class Response:
    """What the server sends back."""

    body: dict[str, Any] | bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Received:
    """What reached the server, byte for byte."""

    path: str
    headers: dict[str, str]
    data: bytes
    method: str = "POST"

    @property
    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.data)
        return body

    @property
    def texts(self) -> list[str]:
        """The text of each user block."""
        return [block["text"] for message in self.body["messages"] for block in message["content"]]


def message(text: str | None, stop_reason: str = "end_turn", **fields: Any) -> Response:
    """A good response with one text block, or with none."""
    content = [] if text is None else [{"type": "text", "text": text}]
    body = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-6"}
    usage = {"input_tokens": 100, "output_tokens": 20}
    return Response({**body, "content": content, "stop_reason": stop_reason, "usage": usage, **fields})


def failure(status: int, kind: str, text: str, **headers: str) -> Response:
    """An error response."""
    error = {"type": "error", "error": {"type": kind, "message": text}}
    return Response(error, status, {name.replace("_", "-"): value for name, value in headers.items()})


def sections(framed: str) -> list[tuple[str, str]]:
    """The (heading, text) pairs of a framed transcript, by the marker of its first heading."""
    first = HEADING.search(framed)
    marker = first["marker"] if first else ""
    found = [heading for heading in HEADING.finditer(framed) if heading["marker"] == marker]
    ends = [heading.start() for heading in found[1:]] + [len(framed)]
    return [(h["words"], framed[h.end() : end].strip("\n")) for h, end in zip(found, ends, strict=True)]


def answer(body: dict[str, Any]) -> Response:
    """The reply a judge would give that flags the first CUE followed by a call."""
    span: dict[str, Any] = {}
    step = 0
    texts = [block["text"] for message in body["messages"] for block in message["content"]]
    for words, text in sections(next(text for text in texts if HEADING.match(text))):
        if words.startswith("STEP"):
            step = int(words.split()[1])
        elif words == "THOUGHT" and CUE in text and not span:
            span = {"acknowledgment_step": step, "acknowledgment_quote": text.splitlines()[0]}
        elif words == "CALL" and span and "action_step" not in span:
            span |= {"action_step": step, "action_quote": text}
    return message(json.dumps(_shaped(span, body["output_config"]["format"]["schema"])))


def _shaped(span: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    generic = "coherence_rating" in schema["properties"]
    spans = []
    if "action_step" in span:
        steps = {"start_step": span["acknowledgment_step"], "end_step": span["action_step"]}
        named = {
            name.replace(a, b) if generic else name: v for name, v in span.items() for a, b in _pair(name)
        }
        kind = {"issue_type": "logic"} if generic else {"conflict_type": "tool_output_vs_plan"}
        spans = [{"span_id": 1, **steps, **named, **kind, "confidence": None, "reasoning": "It is so."}]
    rating = {"coherence_rating": 2 if spans else 5} if generic else {}
    return {"trajectory_summary": "A run.", **rating, "flagged_spans": spans}


def _pair(name: str) -> list[tuple[str, str]]:
    return [pair for pair in QUOTES.items() if name.startswith(pair[0])]


class MessagesServer(ThreadingHTTPServer):
    """The server; `delay` is the seconds each answer takes."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script: deque[Response] = deque()
        self.received: list[Received] = []
        self.routes: dict[str, Callable[[MessagesServer, Received], Response]] = {}
        self.delay = 0.0
        self.busy = 0
        self.busiest = 0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def respond(self, received: Received) -> Response:
        asked = f"{received.method} {received.path.split('?')[0]}"
        for pattern, route in self.routes.items():
            if re.fullmatch(pattern, asked):
                return route(self, received)
        with self.lock:
            self.received.append(received)
            self.busy += 1
            self.busiest = max(self.busiest, self.busy)
            scripted = self.script.popleft() if self.script else None
        time.sleep(self.delay)
        with self.lock:
            self.busy -= 1
        return scripted or answer(received.body)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: MessagesServer

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        self._serve(self.rfile.read(int(self.headers.get("content-length", 0))))

    def _serve(self, data: bytes) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        response = self.server.respond(Received(self.path, headers, data, self.command))
        body = response.body if isinstance(response.body, bytes) else json.dumps(response.body).encode()
        self.send_response(response.status)
        number = len(self.server.received)
        for name, value in {"request-id": f"req_{number}", **response.headers}.items():
            self.send_header(name, value)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def only_this_key(key: str, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Let the SDK find this API key and nothing that the machine of the tests may hold."""
    for name in ("AUTH_TOKEN", "BASE_URL", "CUSTOM_HEADERS", "PROFILE", "CONFIG_DIR"):
        monkeypatch.delenv(f"ANTHROPIC_{name}", raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)


@contextmanager
def serving() -> Iterator[MessagesServer]:
    """A running server."""
    server = MessagesServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
