"""Where the agent names a conflict, and what that conflict is about."""

import re
from collections.abc import Sequence
from functools import cached_property

from coherence.judges.actions import Action
from coherence.judges.cues import Cues
from coherence.judges.prose import Match, Prose
from coherence.records import Record, Step, Transcript

TOKEN = re.compile(r"[A-Za-z_~./-][\w./~-]{2,60}")
BEFORE, AFTER = 160, 60  # characters around an acknowledgment that say what it is about
LEAST_WORD = 5  # characters of a content word
SHARED_WORDS = 2  # content words that two texts must share where no identifier is named


class AgentStep:
    """A step of the agent as the rules judge reads it: its prose, and its actions once asked for."""

    def __init__(self, step: Step, cues: Cues) -> None:
        self.number = step.number
        self._step = step
        self._cues = cues
        texts = [*(thought.text for thought in step.thoughts), step.message]
        self.prose = [Prose(text, cues) for text in texts if text and not text.isspace()]

    @cached_property
    def actions(self) -> list[Action]:
        """Its calls."""
        return [Action(call, self._cues) for call in self._step.calls]

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of all its actions."""
        return frozenset(kind for action in self.actions for kind in action.kinds)

    @cached_property
    def touched(self) -> str:
        """What its actions name, lower-cased."""
        return "\n".join(action.folded for action in self.actions)


class Referent(Record, frozen=True):
    """What a conflict is about: the identifiers named, or else content words; lower-cased."""

    identifiers: frozenset[str]
    words: frozenset[str]

    def is_in(self, text: str) -> bool:
        """Whether a lower-cased text names it."""
        if self.identifiers:
            return any(name in text for name in self.identifiers)
        return sum(word in text for word in self.words) >= SHARED_WORDS

    def shares(self, other: "Referent") -> bool:
        """Whether two conflicts are about one thing."""
        if self.identifiers or other.identifiers:
            return not self.identifiers.isdisjoint(other.identifiers)
        return len(self.words & other.words) >= SHARED_WORDS


class Acknowledgment(Record, frozen=True):
    """A sentence that names a conflict: index of its agent step, index of its prose there, the match."""

    at: int
    prose: int
    match: Match
    referent: Referent


def is_identifier(token: str) -> bool:
    """Whether a token looks like a name of code or of a file, and not like a word."""
    if any(character in "_./" or character.isdigit() for character in token):
        return True
    return any(character.isupper() for character in token[1:]) and not token.isupper()


def find_referent(text: str) -> Referent:
    """Return what a text is about."""
    tokens = {match[0].strip("./-~") for match in TOKEN.finditer(text)}
    identifiers = {token.lower() for token in tokens if len(token) > 2 and is_identifier(token)}
    words = {token.lower() for token in tokens if len(token) >= LEAST_WORD}
    return Referent(frozenset(identifiers), frozenset(words - identifiers))


def agent_steps(transcript: Transcript, cues: Cues) -> list[AgentStep]:
    """Return the agent's steps."""
    return [AgentStep(step, cues) for step in transcript.steps if step.source == "agent"]


def find_acknowledgments(steps: Sequence[AgentStep]) -> list[Acknowledgment]:
    """Return the acknowledgments in the order of the run."""
    return [
        Acknowledgment(
            at, place, match, find_referent(prose.text[max(0, match.start - BEFORE) : match.end + AFTER])
        )
        for at, step in enumerate(steps)
        for place, prose in enumerate(step.prose)
        for match in prose.acknowledgments
    ]
