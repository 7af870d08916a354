"""Quotes looked up in the transcript: a judge's word is believed only where the words are there.

exact          the quote is a substring of a text of the step the judge named
normalised     it is one after folding white space, control characters, letter case, typographic quotation
               marks, dashes and ellipses, rows of masks, Markdown emphasis, the heading of the section and,
               in calls, JSON escapes; or its parts around an ellipsis (10 characters or more each) follow
               one another with 300 or fewer left out
wrong_step     it stands, in either way, in another step, which `step` names, the nearest if there are several
absent         it is nowhere: a near match (a word changed, dropped or invented) is absent too, and so is a
               quote without a letter or digit, or of fewer than 10 characters and not in the step named
not_checkable  there is no text to look in

Offsets refer to the original text: text[start:end] is what the transcript says. Only the agent's own words
count: an acknowledgment in a thought, else a message; an action in a call (the text that `frame.call_text`
gives), else a message, else a thought. `Where` says otherwise for passages of other kinds.
"""

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final

import msgspec

from coherence.judges.frame import step_texts
from coherence.records import QuoteCheck, QuoteField, QuoteVerdict, Record, Span, Transcript

ACKNOWLEDGMENT_FIELDS: Final[tuple[QuoteField, ...]] = ("thought", "message")
ACTION_FIELDS: Final[tuple[QuoteField, ...]] = ("call", "message", "thought")

SHORTEST_PART: Final = 10  # characters; less beside an ellipsis, or in another step, could be there by chance
LONGEST_GAP: Final = 300  # characters an ellipsis may stand for

_SPACE = r"\s\x00-\x1f\x7f-\x9f\u2400-\u2421\ufffd"
_PROSE = re.compile(
    rf"(?P<space>[ ][{_SPACE}]+|(?![ ])[{_SPACE}]+)"  # a single space is left alone: there are so many
    r"|(?P<nothing>\*\*|[`\u00ad\u200b-\u200d\u2060\ufeff])"
    r"|(?P<single>[\u2018-\u201b\u2032\u2039\u203a])|(?P<double>[\u201c-\u201f\u2033\u00ab\u00bb])"
    r"|(?P<dash>[\u2010-\u2015\u2212])|(?P<ellipsis>\u2026)|(?P<masked>\u2588+)"
)
_JSON = re.compile(
    rf"(?P<escaped_space>(?:[{_SPACE}]|\\[nrtbf]|\\u00[01][0-9a-f])+)|\\(?P<escaped>[\"\\/])|{_PROSE.pattern}"
)
_FOLDED: Final = {
    "space": " ",
    "escaped_space": " ",
    "nothing": "",
    "single": "'",
    "double": '"',
    "dash": "-",
    "ellipsis": "...",
    "masked": "\u2588",  # a row of them is hard to count in a copy
}
_HEADING: Final = re.compile(r"\A\s*\[(?:[^\]\n]* )?(?:thought|message|call)\]\s+", re.IGNORECASE)
_ELISION: Final = re.compile(r"\s*(?:\[\.{3,}\]|\(\.{3,}\)|\.{3,})\s*")


class Where(Record, frozen=True):
    """In which fields the first and the second quote may stand, the likeliest first.

    With `anyone` also in what the system and the user wrote.
    """

    first: tuple[QuoteField, ...] = ACKNOWLEDGMENT_FIELDS
    second: tuple[QuoteField, ...] = ACTION_FIELDS
    anyone: bool = False


AGENTS: Final = Where()


def checked(spans: Iterable[Span], transcript: Transcript, where: Where = AGENTS) -> tuple[Span, ...]:
    """Return the spans with the verdicts on both quotes; the judge's own step numbers stay as they are."""
    spans = tuple(spans)
    if not spans:
        return ()
    places = Places(transcript, where.anyone)
    return tuple(
        msgspec.structs.replace(
            span,
            acknowledgment_check=places.check(
                span.acknowledgment_quote, span.acknowledgment_step, where.first
            ),
            action_check=places.check(span.action_quote, span.action_step, where.second),
        )
        for span in spans
    )


def strays(spans: Iterable[Span], transcript: Transcript) -> tuple[str, ...]:
    """Return one sentence for each step number of a span that the transcript does not have."""
    numbers = {step.number for step in transcript.steps}
    named = ("start_step", "end_step", "acknowledgment_step", "action_step")
    return tuple(
        f"span {span.span_id}: {name} {getattr(span, name)} is no step of the transcript"
        for span in spans
        for name in named
        if numbers and getattr(span, name) not in numbers
    )


class Passage:
    """One text of the agent, and its folded form once it is needed."""

    def __init__(self, step: int, field: QuoteField, index: int, text: str) -> None:
        self.step = step
        self.field = field
        self.index = index
        self.text = text

    @cached_property
    def folded(self) -> tuple[str, "array[int]", "array[int]"]:
        """The folded text, and for each of its characters where its original starts and ends."""
        return fold(self.text, _JSON if self.field == "call" else _PROSE)

    def exact(self, quote: str) -> tuple[int, int] | None:
        """Return the offsets of the quote as it is."""
        start = self.text.find(quote)
        return None if start < 0 else (start, start + len(quote))

    def normalised(self, quote: str) -> tuple[int, int] | None:
        """Return the original offsets of the folded quote."""
        folded, starts, ends = self.folded
        for wanted in self._forms(quote):
            found = _found(wanted, folded)
            if found is not None:
                return starts[found[0]], ends[found[1] - 1]
        return None

    def _forms(self, quote: str) -> Iterator[str]:
        quote = _HEADING.sub("", quote)
        yield fold(quote, _PROSE)[0].strip()
        if self.field == "call":
            yield fold(quote, _JSON)[0].strip()


class Places:
    """Where quotes can stand in one transcript."""

    def __init__(self, transcript: Transcript, anyone: bool = False) -> None:
        self._checkable = bool(transcript.steps)
        self._passages = [
            Passage(step.number, *text)
            for step in transcript.steps
            if anyone or step.source == "agent"
            for text in step_texts(step)
        ]

    def check(self, quote: str, step: int, fields: Sequence[QuoteField]) -> QuoteCheck:
        """Return where a quote stands that is said to be in this step, looking in these fields in turn."""
        if not self._checkable:
            return QuoteCheck("not_checkable")
        length = len(fold(quote, _PROSE)[0].strip()) if any(map(str.isalnum, quote)) else 0
        passages = [passage for field in fields for passage in self._passages if passage.field == field]
        here = [passage for passage in passages if passage.step == step]
        found = _check(quote, here) if length else None
        if found is None and length >= SHORTEST_PART:
            elsewhere = [passage for passage in passages if passage.step != step]
            found = _check(
                quote, sorted(elsewhere, key=lambda passage: (abs(passage.step - step), passage.step))
            )
            found = found and msgspec.structs.replace(found, verdict="wrong_step")
        return found or QuoteCheck("absent")


def fold(text: str, tokens: re.Pattern[str]) -> tuple[str, "array[int]", "array[int]"]:
    """Return the text without typographic differences, and each folded character's start and end in it."""
    pieces: list[str] = []
    starts, ends = array("q"), array("q")  # lists would take several times the memory
    position = 0
    for token in tokens.finditer(text):
        _keep(text, position, token.start(), (pieces, starts, ends))
        position = token.end()
        kind = token.lastgroup or ""
        folded = token["escaped"] if kind == "escaped" else _FOLDED[kind]
        pieces.append(folded)
        starts.extend([token.start()] * len(folded))
        ends.extend([token.end()] * len(folded))
    _keep(text, position, len(text), (pieces, starts, ends))
    return "".join(pieces), starts, ends


def _keep(text: str, start: int, end: int, into: tuple[list[str], "array[int]", "array[int]"]) -> None:
    lower = text[start:end].lower()
    if len(lower) != end - start:  # a letter whose small form has more characters
        lower = "".join(c.lower() if len(c.lower()) == 1 else c for c in text[start:end])
    into[0].append(lower)
    into[1].extend(range(start, end))
    into[2].extend(range(start + 1, end + 1))


_WAYS: Final[tuple[tuple[QuoteVerdict, Callable[[Passage, str], tuple[int, int] | None]], ...]] = (
    ("exact", Passage.exact),
    ("normalised", Passage.normalised),
)


def _check(quote: str, passages: Sequence[Passage]) -> QuoteCheck | None:
    for verdict, find in _WAYS:
        for passage in passages:
            found = find(passage, quote)
            if found is not None:
                return QuoteCheck(verdict, passage.step, passage.field, passage.index, *found)
    return None


def _found(quote: str, folded: str) -> tuple[int, int] | None:
    parts = [part for part in _ELISION.split(quote) if part]
    whole = _in_order([quote], folded) if quote else None
    if whole or parts == [quote] or min(map(len, parts), default=0) < SHORTEST_PART:
        return whole
    return _in_order(parts, folded)


def _in_order(parts: Sequence[str], folded: str) -> tuple[int, int] | None:
    first, *others = parts
    start = folded.find(first)
    while start >= 0:
        end = start + len(first)
        for part in others:
            place = folded.find(part, end, end + LONGEST_GAP + len(part))
            if place < 0:
                break
            end = place + len(part)
        else:
            return start, end
        start = folded.find(first, start + 1)
    return None
