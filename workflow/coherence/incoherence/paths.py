"""What attempts at one task did, action by action: where they part, and which of them is in the middle.

An action is a call, or a message of an agent's step without calls. Two calls are the same if the tool and its
arguments are, white space aside; two messages always are, for words differ where nothing else does. Sequences
are aligned by difflib's matching blocks.
"""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Final, Literal

import msgspec

from coherence.records import Record, Step

MESSAGE: Final = "message"
READ: Final = 4_000  # characters of an action that are compared; more does not change what was done
LONGEST: Final = 2_000  # actions of a path that are aligned; alignment takes the square of it
Kind = Literal["equal", "replace", "delete", "insert"]


class Action(Record, frozen=True):
    """One action: the number of its step, the tool ("message" where none was called), and its text cut."""

    step: int
    tool: str
    text: str

    @property
    def key(self) -> str:
        """What two actions share that do the same."""
        return MESSAGE if self.tool == MESSAGE else f"{self.tool}\n{self.text}"


class Parting(Record, frozen=True):
    """How one path goes on from another: they share `shared` first actions, then part.

    `step` is that of the first action that differs, None where one path only ends earlier or both are the
    same; `similarity` is the share of actions that align, 0 to 1.
    """

    shared: int
    step: int | None
    similarity: float


class Stretch(Record, frozen=True):
    """A stretch of an alignment: so many actions of either path, the same or not."""

    kind: Kind
    first: tuple[int, int]
    second: tuple[int, int]


def actions(steps: Iterable[Step]) -> tuple[Action, ...]:
    """Return the agent's actions in their order; empty steps have none."""
    return tuple(action for step in steps if step.source == "agent" for action in _of_step(step))


def _of_step(step: Step) -> Iterable[Action]:
    if step.calls:
        return [Action(step.number, call.name, _plain(_arguments(call.arguments))) for call in step.calls]
    return [Action(step.number, MESSAGE, _plain(step.message))] if step.message.strip() else []


def _arguments(arguments: dict[str, object]) -> str:
    return msgspec.json.encode(arguments, order="sorted").decode() if arguments else ""


def _plain(text: str) -> str:
    return " ".join(text[:READ].split())


def parting(path: Sequence[Action], other: Sequence[Action]) -> Parting:
    """Return where a path leaves another one, and how alike they are."""
    shared = 0
    for mine, theirs in zip(path, other, strict=False):
        if mine.key != theirs.key:
            break
        shared += 1
    differs = shared < min(len(path), len(other))
    return Parting(shared, path[shared].step if differs else None, similarity(path, other))


def similarity(path: Sequence[Action], other: Sequence[Action]) -> float:
    """Return twice the aligned actions over all actions of both; 1 where both did nothing."""
    return _matcher(path, other).ratio()


def alignment(path: Sequence[Action], other: Sequence[Action]) -> tuple[Stretch, ...]:
    """Return the stretches that lead from one path to the other, in their order."""
    found = _matcher(path, other).get_opcodes()
    return tuple(Stretch(kind, (a, b), (c, d)) for kind, a, b, c, d in found)


def _matcher(path: Sequence[Action], other: Sequence[Action]) -> "SequenceMatcher[str]":
    keys = [[action.key for action in one[:LONGEST]] for one in (path, other)]
    return SequenceMatcher(None, keys[0], keys[1], autojunk=False)


def middle(paths: Sequence[Sequence[Action]]) -> int:
    """Return the place of the path most alike to all others, the first of equals (ValueError for none)."""
    if not paths:
        raise ValueError("no paths")
    likeness = [
        sum(similarity(path, other) for place, other in enumerate(paths) if place != own)
        for own, path in enumerate(paths)
    ]
    return likeness.index(max(likeness))
