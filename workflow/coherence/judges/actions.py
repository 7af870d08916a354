"""What kind of action a call is and what it says."""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from coherence.judges.cues import Cues
from coherence.judges.frame import call_text
from coherence.records import Call

COMMAND_KEYS = ("command", "cmd", "keystrokes", "raw_action", "script", "code")
SEGMENT = re.compile(r"&&|\|\||[;\n|]")
REDIRECT = re.compile(r"(?<![0-9&>])>{1,2}\s{0,3}(?!/dev/null|&)[\w./~$\"'-]")
HEREDOC = re.compile(r"<<-?\s{0,3}['\"]?(\w{1,40})")
READ_CHARACTERS = 4000  # of an argument: more does not change what kind of action it is
LINE_CHARACTERS = 200  # of the line quoted from an action
DEPTH = 6  # of nesting among arguments


def strings(value: Any, depth: int = DEPTH) -> Iterator[str]:
    """Yield the strings in a JSON value, in its order."""
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, dict):
        for item in value.values():
            yield from strings(item, depth - 1)
    elif depth and isinstance(value, list):
        for item in value:
            yield from strings(item, depth - 1)


def first_line(text: str) -> str:
    """Return the first line with a letter or digit, cut, as it stands in the text; "" if there is none."""
    lines = (line.strip()[:LINE_CHARACTERS].strip() for line in text[:READ_CHARACTERS].splitlines())
    return next((line for line in lines if any(map(str.isalnum, line))), "")


class Action:
    """One call of the agent."""

    def __init__(self, call: Call, cues: Cues) -> None:
        self._call = call
        self._cues = cues
        values = (call.arguments.get(key) for key in COMMAND_KEYS)
        self._command = next((value for value in values if isinstance(value, str)), None)

    @cached_property
    def texts(self) -> list[str]:
        """The strings among the arguments, a command first."""
        texts = list(strings(self._call.arguments))
        return texts if self._command is None else [self._command, *texts]

    @cached_property
    def folded(self) -> str:
        """The arguments' text, lower-cased and cut."""
        return "\n".join(text[:READ_CHARACTERS] for text in self.texts).lower()

    @cached_property
    def key(self) -> str:
        """What two calls share that do the same."""
        said = self._command if self._command is not None else "\n".join(self.texts)
        return f"{self._call.name}\n{' '.join(said[:READ_CHARACTERS].split())}"

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of action in the call, "other" if none is known: a shell line may hold several."""
        command = (self._command or "")[:READ_CHARACTERS].lower()
        names = {self._call.name.lower().rpartition(".")[2], command.strip()}
        found = {kind for kind, tools in self._cues.tools.items() if names & tools}
        found |= shell_kinds(command, self._cues)
        return frozenset(found or {"other"})

    @cached_property
    def quote(self) -> str:
        """The first line of an argument that says something, as it stands there; else the whole call, cut."""
        return next(filter(None, map(first_line, self.texts)), call_text(self._call)[:LINE_CHARACTERS])


def without_heredoc(command: str) -> str:
    """Return a command without the text it passes in its first heredoc."""
    opening = HEREDOC.search(command)
    if opening is None:
        return command
    line_end = command.find("\n", opening.end())
    closing = command.find(f"\n{opening[1]}", opening.end())
    rest = command[closing + 1 + len(opening[1]) :] if closing >= 0 else ""
    return f"{command[: line_end if line_end >= 0 else len(command)]}\n{rest}"


def shell_kinds(command: str, cues: Cues) -> set[str]:
    """Return the kinds of the parts of a lower-cased shell command."""
    if not command:
        return set()
    command = without_heredoc(command)
    found = {"edit"} if REDIRECT.search(command) else set()
    for segment in SEGMENT.split(command):
        words = segment.strip().lstrip("(").removeprefix("sudo ")
        found.update(kind for kind, expression in cues.commands.items() if expression.match(words))
    return found
