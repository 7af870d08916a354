"""What the test server says: responses of the Messages API, and the answer a judge would give."""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

CUE = "that cannot be right"
CASE = re.compile(r"\bcase-\d+\b")  # how a test tells one trajectory from another on the wire
SOFTLY = "softly"
MARKERS = re.compile(r"\b(?:But|but|However|Wait|Hmm),? ")
REWRITES = '{"thoughts": ['  # what the paraphraser's prompts ask for
HEADING = re.compile(r"^\[(?P<marker>[0-9a-f]{8,}) (?P<words>[A-Z]+(?: [^\n\]]*)?)\]$", re.MULTILINE)
QUOTES = {"acknowledgment": "first", "action": "second"}
ALIASES = {"first": "acknowledgment", "proxy": "acknowledgment", "second": "action", "goal": "action"}
CHARS_PER_TOKEN = 4

Wire = Literal["whole", "reset before", "reset within", "hang"]


@dataclass(frozen=True)
class Response:
    """What the server sends back, and how far it gets on the wire."""

    body: dict[str, Any] | bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    wire: Wire = "whole"

    @property
    def data(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()

    @property
    def is_billed(self) -> bool:
        """A message that was generated costs money, whether or not it arrives."""
        return self.status == 200 and b'"usage"' in self.data


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
        """The text of each block of each turn."""
        return block_texts(self.body)

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @property
    def case(self) -> str:
        """The `case-<n>` named in the text, else the digest of all."""
        found = CASE.search("\n".join(self.texts))
        return found[0] if found else self.digest


def block_texts(body: dict[str, Any]) -> list[str]:
    contents = [turn["content"] for turn in body["messages"]]
    blocks = [[{"text": held}] if isinstance(held, str) else held for held in contents]
    return [block.get("text", "") for held in blocks for block in held]


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
    if first is None:
        return []
    marker = first["marker"]
    found = [heading for heading in HEADING.finditer(framed) if heading["marker"] == marker]
    ends = [heading.start() for heading in found[1:]] + [len(framed)]
    return [(h["words"], framed[h.end() : end].strip("\n")) for h, end in zip(found, ends, strict=True)]


def answer(body: dict[str, Any]) -> Response:
    """The reply a judge would give that flags the first CUE followed by a call."""
    texts = block_texts(body)
    if any(REWRITES in text for text in texts):
        return counted(message(json.dumps({"thoughts": _reworded(texts)})), body)
    span = _span(next((text for text in texts if HEADING.match(text)), ""))
    schema = body.get("output_config", {}).get("format", {}).get("schema")
    generic = "coherence_rating" in (schema["properties"] if schema else "\n".join(texts))
    return counted(message(json.dumps(_fitting(_shaped(span, generic), schema))), body)


def counted(reply: Response, body: dict[str, Any]) -> Response:
    """The reply with the model asked for and the tokens of both texts."""
    usage = {"input_tokens": tokens(body), "output_tokens": len(reply.data) // CHARS_PER_TOKEN}
    assert isinstance(reply.body, dict)
    return Response({**reply.body, "model": body["model"], "usage": usage})


def reworded(thought: str) -> str:
    """A thought as a paraphraser would put it that drops markers; one that asks for it loses its CUE."""
    plain = MARKERS.sub("", thought)
    return (plain.replace(CUE, "that is so") if SOFTLY in thought else plain) + " Next."


def _reworded(texts: list[str]) -> list[dict[str, Any]]:
    framed = next(text for text in texts if HEADING.match(text))
    step, made = 0, []
    for words, text in sections(framed):
        step = int(words.split()[1]) if words.startswith("STEP") else step
        if words == "THOUGHT":
            made.append({"number": step, "text": reworded(text)})
    return made


def _fitting(answer: dict[str, Any], schema: dict[str, Any] | None) -> dict[str, Any]:
    """Give the spans the fields the schema asks for, under its names for them."""
    if schema is None:
        return answer
    wanted = schema["properties"]["flagged_spans"]["items"]["properties"]

    def value(span: dict[str, Any], name: str) -> Any:
        kind, _, rest = name.partition("_")
        return span[name] if name in span else span[f"{ALIASES[kind]}_{rest}"]

    spans = [{name: value(span, name) for name in wanted} for span in answer["flagged_spans"]]
    return {**answer, "flagged_spans": spans}


def tokens(body: dict[str, Any]) -> int:
    """A count of tokens that grows with the text."""
    system = body.get("system") or []
    held = [block["text"] for block in system] if isinstance(system, list) else [system]
    return 1 + sum(map(len, [*held, *block_texts(body)])) // CHARS_PER_TOKEN


def _span(framed: str) -> dict[str, Any]:
    span: dict[str, Any] = {}
    step = 0
    for words, text in sections(framed):
        if words.startswith("STEP"):
            step = int(words.split()[1])
        elif words == "THOUGHT" and CUE in text and not span:
            span = {"acknowledgment_step": step, "acknowledgment_quote": text.splitlines()[0]}
        elif words == "CALL" and span and "action_step" not in span:
            span |= {"action_step": step, "action_quote": text}
    return span


def _shaped(span: dict[str, Any], generic: bool) -> dict[str, Any]:
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


def text_of(response: Response) -> str:
    """The text of a message's blocks."""
    assert isinstance(response.body, dict)
    return "".join(block.get("text", "") for block in response.body["content"])


def events(response: Response) -> Iterator[bytes]:
    """The server-sent events that stream a message."""
    assert isinstance(response.body, dict)
    whole = response.body
    yield _event("message_start", message={**whole, "content": [], "stop_reason": None})
    for index, block in enumerate(whole["content"]):
        empty = {"type": "text", "text": ""}
        yield _event("content_block_start", index=index, content_block=empty)
        delta = {"type": "text_delta", "text": block.get("text", "")}
        yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=end, usage={"output_tokens": whole["usage"]["output_tokens"]})
    yield _event("message_stop")


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
