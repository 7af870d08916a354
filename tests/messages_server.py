"""A real HTTP server that speaks as much of the Messages API as the tests need, behind the real SDK.

It answers from the text it receives: a thought that says CUE and the next call make a span, in the shape the
request's schema asks for. `script` holds responses that go out first, one a request; `dealers` may answer any
request of the Messages API with a fault (`messages_faults`). `routes` is the dispatch table: another module
adds endpoints to it ("GET /v1/messages/batches/[^/]+"). As a process, outside the caller's interpreter:

    python tests/messages_server.py --port 0 --latency 0.1 --faults 0.2 --seed 1

prints its URL. GET /stats counts requests and billed calls, GET /log has a line for each request.
"""

import argparse
import json
import os
import re
import select
import socket
import struct
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from messages_faults import KINDS, Chance, Dealer, fenced
from messages_replies import CUE, Received, Response, answer, events, failure, message, sections, tokens

if TYPE_CHECKING:
    import pytest

__all__ = [
    "CUE",
    "MessagesServer",
    "Received",
    "Response",
    "answer",
    "failure",
    "message",
    "only_this_key",
    "sections",
    "serving",
]

NO_SAMPLING = "2026-10-21"  # the first API version that takes no sampling parameters
SAMPLING = ("temperature", "top_p", "top_k")
LONGEST_HANG = 60.0  # seconds; a client gives up before

Route = Callable[["MessagesServer", Received], Response]


def create(server: "MessagesServer", received: Received) -> Response:
    """POST /v1/messages."""
    body = received.body
    if received.headers.get("anthropic-version", "") >= NO_SAMPLING and any(
        name in body for name in SAMPLING
    ):
        return failure(400, "invalid_request_error", "sampling parameters are not supported")
    reply = answer(body)
    return fenced(reply) if server.ignores_schemas else reply


def count_tokens(_: "MessagesServer", received: Received) -> Response:
    """POST /v1/messages/count_tokens."""
    return Response({"input_tokens": tokens(received.body)})


def stats(server: "MessagesServer", _: Received) -> Response:
    """GET /stats."""
    return Response(server.stats())


def log(server: "MessagesServer", _: Received) -> Response:
    """GET /log, one line of JSON a request of the Messages API."""
    with server.lock:
        return Response("".join(f"{json.dumps(line)}\n" for line in server.log).encode())


ROUTES: dict[str, Route] = {
    "POST /v1/messages": create,
    "POST /v1/messages/count_tokens": count_tokens,
    "GET /stats": stats,
    "GET /log": log,
}


class MessagesServer(ThreadingHTTPServer):
    """The server; `delay` is the seconds each answer takes, `keep` whether it holds what it received."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, port: int = 0, delay: float = 0.0, keep: bool = True) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.script: deque[Response] = deque()
        self.dealers: list[Dealer] = []
        self.routes = dict(ROUTES)
        self.received: list[Received] = []
        self.log: list[dict[str, Any]] = []
        self.ignores_schemas = False
        self.delay = delay
        self.keep = keep
        self.busy = 0
        self.busiest = 0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def stats(self) -> dict[str, int]:
        with self.lock:
            billed = [line["wire"] for line in self.log if line["billed"]]
            broken_off = len(billed) - billed.count("whole")
            counts = {"requests": len(self.log), "billed": len(billed), "billed_and_broken_off": broken_off}
            return {**counts, "busiest": self.busiest}

    def respond(self, received: Received) -> Response:
        route = self._route(received)
        if route is not create:
            if self.keep and route is count_tokens:
                self.received.append(received)
            return route(self, received) if route else failure(404, "not_found_error", received.path)
        line: dict[str, Any] = {"case": received.case, "began": time.monotonic(), "billed": False}
        with self.lock:
            number = len(self.log)
            self.log.append(line)
            if self.keep:
                self.received.append(received)
            self.busy += 1
            self.busiest = max(self.busiest, self.busy)
            scripted = self.script.popleft() if self.script else None
        time.sleep(self.delay)
        response = scripted or self._dealt(number, received) or create(self, received)
        with self.lock:
            self.busy -= 1
            line |= {"status": response.status, "wire": response.wire, "billed": response.is_billed}
            line |= {"ended": time.monotonic()}
        return response

    def _route(self, received: Received) -> Route | None:
        asked = f"{received.method} {received.path.split('?')[0]}"
        return next((route for pattern, route in self.routes.items() if re.fullmatch(pattern, asked)), None)

    def _dealt(self, number: int, received: Received) -> Response | None:
        return next((dealt for deal in self.dealers if (dealt := deal(number, received))), None)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), OSError):  # a client that went away is what some tests are about
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: MessagesServer

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        data = self.rfile.read(length)
        if len(data) == length:  # else the client was killed while it wrote
            self._serve(data)

    def _serve(self, data: bytes) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        received = Received(self.path, headers, data, self.command)
        response = self.server.respond(received)
        if response.wire == "hang":
            select.select([self.connection], [], [], LONGEST_HANG)
        if response.wire in ("hang", "reset before"):
            self._reset()
        elif self.path.startswith("/v1/messages") and data and received.body.get("stream"):
            self._stream(response)
        else:
            self._send(response, response.data)

    def _stream(self, response: Response) -> None:
        if response.status == 200 and isinstance(response.body, dict) and "content" in response.body:
            self._send(response, b"".join(events(response)), "text/event-stream")
        else:
            self._send(response, response.data)

    def _send(self, response: Response, data: bytes, kind: str = "application/json") -> None:
        self.send_response(response.status)
        number = len(self.server.log)
        limits = {f"anthropic-ratelimit-requests-{name}": value for name, value in _limits(number).items()}
        for name, value in {"request-id": f"req_{number}", **limits, **response.headers}.items():
            self.send_header(name, value)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if response.wire == "reset within":
            self.wfile.write(data[: len(data) // 2])
            self._reset()
        else:
            self.wfile.write(data)

    def _reset(self) -> None:
        """Break the connection off with RST: closed without lingering, and without FIN before."""
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        os.close(self.connection.detach())
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _limits(number: int) -> dict[str, str]:
    return {"limit": "4000", "remaining": str(max(0, 4000 - number)), "reset": "2026-12-01T00:00:00Z"}


def only_this_key(key: str, monkeypatch: "pytest.MonkeyPatch", home: Path) -> None:
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


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description="A test server for the Messages API.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds each answer takes")
    parser.add_argument("--faults", type=float, default=0.0, help="share of the requests that meet a fault")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="*", default=sorted(KINDS), choices=sorted(KINDS), metavar="KIND")
    parser.add_argument("--ignore-schemas", action="store_true", help="answer in prose with fenced JSON")
    args = parser.parse_args()
    server = MessagesServer(args.port, args.latency, keep=False)
    server.dealers.append(Chance(args.faults, args.seed, args.kinds))
    server.ignores_schemas = args.ignore_schemas
    print(server.url, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
