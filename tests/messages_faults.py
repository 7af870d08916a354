"""What can go wrong with a request, each kind by name, and who deals it out: by index, by text, or by chance.

A dealer is asked for each request of the Messages API and returns the response to send instead of the
answer, or None. `PASSING` faults are over after an attempt or two; `STOPPING` ones say that no request can
succeed until a person has done something, and are over then; `LASTING` ones come back every time; `ODD` ones
are replies, paid for, that are not the plain answer.
"""

import json
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from messages_replies import Received, Response, answer, failure, text_of

Dealer = Callable[[int, Received], Response | None]
Make = Callable[[Received], Response]


def _error(status: int, kind: str, text: str, **headers: str) -> Make:
    return lambda _: failure(status, kind, text, **headers)


def _changed(change: Callable[[Response], Response]) -> Make:
    return lambda received: change(answer(received.body))


def _blocks(response: Response, *blocks: dict[str, Any], **fields: Any) -> Response:
    assert isinstance(response.body, dict)
    return Response({**response.body, "content": list(blocks), **fields})


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def fenced(response: Response) -> Response:
    """The answer as a server gives it that knows no schemas: prose, then JSON in a fence."""
    return _blocks(
        response, _text(f"Here is what I found:\n\n```json\n{text_of(response)}\n```\nThat is all.")
    )


def _unsure(response: Response) -> Response:
    span = {
        "span_id": 1,
        "start_step": 2,
        "end_step": 2,
        "acknowledgment_step": 2,
        "action_step": 2,
        "acknowledgment_quote": "x",
        "action_quote": "x",
        "conflict_type": "other",
        "reasoning": "x",
    }
    said = {**json.loads(text_of(response)), "flagged_spans": [{**span, "confidence": 7}]}
    return _blocks(response, _text(json.dumps(said)))


def _thinking(response: Response) -> Response:
    thought = {"type": "thinking", "thinking": "Let me see.", "signature": "c2ln"}
    return _blocks(response, thought, _text(text_of(response)))


def _stopped(reason: str, **fields: Any) -> Make:
    def cut(response: Response) -> Response:
        return _blocks(response, _text(text_of(response)[:20]), stop_reason=reason, **fields)

    return _changed(cut)


OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}

PASSING: dict[str, Make] = {
    "429": _error(429, "rate_limit_error", "slow down"),
    "429 retry-after": _error(429, "rate_limit_error", "slow down", retry_after="1"),
    "500": _error(500, "api_error", "internal"),
    "503": _error(503, "api_error", "unavailable"),
    "503 retry-after": _error(503, "api_error", "unavailable", retry_after="1"),
    "529": _error(529, "overloaded_error", "Overloaded"),
    "529 retry-after": _error(529, "overloaded_error", "Overloaded", retry_after="1"),
    "200 overloaded": lambda _: Response(OVERLOADED),
    "200 cut short": _changed(lambda good: Response(good.data[: len(good.data) // 2])),
    "reset before": lambda _: Response(b"", wire="reset before"),
    "reset within": _changed(lambda good: Response(good.data, wire="reset within")),
    "hang": lambda _: Response(b"", wire="hang"),
}
STOPPING: dict[str, Make] = {
    "401": _error(401, "authentication_error", "invalid bearer token"),
    "402": _error(402, "billing_error", "no credit"),
    "404": _error(404, "not_found_error", "model: no-such-model"),
}
LASTING: dict[str, Make] = {
    "413": _error(413, "request_too_large", "request too large"),
}
ODD: dict[str, Make] = {
    "refusal": _changed(
        lambda good: _blocks(
            good, stop_reason="refusal", stop_details={"type": "refusal", "category": "cyber"}
        )
    ),
    "max_tokens": _stopped("max_tokens"),
    "context window": _stopped("model_context_window_exceeded"),
    "fenced": _changed(fenced),
    "confidence 7": _changed(_unsure),
    "thinking first": _changed(_thinking),
}
KINDS = {**PASSING, **STOPPING, **LASTING, **ODD}
MIXED = sorted(set(KINDS) - set(STOPPING))  # one of the others does not end a run
ONCE = {"hang", *STOPPING}  # the rest of what passes comes once or twice
ONCE_ASKED = {"fenced", "confidence 7"}  # asked again, with a turn more, the model does as it is told


def at(index: int, response: Response) -> Dealer:
    """Deal the response to the request with this number, counted from 0."""
    return lambda number, _: response if number == index else None


def containing(text: str, response: Response, times: int = 1) -> Dealer:
    """Deal the response to the first `times` requests that hold the text."""
    left = [response] * times

    def deal(_: int, received: Received) -> Response | None:
        return left.pop() if left and text in "\n".join(received.texts) else None

    return deal


class Chance:
    """Deals faults to a share of the cases: the same seed deals each case the same, whatever the order.

    `dealt` has the kind each case met, `attempts` how often each case was asked.
    """

    def __init__(self, share: float, seed: int = 0, kinds: Iterable[str] = KINDS) -> None:
        self.share, self.seed, self.kinds = share, seed, sorted(kinds)
        self.dealt: dict[str, str] = {}
        self.attempts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def kind(self, case: str) -> str | None:
        """The fault of a case, if it has one."""
        draw = random.Random(f"{self.seed} {case}")
        return draw.choice(self.kinds) if draw.random() < self.share else None

    def __call__(self, _: int, received: Received) -> Response | None:
        kind = self.kind(received.case)
        with self._lock:
            self.attempts[received.case] += 1
            attempt = self.attempts[received.case]
        if kind is None or self._is_over(kind, received, attempt):
            return None
        self.dealt[received.case] = kind
        return KINDS[kind](received)

    def _is_over(self, kind: str, received: Received, attempt: int) -> bool:
        times = 1 if kind in ONCE else random.Random(f"{self.seed} {received.case} times").randint(1, 2)
        asked_again = kind in ONCE_ASKED and len(received.body["messages"]) > 1
        return asked_again or (kind not in {**LASTING, **ODD} and attempt > times)
