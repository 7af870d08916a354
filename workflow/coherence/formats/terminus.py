"""Terminus-2's raw mode: a message that is the model's JSON reply instead of text and tool calls."""

from typing import Any

from coherence.formats import narrow
from coherence.formats.arguments import read_arguments
from coherence.formats.deviations import Deviations
from coherence.formats.documents import decode
from coherence.records import Call


def parse_reply(message: str) -> tuple[str, tuple[Call, ...]] | None:
    """Return "Analysis: ... Plan: ..." and the calls of a raw reply, as the other mode writes them.

    None where the message is no such reply. Text around the JSON object is kept after the plan.
    """
    start, end = message.find("{"), message.rfind("}") + 1
    reply = _object(message[start:end]) if 0 <= start < end else None
    if reply is None:
        return None
    analysis, plan = reply.get("analysis"), reply.get("plan")
    if not isinstance(analysis, str) or not isinstance(plan, str):
        return None
    around = (message[:start].strip(), message[end:].strip())
    text = "\n".join([f"Analysis: {analysis}", f"Plan: {plan}", *filter(None, around)])
    return text, _calls(reply)


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = decode(text.encode(), Deviations(""))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _calls(reply: dict[str, Any]) -> tuple[Call, ...]:
    notes = Deviations("")
    commands = narrow.objects(reply.get("commands"), "commands", notes)
    calls = [Call("bash_command", read_arguments(command, notes)) for command in commands]
    if reply.get("task_complete") is True:
        calls.append(Call("mark_task_complete"))
    return tuple(calls)
