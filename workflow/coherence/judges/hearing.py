"""Asking a model for one answer: the stop reason goes before the text, and a misfit is asked again."""

import re
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from coherence.errors import InputError
from coherence.files import read_json
from coherence.judges.frame import inert
from coherence.judges.schema import Answer, Reports, read_answer
from coherence.llm.client import Answer as Got
from coherence.llm.client import Ask
from coherence.llm.request import Request
from coherence.llm.store import Failure, Reply, ReplyStore
from coherence.records import Lost, Record

COMPLETE: Final = frozenset({"end_turn", "stop_sequence", None})  # None: servers that name no reason
INCOMPLETE: Final = {
    "max_tokens": "truncated",
    "refusal": "refusal",
    "model_context_window_exceeded": "overflow",
}
AGAIN: Final = """\
Your reply cannot be read: {error}.

Answer again: one JSON object with exactly the fields described above, nothing before or after it. Correct \
the form alone; what you found stays as it is. An empty list of spans is right only where you found none.
"""
NO_TEXT: Final = "(no text)"  # the API refuses an empty turn
NOT_RUN: Final = "not_run"
NO_REPLY: Final = "no stored reply, and the run is offline"
LONGEST_ERROR: Final = 500  # characters of the validator's words that are sent back
_TOO_LONG: Final = re.compile(
    r"too long|context[ _](?:window|size|length|limit)|too large|maximum context", re.IGNORECASE
)


class Heard(Record, frozen=True):
    """What asking came to: an answer, or None and why; `replies` are the keys in the order asked.

    `lost` are the parts without an answer, where it is put together from several.
    """

    answer: Answer | None
    replies: tuple[str, ...]
    reason: str | None = None
    detail: str = ""
    asked_again: int = 0
    lost: tuple[Lost, ...] = ()


async def hear(request: Request, sample: int, ask: Ask, reports: Reports, ask_again: bool) -> Heard:
    """Return what a request is answered; a whole reply that does not fit the schema is asked for once more.

    The second request is the same conversation carried on: the reply, then the validator's words.
    """
    got = await ask(request, sample)
    key = got.key
    try:
        return _read(got, key, reports)
    except msgspec.ValidationError as error:
        if not ask_again or isinstance(got, Failure):
            return Heard(None, (key,), "unparsable", str(error))
        second = await hear(carried_on(request, got, str(error)), sample, ask, reports, ask_again=False)
        return replace(
            second,
            replies=(key, *second.replies),
            detail="; ".join(filter(None, (second.detail, f"asked again: {error}"))),
            asked_again=1,
        )


def carried_on(request: Request, reply: Reply, error: str, again: str = AGAIN) -> Request:
    """Return the request that shows a model its reply and what is wrong with it."""
    said = " ".join(inert(error).split())[:LONGEST_ERROR].rstrip(".")  # it may quote the reply's own words
    turns = (
        ("assistant", text_of(reply) if text_of(reply).strip() else NO_TEXT),
        ("user", again.format(error=said)),
    )
    added = tuple({"role": role, "content": [{"type": "text", "text": text}]} for role, text in turns)
    return replace(request, messages=(*request.messages, *added))


def refused_before(store: ReplyStore, key: str) -> Heard | None:
    """Return the stored refusal of a request as too long, so that a replay need not send it to learn it."""
    path = store.path(key)
    if path.is_file():
        return None
    for attempt in sorted(path.parent.glob(f"{key}.failed-*.json")):
        try:
            failure = read_json(attempt, Failure)
        except InputError:
            continue
        if is_overflow(failure):
            return _read(failure, key, "spans")
    return None


def is_overflow(failure: Failure) -> bool:
    """Whether the API refused a request for its length."""
    return failure.status == 413 or (
        failure.status in {400, None} and _TOO_LONG.search(failure.detail) is not None
    )


def _read(got: Got, key: str, reports: Reports) -> Heard:
    """Return what a reply says; ValidationError where it is whole and does not fit."""
    if isinstance(got, Failure):
        return Heard(None, (key,), "overflow" if is_overflow(got) else "api", got.detail)
    if got.stop_reason not in COMPLETE:
        reason = INCOMPLETE.get(got.stop_reason or "", "unparsable")
        return Heard(None, (key,), reason, stopped(got))
    return Heard(read_answer(text_of(got), reports), (key,))


def text_of(reply: Reply) -> str:
    """Return the text blocks of a reply; other kinds of block (thinking) are passed over."""
    blocks: list[Any] = [block for block in reply.message["content"] if isinstance(block, dict)]
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))


def stopped(reply: Reply) -> str:
    """Return why a reply ended, in the API's words."""
    details = reply.message.get("stop_details")
    category = details.get("category") if isinstance(details, dict) else None
    return f"stop reason {reply.stop_reason}" + (f", category {category}" if category else "")
