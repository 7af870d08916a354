"""Replies in the form "THOUGHT: ..." and a fenced bash block, as mini-swe-agent asks for them."""

import re
from collections.abc import Iterator
from typing import Final

from coherence.formats.thoughts import Speech
from coherence.records import Call, Thought

LABEL: Final = "THOUGHT:"
_OPENING = re.compile(r"```(?:bash|mswea_bash_command)\s*\n")
_CLOSING: Final = "\n```"


def without_label(text: str) -> str:
    """Return the text after a leading "THOUGHT:"."""
    return text.lstrip().removeprefix(LABEL).strip()


def split_reply(text: str) -> Speech:
    """Return the blocks as bash calls and the text around them as thoughts; a reply of neither is a message.

    The scaffold runs a reply's command only where there is exactly one; the observation tells.
    """
    calls, around, position = [], [], 0
    for start, end, command in _blocks(text):
        calls.append(Call("bash", {"command": command}))
        around.append(text[position:start])
        position = end
    around.append(text[position:])
    if not calls and not text.lstrip().startswith(LABEL):
        return Speech(text)
    pieces = [without_label(around[0]), *(piece.strip() for piece in around[1:])]
    return Speech("", tuple(calls), tuple(Thought(piece, "scaffold") for piece in pieces if piece))


def _blocks(text: str) -> Iterator[tuple[int, int, str]]:
    opening = _OPENING.search(text)
    while opening is not None:
        closing = text.find(_CLOSING, opening.end() - 1)
        if closing < 0:
            return
        end = closing + len(_CLOSING)
        yield opening.start(), end, text[opening.end() : closing]
        opening = _OPENING.search(text, end)
