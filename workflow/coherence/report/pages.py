"""The page of one trajectory: every step as the judge read it, with all judges' quotes marked in place."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from coherence.judges.frame import step_texts
from coherence.records import (
    Judgement,
    QuoteCheck,
    QuoteField,
    Record,
    Span,
    Step,
    ThoughtSource,
    Transcript,
    Trial,
    VerifierTests,
)
from coherence.report.marks import Mark, Piece, Place, Role, fitting_limit, pieces
from coherence.report.rendering import render

PAGE_BUDGET: Final = 10_000_000  # characters of a trajectory on its page; longer texts are cut to fit
LONGEST_TEXT: Final = 20_000  # characters shown of one text
SHORTEST_TEXT: Final = 300  # characters every text may show, whatever the budget
FOLDED_BEYOND: Final[dict[QuoteField, int]] = {  # characters; a longer text is folded unless a quote is in it
    "thought": 4_000,
    "message": 4_000,
    "call": 1_000,
    "observation": 700,
}
FOLDED_LINES: Final = 24  # a text of more lines is folded too
FAILED_SHOWN: Final = 5  # names of failed tests; the rest is counted
OPENING: Final = 110  # characters of a folded text that stand for it
THOUGHT_SOURCES: Final[dict[ThoughtSource, str]] = {
    "think_call": "from a think call",
    "reasoning": "from the reasoning field",
    "scaffold": "from the scaffold's text",
    "message": "from the message beside a call",
}


class Page(Record, frozen=True):
    """What a trajectory's page shows; `simulated` says what is not real about the data, "" for a real run."""

    trial: Trial
    transcript: Transcript
    judgements: tuple[Judgement, ...] = ()
    simulated: str = ""
    tests: VerifierTests | None = None


class TextView(Record, frozen=True):
    """One text of a step as it is printed; `opening` stands for it while it is folded."""

    field: QuoteField
    note: str
    pieces: tuple[Piece, ...]
    characters: int
    folded: bool
    opening: str


class StepView(Record, frozen=True):
    """One step as it is printed; `marks` are the quotes that stand in it."""

    step: Step
    texts: tuple[TextView, ...]
    marks: tuple[Mark, ...]


class QuoteView(Record, frozen=True):
    """One quote as a span's card prints it; without a mark it is not shown in place."""

    role: Role
    step: int
    text: str
    check: QuoteCheck
    mark: Mark | None


class SpanView(Record, frozen=True):
    """One span's card; `number` counts the spans of all judges on the page."""

    number: int
    judgement: Judgement
    span: Span
    quotes: tuple[QuoteView, QuoteView]


def render_page(page: Page) -> str:
    """Return the page as one HTML document that loads nothing and runs nothing."""
    steps = page.transcript.steps
    texts = texts_of(page.transcript)
    limit = fitting_limit([len(text) for text in texts.values()], PAGE_BUDGET, LONGEST_TEXT, SHORTEST_TEXT)
    spans = span_views(page.judgements, texts)
    marks = marks_by_place(spans)
    return render(
        "page.html",
        page=page,
        steps=[_step_view(step, marks, limit) for step in steps],
        spans=spans,
        limit=limit,
        failed=() if page.tests is None else page.tests.failed,
        failed_shown=FAILED_SHOWN,
        numbers=frozenset(step.number for step in steps),
    )


def texts_of(transcript: Transcript) -> dict[Place, str]:
    """Return every text of a transcript by its place."""
    return {
        (step.number, field, index): text
        for step in transcript.steps
        for field, index, text in step_texts(step)
    }


def span_views(judgements: Sequence[Judgement], texts: Mapping[Place, str], first: int = 1) -> list[SpanView]:
    """Return the cards of all spans, numbered from `first`."""
    spans = [(judgement, span) for judgement in judgements for span in judgement.spans]
    return [
        SpanView(number, judgement, span, _quote_views(number, span, texts))
        for number, (judgement, span) in enumerate(spans, first)
    ]


def _quote_views(number: int, span: Span, texts: Mapping[Place, str]) -> tuple[QuoteView, QuoteView]:
    acknowledged, acted = span.acknowledgment_check, span.action_check
    return (
        QuoteView(
            role="acknowledgment",
            step=span.acknowledgment_step,
            text=span.acknowledgment_quote,
            check=acknowledged,
            mark=_mark(number, "acknowledgment", acknowledged, texts),
        ),
        QuoteView(
            role="action",
            step=span.action_step,
            text=span.action_quote,
            check=acted,
            mark=_mark(number, "action", acted, texts),
        ),
    )


def _mark(number: int, role: Role, check: QuoteCheck, texts: Mapping[Place, str]) -> Mark | None:
    if check.step is None or check.field is None or check.start is None or check.end is None:
        return None
    place = (check.step, check.field, check.index or 0)
    if not 0 <= check.start < check.end <= len(texts.get(place, "")):
        return None
    return Mark(place, check.start, check.end, number, role)


def marks_by_place(spans: Sequence[SpanView]) -> Mapping[Place, list[Mark]]:
    """Return the marks of the quotes in each text."""
    marks: dict[Place, list[Mark]] = defaultdict(list)
    for mark in (quote.mark for span in spans for quote in span.quotes):
        if mark is not None:
            marks[mark.place].append(mark)
    return marks


def unmarked(transcript: Transcript) -> tuple[list[StepView], int]:
    """Return the steps of a transcript without any judge's marks, and the characters shown of one text."""
    lengths = [len(text) for step in transcript.steps for _, _, text in step_texts(step)]
    limit = fitting_limit(lengths, PAGE_BUDGET, LONGEST_TEXT, SHORTEST_TEXT)
    return [_step_view(step, {}, limit) for step in transcript.steps], limit


def _step_view(step: Step, marks: Mapping[Place, Sequence[Mark]], limit: int) -> StepView:
    texts, met = [], list[Mark]()
    for field, index, text in step_texts(step):
        inside = marks.get((step.number, field, index), ())
        met += inside
        texts.append(_text_view(field, text, _note(step, field, index), inside, limit))
    return StepView(step, tuple(texts), tuple(met))


def _note(step: Step, field: QuoteField, index: int) -> str:
    if field == "thought":
        return THOUGHT_SOURCES[step.thoughts[index].source]
    if field == "call":
        return "" if step.calls[index].arguments else "no arguments recorded"
    if field == "observation" and step.observations[index].text is None:
        return "no content recorded"
    return ""


def _text_view(field: QuoteField, text: str, note: str, marks: Sequence[Mark], limit: int) -> TextView:
    long = len(text) > FOLDED_BEYOND[field] or text.count("\n") > FOLDED_LINES
    opening = text[:OPENING].lstrip().partition("\n")[0]
    return TextView(field, note, pieces(text, marks, limit), len(text), long and not marks, opening)
