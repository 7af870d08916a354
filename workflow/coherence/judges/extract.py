"""The one answer inside a reply's text, from servers that do not hold a model to a schema.

Prose around the object, code fences, trailing commas, single quotes and comments are put up with. Not put up
with, for either could turn a cut or talked-over reply into a clean one:

    an object that is not closed    the reply was cut, whatever the server says of its end
    two different answers           one may be a quotation from the transcript, and nobody can say which
"""

import json
import re
from collections.abc import Collection, Iterator
from typing import Any, Final

import json_repair
import msgspec

from coherence.files import without_surrogates

DEEPEST: Final = 50  # objects within objects; an answer has two
_TURN: Final = re.compile(r'[{}]|"(?:[^"\\]|\\.)*+"|"', re.DOTALL)


def object_in(text: str, keys: Collection[str]) -> dict[str, Any]:
    """Return the only object in a text that has one of the keys; ValidationError says what is wrong."""
    found = [value for value in map(_repaired, _objects(text)) if not value.keys().isdisjoint(keys)]
    distinct = [value for n, value in enumerate(found) if value not in found[:n]]
    if len(distinct) > 1:
        raise msgspec.ValidationError(f"The reply holds {len(distinct)} different answers, not one")
    if not distinct:
        raise msgspec.ValidationError("The reply holds no JSON object with the fields asked for")
    return distinct[0]


def _objects(text: str) -> Iterator[str]:
    """Yield the outermost {...} of a text; ValidationError where one is not closed."""
    position = text.find("{")
    while position >= 0:
        end = _end(text, position)
        yield text[position:end]
        position = text.find("{", end)


def _end(text: str, start: int) -> int:
    depth = 0
    for turn in _TURN.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(turn[0], 0)
        if turn[0] == '"' or depth > DEEPEST:
            break
        if depth == 0:
            return turn.end()
    raise msgspec.ValidationError("The reply ends inside an object that is not closed, or nests too deeply")


def _repaired(text: str) -> dict[str, Any]:
    try:
        value = json_repair.loads(text)
    except (RecursionError, ValueError) as error:
        raise msgspec.ValidationError(f"The reply holds an object that cannot be read: {error}") from error
    return _writable(value) if isinstance(value, dict) else {}


def _writable(value: dict[str, Any]) -> dict[str, Any]:
    """Return the object with U+FFFD for each half of a character, which no file could hold."""
    return dict(json.loads(without_surrogates(json.dumps(value, ensure_ascii=False))))
