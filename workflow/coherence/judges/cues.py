"""The cues of the rules judge, from `cues.toml`."""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from coherence.records import Record
from coherence.vocabulary import ConflictType


class Cue(Record, frozen=True):
    """One cue: strings of which one must occur, expressions over a lower-cased sentence, and what it says."""

    name: str
    strength: float
    needles: tuple[str, ...]
    expression: re.Pattern[str]
    unless: re.Pattern[str] | None
    conflict_type: ConflictType

    def matches(self, sentence: str) -> bool:
        """Whether a lower-cased sentence that holds a needle carries the cue."""
        if self.expression.search(sentence) is None:
            return False
        return self.unless is None or self.unless.search(sentence) is None


class Lexicon(Record, frozen=True):
    """The cues of one role, an expression that finds their needles, and which cues each needle calls for."""

    cues: tuple[Cue, ...]
    any_needle: re.Pattern[str]
    called: dict[str, frozenset[int]]

    def met(self, sentence: str) -> list[Cue]:
        """Return the cues that a lower-cased sentence carries, in their order."""
        tried: set[int] = set()
        needle = self.any_needle.search(sentence)
        while needle is not None:
            tried |= self.called[needle[0]]
            needle = self.any_needle.search(sentence, needle.start() + 1)
        return [self.cues[index] for index in sorted(tried) if self.cues[index].matches(sentence)]


class Cues(Record, frozen=True):
    """Everything in `cues.toml`: cues by their role, tool names and shell commands by kind of action."""

    acknowledgment: Lexicon
    dismissal: Lexicon
    settlement: Lexicon
    tools: dict[str, frozenset[str]]
    commands: dict[str, re.Pattern[str]]


def any_of(words: Iterable[str]) -> str:
    """Return a fast expression for any of the words; of two, one the beginning of the other, the shorter."""
    endings: dict[str, list[str]] = {}
    for word in words:
        endings.setdefault(word[:1], []).append(word[1:])
    branches = [re.escape(first) + any_of(endings[first]) for first in sorted(endings) if first]
    if "" in endings or not branches:
        return ""  # the shorter word is enough
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


def compile_cue(entry: dict[str, Any]) -> Cue:
    """Return the cue of one entry of the file."""
    words = "|".join(re.escape(needle) for needle in entry["needles"])
    return Cue(
        name=entry["name"],
        strength=entry.get("strength", 0.0),
        needles=tuple(entry["needles"]),
        expression=re.compile(entry.get("pattern", rf"(?<!\w)(?:{words})(?!\w)")),
        unless=re.compile(entry["unless"]) if "unless" in entry else None,
        conflict_type=entry.get("conflict_type", "other"),
    )


def compile_lexicon(entries: list[dict[str, Any]]) -> Lexicon:
    """Return the cues of one role, in the order of the file."""
    cues = tuple(map(compile_cue, entries))
    needles = [(needle, index) for index, cue in enumerate(cues) for needle in cue.needles]
    called = {
        found: frozenset(index for needle, index in needles if needle.startswith(found))
        for found, _ in needles
    }
    return Lexicon(cues, re.compile(any_of(called)), called)


def compile_commands(names: list[str]) -> re.Pattern[str]:
    """Return an expression for how a shell command starts; a name that ends in "/" is a folder."""
    return re.compile("|".join(re.escape(name) + ("" if name[-1] == "/" else r"(?![\w-])") for name in names))


@cache
def cues_text() -> str:
    """Return the text of `cues.toml`."""
    return files("coherence.judges").joinpath("cues.toml").read_text("utf-8")


@cache
def load_cues() -> Cues:
    """Return the cues in the order of the file."""
    data = tomllib.loads(cues_text())
    actions = data["actions"]
    return Cues(
        acknowledgment=compile_lexicon(data["acknowledgment"]),
        dismissal=compile_lexicon(data["dismissal"]),
        settlement=compile_lexicon(data["settlement"]),
        tools={kind: frozenset(names) for kind, names in actions["tools"].items()},
        commands={kind: compile_commands(names) for kind, names in actions["commands"].items()},
    )
