"""The Message Batches endpoints for `messages_server`: `Batches(server)` adds them to its routes.

A batch ends when it has been retrieved or listed `looks` times. Each request of it succeeds with the answer
that `reply` gives, unless `outcomes` holds results for its custom_id, one a batch that carries it.
"""

import json
import random
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from messages_server import MessagesServer, Received, Response, failure, message

ROOT = "/v1/messages/batches"
ID = f"{ROOT}/[^/]+"
CUSTOM_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
SAMPLING = ("temperature", "top_p", "top_k")
LAST_WITH_SAMPLING = "2023-06-01"
MOST_REQUESTS = 100_000
MOST_BYTES = 256_000_000
KINDS = ("succeeded", "errored", "canceled", "expired")

Result = dict[str, Any]


@dataclass
class Batch:
    """One batch, as the server knows it."""

    id: str
    created: datetime
    requests: dict[str, dict[str, Any]]
    version: str
    looks: int
    canceled: bool = False
    results: dict[str, Result] = field(default_factory=dict)


def errored(kind: str, text: str = "no") -> Result:
    """A result of a request that failed."""
    body = {"type": "error", "error": {"type": kind, "message": text}, "request_id": "req_b"}
    return {"type": "errored", "error": body}


class Batches:
    """The batches of one server and what is scripted for them."""

    def __init__(self, server: MessagesServer, looks: int = 1) -> None:
        self.batches: dict[str, Batch] = {}
        self.looks = looks
        self.ids: deque[Any] = deque()
        self.outcomes: dict[str, deque[Result | None]] = {}
        self.created: deque[Callable[[Batch], Response | None]] = deque()
        self.refusals: deque[Response] = deque()
        self.looks_script: deque[Response] = deque()
        self.results_script: deque[Response] = deque()
        self.extra_lines: deque[bytes] = deque()
        self.reply: Callable[[dict[str, Any]], Response] = echo
        self._server = server
        self._random = random.Random(7)
        server.routes |= {
            f"POST {ROOT}": self._create,
            f"GET {ROOT}": self._list,
            f"GET {ID}": self._retrieve,
            f"POST {ID}/cancel": self._cancel,
            f"GET {ID}/results": self._results,
        }

    @property
    def carried(self) -> list[str]:
        """The custom_ids of all batches, once for each batch that carries them."""
        return [custom_id for batch in self.batches.values() for custom_id in batch.requests]

    def create(self, requests: dict[str, dict[str, Any]], version: str = "") -> Batch:
        """A new batch."""
        with self._server.lock:
            batch_id = self.ids.popleft() if self.ids else f"msgbatch_{len(self.batches) + 1:04d}"
            batch = Batch(batch_id, datetime.now(UTC), requests, version, self.looks)
            self.batches[batch_id] = batch
        return batch

    def _create(self, _: MessagesServer, received: Received) -> Response:
        if self.refusals:
            return self.refusals.popleft()
        wrong = _wrong(received)
        if wrong:
            return failure(400, "invalid_request_error", wrong)
        requests = {entry["custom_id"]: entry["params"] for entry in received.body["requests"]}
        batch = self.create(requests, received.headers.get("anthropic-version", ""))
        lost = self.created.popleft()(batch) if self.created else None
        return lost or Response(self._shown(batch))

    def _list(self, _: MessagesServer, received: Received) -> Response:
        asked = parse_qs(urlsplit(received.path).query)
        limit = int(asked.get("limit", ["20"])[0])
        newest = sorted(self.batches.values(), key=lambda batch: batch.id, reverse=True)
        after = asked.get("after_id", [None])[0]
        rest = [batch for batch in newest if after is None or batch.id < after]
        page = [self._looked_at(batch) for batch in rest[:limit]]
        ids = {"first_id": page[0]["id"], "last_id": page[-1]["id"]} if page else {}
        return Response({"data": page, "has_more": len(rest) > limit, **ids})

    def _retrieve(self, _: MessagesServer, received: Received) -> Response:
        if self.looks_script:
            return self.looks_script.popleft()
        batch = self._named(received)
        if batch is None:
            return _unknown(received)
        return Response(self._looked_at(batch))

    def _cancel(self, _: MessagesServer, received: Received) -> Response:
        batch = self._named(received)
        if batch is None:
            return _unknown(received)
        batch.canceled = True
        return Response(self._shown(batch))

    def _results(self, _: MessagesServer, received: Received) -> Response:
        if self.results_script:
            return self.results_script.popleft()
        batch = self._named(received)
        if batch is None or batch.looks > 0:
            return _unknown(received)
        lines = [
            json.dumps({"custom_id": custom_id, "result": result}, ensure_ascii=False).encode()
            for custom_id, result in self._ended(batch).items()
            if result["type"] != "missing"
        ]
        if self.extra_lines:
            lines.append(self.extra_lines.popleft())
        self._random.shuffle(lines)
        return Response(b"".join(line + b"\n" for line in lines))

    def _named(self, received: Received) -> Batch | None:
        return self.batches.get(unquote(urlsplit(received.path).path.split("/")[4]))

    def _ended(self, batch: Batch) -> dict[str, Result]:
        if not batch.results:
            batch.results = {name: self._result(batch, name) for name in batch.requests}
        return batch.results

    def _result(self, batch: Batch, custom_id: str) -> Result:
        scripted = self.outcomes.get(custom_id)
        result = scripted.popleft() if scripted else None
        if result is None and batch.canceled:
            return {"type": "canceled"}
        params = batch.requests[custom_id]
        if result is None and batch.version > LAST_WITH_SAMPLING and any(name in params for name in SAMPLING):
            return errored("invalid_request_error", "sampling parameters are not supported")
        return result or {"type": "succeeded", "message": self._message(params)}

    def _message(self, params: dict[str, Any]) -> dict[str, Any]:
        body = self.reply(params).body
        assert isinstance(body, dict)
        return {**body, "usage": {**body["usage"], "service_tier": "batch"}}

    def _looked_at(self, batch: Batch) -> dict[str, Any]:
        batch.looks -= 1
        return self._shown(batch)

    def _shown(self, batch: Batch) -> dict[str, Any]:
        ended = batch.looks <= 0
        kinds = [result["type"] for result in self._ended(batch).values()] if ended else []
        counts = {kind: kinds.count(kind) for kind in KINDS}
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "canceling" if batch.canceled else "in_progress",
            "request_counts": {"processing": len(batch.requests) - sum(counts.values()), **counts},
            "created_at": batch.created.isoformat(),
            "expires_at": (batch.created + timedelta(hours=24)).isoformat(),
            "ended_at": batch.created.isoformat() if ended else None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{self._server.url}{ROOT}/{quote(batch.id, safe='')}/results" if ended else None,
        }


def echo(params: dict[str, Any]) -> Response:
    """A reply that says what it answers."""
    return message(f"re: {params['messages'][0]['content']}\u2028.")


def _unknown(received: Received) -> Response:
    return failure(404, "not_found_error", f"{received.path}: not found")


def _wrong(received: Received) -> str | None:
    """What the API refuses at once; what is wrong within one request shows only in its result."""
    ids = [entry.get("custom_id") for entry in received.body.get("requests", [])]
    if not 0 < len(ids) <= MOST_REQUESTS or len(received.data) > MOST_BYTES:
        return "requests: too few, too many or too large"
    if not all(isinstance(name, str) and CUSTOM_ID.fullmatch(name) for name in ids):
        return "custom_id: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'"
    return "custom_id: not unique" if len(set(ids)) < len(ids) else None
