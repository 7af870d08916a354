"""The page of one rewritten trajectory: each thought before and after, the quotes of both sides marked."""

from collections.abc import Mapping, Sequence

from coherence.paraphrase.checks import Checked, ThoughtCheck
from coherence.paraphrase.rewriting import Place as ThoughtPlace
from coherence.records import Judgement, Record, Transcript, Trial
from coherence.report.marks import Mark, Piece, Place, fitting_limit, pieces
from coherence.report.pages import (
    LONGEST_TEXT,
    PAGE_BUDGET,
    SHORTEST_TEXT,
    SpanView,
    marks_by_place,
    span_views,
    texts_of,
)
from coherence.report.rendering import render


class ParaphrasePage(Record, frozen=True):
    """What a rewritten trajectory's page shows; `rewritten` is None where no thought, or not every one, was.

    `how` names the manipulation, `back` is the way from the page to the report, `linked` tells whether there
    is a page of the whole trajectory.
    """

    trial: Trial
    paraphrase: str
    how: str
    transcript: Transcript
    rewritten: Transcript | None
    checked: Checked
    before: tuple[Judgement, ...] = ()
    after: tuple[Judgement, ...] = ()
    simulated: str = ""
    back: str = "../../../../report.html"
    linked: bool = False


class SpanSide(Record, frozen=True):
    """A span and the side it is on."""

    side: str
    view: SpanView


class ThoughtView(Record, frozen=True):
    """One thought as it is printed; `after` is None where it was not rewritten."""

    check: ThoughtCheck
    before: tuple[Piece, ...]
    after: tuple[Piece, ...] | None


def render_paraphrase_page(page: ParaphrasePage) -> str:
    """Return the page as one HTML document that loads nothing and runs nothing."""
    old = texts_of(page.transcript)
    new = {} if page.rewritten is None else texts_of(page.rewritten)
    before = span_views(page.before, old)
    after = span_views(page.after, new, len(before) + 1)
    made = {each.place: each.text for each in page.checked.rewritten.rewrites if each.text is not None}
    return render(
        "paraphrase.html",
        page=page,
        sides=[*(SpanSide("before", view) for view in before), *(SpanSide("after", view) for view in after)],
        thoughts=_thought_views(
            page.checked.checks, (old, made), marks_by_place(before), marks_by_place(after)
        ),
        shown_marks=_anchors((*before, *after)),
    )


def _thought_views(
    checks: Sequence[ThoughtCheck],
    texts: tuple[Mapping[Place, str], Mapping[ThoughtPlace, str]],
    before: Mapping[Place, Sequence[Mark]],
    after: Mapping[Place, Sequence[Mark]],
) -> list[ThoughtView]:
    old, made = texts
    places: list[Place] = [(check.step, "thought", check.index) for check in checks]
    lengths = [len(old.get(place, "")) for place in places] + [len(text) for text in made.values()]
    limit = fitting_limit(lengths, PAGE_BUDGET, LONGEST_TEXT, SHORTEST_TEXT)
    return [
        ThoughtView(
            check=check,
            before=pieces(old.get(place, ""), before.get(place, ()), limit),
            after=pieces(text, after.get(place, ()), limit) if text is not None else None,
        )
        for check, place in zip(checks, places, strict=True)
        for text in [made.get((check.step, check.index))]
    ]


def _anchors(views: Sequence[SpanView]) -> frozenset[str]:
    """Return the anchors of the marks that stand in a thought: only thoughts are on the page."""
    marks = (quote.mark for view in views for quote in view.quotes)
    return frozenset(mark.anchor for mark in marks if mark is not None and mark.place[1] == "thought")
