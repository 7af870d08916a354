"""Asking a model to rewrite some thoughts: all of them come back, or every one says why not."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from coherence.judges.extract import object_in
from coherence.judges.hearing import COMPLETE, INCOMPLETE, carried_on, is_overflow, stopped, text_of
from coherence.llm.client import Answer as Got
from coherence.llm.client import Ask
from coherence.llm.request import Request
from coherence.llm.store import Failure, Reply
from coherence.records import Record

AGAIN: Final = """\
Your reply cannot be used: {error}.

Answer again: one JSON object with exactly the fields described above and one entry for each step shown, \
nothing before or after it.
"""
Number = Annotated[int, Meta(ge=0, lt=2**31)]


class Heard(Record, frozen=True):
    """What asking came to: the texts in the order asked for, or none and why."""

    texts: tuple[str, ...] | None
    replies: tuple[str, ...]
    reason: str | None = None
    detail: str = ""


class _Thought(msgspec.Struct):
    number: Number
    text: str


class _Thoughts(msgspec.Struct):
    thoughts: list[_Thought]


async def hear(request: Request, count: int, ask: Ask, ask_again: bool) -> Heard:
    """Return the `count` thoughts a request is answered with; a reply that does not fit is asked again."""
    got = await ask(request, 0)
    key = got.key
    try:
        return _heard(got, count)
    except msgspec.ValidationError as error:
        if not ask_again or isinstance(got, Failure):
            return Heard(None, (key,), "unparsable", str(error))
        again = carried_on(request, got, str(error), AGAIN)
        second = await hear(again, count, ask, ask_again=False)
        return msgspec.structs.replace(second, replies=(key, *second.replies))


def _heard(got: Got, count: int) -> Heard:
    """Return what a reply says; ValidationError where it is whole and does not fit."""
    if isinstance(got, Failure):
        return Heard(None, (got.key,), "overflow" if is_overflow(got) else "api", got.detail)
    if got.stop_reason not in COMPLETE:
        reason = INCOMPLETE.get(got.stop_reason or "", "unparsable")
        return Heard(None, (got.key,), reason, stopped(got))
    return Heard(read_texts(_object(got), count), (got.key,))


def _object(reply: Reply) -> dict[str, Any]:
    return object_in(text_of(reply), {"thoughts"})


def read_texts(value: dict[str, Any], count: int) -> tuple[str, ...]:
    """Return the texts of thoughts 1 to `count`; ValidationError where these are not the numbers."""
    found = msgspec.convert(value, _Thoughts).thoughts
    numbers = sorted(thought.number for thought in found)
    if numbers != list(range(1, count + 1)):
        raise msgspec.ValidationError(
            f"It should hold the steps 1 to {count}, each once, not {_few(numbers)}"
        )
    return tuple(thought.text for thought in sorted(found, key=lambda thought: thought.number))


def _few(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:20])) or "none"
    return f"{shown}, ..." if len(numbers) > 20 else shown
