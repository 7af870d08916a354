"""Hostile text made harmless and visible: control, invisible and direction-changing characters get a face."""

import re
from itertools import pairwise
from typing import Any, Final

from markupsafe import Markup

LONGEST_RUN: Final = 8  # hidden characters named one by one; a longer run is named by its first and counted

_ABBREVIATIONS: Final = (
    "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI "
    "DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US DEL"
)
_CONTROLS: Final = dict(zip((*range(0x20), 0x7F), _ABBREVIATIONS.split(), strict=True))
_PICTURES: Final = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"} | {0x7F: 0x2421}
# Controls, line separators, surrogates, non-characters and the default ignorables of Unicode, but not the
# joiners U+200C and U+200D and the selectors U+FE00 to U+FE0F, which ordinary scripts and emoji need.
_HIDDEN: Final = re.compile(
    "([\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"
    "\U000e0000-\U000e0fff]+)"
)
_BREAK: Final = re.compile(r'(\\n|, (?="[^"]{1,80}": ))|\\.')  # group 1: where a line may end
_CHIP: Final = Markup("<i>{}</i>")
_LINE_BREAK: Final = Markup("<br>")


def plain(text: str) -> str:
    """Return the text for attributes and cells: C0 controls as pictures (␛), others as ⟨U+202E⟩."""
    return _HIDDEN.sub(lambda run: "".join(f"⟨{name}⟩" for name in _names(run[0])), text.translate(_PICTURES))


def shown(text: str) -> Markup:
    """Return the text escaped for element content, hidden characters as chips `<i>U+202E</i>`."""
    parts = _HIDDEN.split(text.replace("\r\n", "\n"))
    return Markup("").join(_chips(part) if place % 2 else part for place, part in enumerate(parts))


def call_shown(text: str) -> Markup:
    """Return a call's JSON as `shown`, a line break after each escaped line end and before each key."""
    ends = [0, *(found.end() for found in _BREAK.finditer(text) if found[1]), len(text)]
    return _LINE_BREAK.join(shown(text[start:end]) for start, end in pairwise(ends))


def finalised(value: Any) -> Any:
    """Return what a template prints, text that is not markup made plain: the safety net of every {{ }}."""
    return plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _chips(run: str) -> Markup:
    return Markup("").join(_CHIP.format(name) for name in _names(run))


def _names(run: str) -> list[str]:
    names = [_CONTROLS.get(ord(character), f"U+{ord(character):04X}") for character in run[:LONGEST_RUN]]
    return names if len(run) <= LONGEST_RUN else [f"{names[0]} and {len(run) - 1:,} more hidden characters"]
