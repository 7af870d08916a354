"""The parts of a prompt: what stands under each Markdown heading, so that an ablation of a prompt is data.

A part runs from its heading to the next heading of the same or a higher level, so that "Worked examples"
holds "Example 1" and the rest. Its name is the heading's text up to a colon. A line in a fenced block is no
heading.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from coherence.errors import PromptError
from coherence.records import Record

_HEADING: Final = re.compile(r"(#{1,6})\s+([^:\n]+?)\s*(?::.*)?\n?")
_FENCE: Final = re.compile(r"\s{0,3}(?:```|~~~)")


class Part(Record, frozen=True):
    """One heading and what stands under it: the lines from `start` up to `end`."""

    name: str
    start: int
    end: int


def parts_of(body: str) -> tuple[Part, ...]:
    """Return the parts of a Markdown text in the order of their headings."""
    lines = body.splitlines(keepends=True)
    headings = _headings(lines)
    return tuple(
        Part(
            name, start, next((at for at, other, _ in headings if at > start and other <= level), len(lines))
        )
        for start, level, name in headings
    )


def ablated(body: str, drop: Collection[str], replace: Mapping[str, str]) -> str:
    """Return the text without the parts `drop` names, those of `replace` replaced by its texts.

    A part inside one that goes is gone with it. PromptError for a name that no part has, or several have, and
    for one named twice.
    """
    lines = body.splitlines(keepends=True)
    chosen = sorted(_chosen(parts_of(body), (*drop, *replace)), key=lambda part: (part.start, -part.end))
    pieces, at = list[str](), 0
    for part in chosen:
        if part.start >= at:
            pieces += lines[at : part.start]
            if part.name in replace:
                pieces.append(replace[part.name].strip() + "\n\n")
            at = part.end
    return "".join([*pieces, *lines[at:]])


def _chosen(parts: Sequence[Part], names: Sequence[str]) -> list[Part]:
    known = [part.name for part in parts]
    for name in names:
        if names.count(name) > 1:
            raise PromptError(f"the part {name!r} is named twice")
        if known.count(name) != 1:
            there = "is not there" if name not in known else "is not the only one of its name"
            raise PromptError(f"the part {name!r} {there}; the parts are {', '.join(known) or 'none'}")
    return [part for part in parts if part.name in names]


def _headings(lines: Sequence[str]) -> list[tuple[int, int, str]]:
    """Return (line, level, name) of every heading outside fenced blocks."""
    found: list[tuple[int, int, str]] = []
    fenced = False
    for number, line in enumerate(lines):
        if _FENCE.match(line):
            fenced = not fenced
        heading = None if fenced else _HEADING.fullmatch(line)
        if heading is not None:
            found.append((number, len(heading[1]), heading[2]))
    return found
