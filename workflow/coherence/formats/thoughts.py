"""Finding the agent's visible reasoning in a step, each piece of text in exactly one place.

The order: think calls and reasoning, else text in the scaffold's own form, else the message that accompanies
tool calls. Text that the scaffold made up, or that repeats a thought or a call, is dropped.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from coherence.formats import terminus
from coherence.records import Call, Record, Thought, ThoughtSource

THINK_ACKNOWLEDGMENT: Final = "Your thought has been logged."
EMPTY_REASONING: Final = {"", "null", "None"}  # what broken gateways write where there is no reasoning
# Some gateways glue their word for "no reasoning" before the text: "None  So ...", "NoneSo ...".
GLUED: Final = re.compile(r"None(?:\s{2,}|(?=(?!Type\b)[A-Z][a-z']*\s))")
OPENHANDS_THOUGHT: Final = "I am thinking...:"
_OPENHANDS_DISPLAY = re.compile(
    r"Running command: |Running Python code interactively: |Reading file: |Writing file: |I edited the file "
    r"|I am browsing the URL: |I am interacting with the browser:|I am interacting with the MCP server"
    r"|I'm asking \S+ for help with this task|Managing \d+ task item|Clearing the task list"
    r"|All done! What's next on the agenda\?"
)
_ASK_FOR_THOUGHTS: Final = {"swe-agent", "mini-swe-agent"}  # scaffolds: a thought, then a command


class Speech(Record, frozen=True):
    """What the agent wrote in one step: as the raw file has it, or with each piece in its place."""

    message: str
    calls: tuple[Call, ...] = ()
    thoughts: tuple[Thought, ...] = ()


def is_reasoning(text: str | None) -> bool:
    """Whether the text says anything at all."""
    return text is not None and text.strip() not in EMPTY_REASONING


def think_text(call: Call) -> str | None:
    """Return the thought of a think call, or None for any other call and for an empty thought."""
    if call.name.lower() != "think":
        return None
    thought = call.arguments.get("thought")
    return thought if isinstance(thought, str) and thought.strip() else None


def place(message: str, reasoning: str | None, calls: tuple[Call, ...], agent: str) -> Speech:
    """Place what the agent of this name wrote in one step; think calls become thoughts."""
    if agent.startswith("terminus") and not calls:
        message, calls = terminus.parse_reply(message) or (message, calls)
    if message and _is_display_text(message, calls, agent):
        message = ""
    thoughts = tuple(_thoughts(reasoning, calls))
    acting = tuple(call for call in calls if think_text(call) is None)
    for thought in thoughts:
        message = _without_repetition(message, thought.text, acting)
    if message.startswith(OPENHANDS_THOUGHT):
        lost = Thought(message.removeprefix(OPENHANDS_THOUGHT).strip(), "scaffold")
        return Speech("", acting, (*thoughts, lost))
    if thoughts or not message.strip():
        return Speech(message, acting, thoughts)
    return _place_message(message, acting, agent)


def _thoughts(reasoning: str | None, calls: Sequence[Call]) -> Iterator[Thought]:
    if reasoning is not None and is_reasoning(reasoning):
        yield Thought(reasoning, "reasoning")
    for call in calls:
        thought = think_text(call)
        if thought is not None and thought != reasoning:
            yield Thought(thought, "think_call")


def _place_message(message: str, calls: tuple[Call, ...], agent: str) -> Speech:
    if agent.startswith("terminus") and (calls or message.startswith(("Analysis:", "Plan:"))):
        return Speech("", calls, (Thought(message, "scaffold"),))
    if not calls:
        return Speech(message)
    text = _without_commands(message, calls)
    if not text.strip():
        return Speech("", calls)
    source: ThoughtSource = "scaffold" if agent in _ASK_FOR_THOUGHTS else "message"
    return Speech("", calls, (Thought(text, source),))


def _is_display_text(message: str, calls: Sequence[Call], agent: str) -> bool:
    if message.startswith("Executed "):
        return any(message == f"Executed {call.name} {call.call_id}" for call in calls)
    return agent == "openhands" and bool(calls) and _OPENHANDS_DISPLAY.match(message) is not None


def _without_repetition(message: str, thought: str, calls: Sequence[Call]) -> str:
    bare, repeated = message.removeprefix(OPENHANDS_THOUGHT).strip(), thought.strip()
    rest = bare.removeprefix(repeated)
    if bare == repeated:
        return ""
    if rest == bare or not rest.lstrip(" \t").startswith("\n"):
        return message
    return _without_commands(rest, calls).strip()


def _without_commands(message: str, calls: Sequence[Call]) -> str:
    """Leave out each fenced block that is a call's argument word for word."""
    for command in (value for call in calls for value in call.arguments.values() if isinstance(value, str)):
        before, found, after = message.rpartition(f"\n{command.strip()}\n")
        opening = before.rpartition("\n")[2]
        closing = next((fence for fence in ("```", "</command>") if after.startswith(fence)), None)
        if found and closing and opening.startswith(("```", "<command>")):
            message = (before.removesuffix(opening) + after.removeprefix(closing)).strip()
    return message
