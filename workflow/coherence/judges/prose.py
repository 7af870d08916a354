"""Prose searched for cues a sentence at a time; every offset is one into the original text."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property

from coherence.judges.cues import Cue, Cues, Lexicon
from coherence.records import Record

BOUNDARY = re.compile(r"(?<=[.!?])[\"')*]{0,3}\s+|\n")
FENCE = "```"
QUOTED_LINE = ">"
APOSTROPHES = str.maketrans("’ʼ", "''")
SENTENCE_REACH = 300  # characters read to either side of a cue where no boundary is found
MOST_ACKNOWLEDGMENTS = 30  # in one text: more are one conflict said again
MOST_SENTENCES = 500  # of one text that are looked at: a bound on time, not on meaning


class Match(Record, frozen=True):
    """A cue met in the sentence `text[start:end]`."""

    cue: Cue
    start: int
    end: int


def fold(text: str) -> str:
    """Return the text in lower case, apostrophes straight, fenced code blank, each character in its place."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a letter whose small form has more characters
        lowered = "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)
    if not lowered.isascii():
        lowered = lowered.translate(APOSTROPHES)
    return blank_fences(lowered) if FENCE in lowered else lowered


def blank_fences(text: str) -> str:
    """Return the text with fences and the code between them as spaces; an unclosed fence hides nothing."""
    parts = text.split(FENCE)
    closed = len(parts) - 1 if len(parts) % 2 == 0 else len(parts)
    gap = " " * len(FENCE)
    return gap.join(
        " " * len(part) if place % 2 and place < closed else part for place, part in enumerate(parts)
    )


class Prose:
    """One text of the agent."""

    def __init__(self, text: str, cues: Cues) -> None:
        self.text = text
        self.folded = fold(text)
        self._cues = cues

    @cached_property
    def _boundaries(self) -> list[int]:
        return [boundary.end() for boundary in BOUNDARY.finditer(self.folded)]

    def sentence(self, offset: int) -> tuple[int, int]:
        """Return start and end of the sentence around an offset, without space or code at its edges."""
        following = bisect_right(self._boundaries, offset)
        start = self._boundaries[following - 1] if following else 0
        end = self._boundaries[following] if following < len(self._boundaries) else len(self.text)
        start = max(start, offset - SENTENCE_REACH)
        end = min(end, offset + SENTENCE_REACH)
        sentence = self.folded[start:end]
        return start + len(sentence) - len(sentence.lstrip()), end - len(sentence) + len(sentence.rstrip())

    def _sentences_with(self, needles: re.Pattern[str]) -> Iterator[tuple[int, int]]:
        read = 0
        for _ in range(MOST_SENTENCES):
            needle = needles.search(self.folded, read)
            if needle is None:
                return
            start, end = self.sentence(needle.start())
            read = max(end, needle.end())
            if not self.folded.startswith(QUOTED_LINE, start):
                yield start, end

    def find(self, lexicon: Lexicon) -> list[Match]:
        """Return each cue met, once a sentence, in the order of the text."""
        return [
            Match(cue, start, end)
            for start, end in self._sentences_with(lexicon.any_needle)
            for cue in lexicon.met(self.folded[start:end])
        ]

    @cached_property
    def acknowledgments(self) -> list[Match]:
        """Sentences that name a conflict, the surest ones where there are very many."""
        surest = sorted(self.find(self._cues.acknowledgment), key=lambda match: -match.cue.strength)
        return sorted(surest[:MOST_ACKNOWLEDGMENTS], key=lambda match: match.start)

    @cached_property
    def dismissals(self) -> list[Match]:
        """Sentences that set a conflict aside."""
        return self.find(self._cues.dismissal)

    @cached_property
    def settlements(self) -> list[Match]:
        """Sentences that give a reason, change the plan or announce an inquiry."""
        return self.find(self._cues.settlement)
