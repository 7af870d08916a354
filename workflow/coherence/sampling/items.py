"""Item files: JSON Lines, a question a line with what counts as right; fields: `data/items/README.md`."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from string import ascii_uppercase
from typing import Annotated, Any, Final, Literal

from msgspec import Meta
from msgspec.structs import replace

from coherence.errors import InputError
from coherence.files import read_numbered_lines
from coherence.records import Record
from coherence.sampling.answers import AnswerError, canonical, choice_of, normalised, number_of, text_of

Kind = Literal["choice", "number", "text"]
LONGEST_NAME: Final = 200  # characters of an id, a task, a context, a seed or a label

Name = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]


class Line(Record, frozen=True, forbid_unknown_fields=True):
    """A line as the file has it; `question` is another name for `prompt`, `data` is for commands alone."""

    id: Name
    prompt: str | None = None
    question: str | None = None
    choices: dict[Name, str] | list[str] | None = None
    target: str | int | float | None = None
    tolerance: Annotated[float, Meta(ge=0)] = 0.0
    difficulty: str | float | None = None
    task: Name | None = None
    context: Name | None = None
    seed: Name | None = None
    data: dict[str, Any] = {}


class Item(Record, frozen=True):
    """One item: the text that is asked, its choices by label, and the identity of the right answer.

    Items of one `task` in several `context`s are the same question asked in different surroundings. `seed`
    names an environment that other groups' runs share.
    """

    id: str
    task: str
    text: str
    kind: Kind
    choices: dict[str, str] = {}
    target: str | None = None
    tolerance: float = 0.0
    difficulty: str | float | None = None
    context: str | None = None
    seed: str | None = None
    data: dict[str, Any] = {}

    @property
    def target_number(self) -> float | None:
        """The right answer as a number, where it is one."""
        return float(self.target) if self.kind == "number" and self.target is not None else None


def identity_of(item: Item, answer: str | float) -> tuple[str, float | None]:
    """Return an answer's identity, and its value where it is a number; AnswerError where it is no answer.

    A number within the item's tolerance of the target has the target's identity.
    """
    if item.kind == "choice":
        return choice_of(str(answer), item.choices), None
    if item.kind == "text":
        return text_of(str(answer)), None
    number = number_of(str(answer))
    near = item.target is not None and abs(number - Decimal(item.target)) <= Decimal(str(item.tolerance))
    return (item.target if near and item.target else canonical(number)), float(number)


def read_items(path: Path, targets: bool) -> tuple[Item, ...]:
    """Return the items of a file; `targets` says that each must have one.

    Raises InputError naming the line: no items, an id twice, a target that is none of the choices.
    """
    items: dict[str, Item] = {}
    for number, line in read_numbered_lines(path, Line):
        try:
            item = _item(line, targets)
        except ValueError as error:
            raise InputError(f"{path}:{number}: {error}") from error
        if item.id in items:
            raise InputError(f"{path}:{number}: id {item.id!r} is there twice; each item needs its own")
        items[item.id] = item
    if not items:
        raise InputError(f"{path}: holds no item; a line is {{'id': ..., 'prompt': ..., 'target': ...}}")
    return tuple(items.values())


def _item(line: Line, targets: bool) -> Item:
    text, choices = _asked(line), _choices(line)
    _check_names(line, choices)
    number = isinstance(line.target, int | float)
    kind: Kind = "choice" if choices else "number" if number else "text"
    if line.tolerance and kind != "number":
        raise ValueError("`tolerance` is for a `target` that is a number")
    if targets and line.target is None:
        raise ValueError("no `target`: without one no answer is right or wrong")
    item = Item(
        id=line.id,
        task=line.task or line.id,
        text=text,
        kind=kind,
        choices=choices,
        tolerance=line.tolerance,
        difficulty=line.difficulty,
        context=line.context,
        seed=line.seed,
        data=line.data,
    )
    return item if line.target is None else replace(item, target=_target(item, line.target))


def _target(item: Item, target: str | float) -> str:
    try:
        return identity_of(item, target)[0]
    except AnswerError as error:
        raise ValueError(f"`target`: {error}") from error


def _asked(line: Line) -> str:
    if (line.prompt is None) == (line.question is None):
        raise ValueError("an item has a `prompt` or a `question`, one of them")
    text = line.prompt or line.question or ""
    if not text.strip():
        raise ValueError("the `prompt` is empty")
    return text


def _choices(line: Line) -> dict[str, str]:
    listed = line.choices
    if isinstance(listed, list):
        if len(listed) > len(ascii_uppercase):
            raise ValueError(f"{len(listed)} choices: a list has 26 at the most; give labels of your own")
        listed = dict(zip(ascii_uppercase, listed, strict=False))
    if listed is None:
        return {}
    labels = {normalised(label) for label in listed}
    if len(listed) < 2 or len(labels) < len(listed) or "" in labels:
        raise ValueError("`choices` are two or more, their labels different in more than letter case")
    if len({" ".join(text.split()) for text in listed.values()}) < len(listed):
        raise ValueError("two of the `choices` are the same")
    return listed


def _check_names(line: Line, choices: dict[str, str]) -> None:
    names = [name for name in (line.id, line.task, line.context, line.seed) if name is not None]
    for name in (*names, *choices):
        if not name.isprintable() or not name[0].isalnum():
            raise ValueError(f"{name!r}: a name or label is printable and begins with a letter or a digit")


def same_questions(items: tuple[Item, ...]) -> Iterator[tuple[str, str]]:
    """Yield the ids of each two items that ask the same: their samples would be the same replies."""
    seen: dict[tuple[str, tuple[tuple[str, str], ...]], str] = {}
    for item in items:
        asked = (item.text, tuple(item.choices.items()))
        if asked in seen:
            yield seen[asked], item.id
        seen.setdefault(asked, item.id)
