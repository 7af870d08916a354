"""Quotes marked in a text, and the parts of a long text that are shown."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, Literal

from coherence.records import QuoteField, Record

Place = tuple[int, QuoteField, int]  # step number, field, the field's index in the step
Role = Literal["acknowledgment", "action"]

MARGIN: Final = 400  # characters kept on both sides of a marked quote when its text is cut


class Mark(Record, frozen=True):
    """One quote in one text: text[start:end], `span` being the number of its span on the page."""

    place: Place
    start: int
    end: int
    span: int
    role: Role

    @property
    def anchor(self) -> str:
        """The HTML id of the place where the quote begins."""
        return f"mark-{self.span}-{self.role}"


class Piece(Record, frozen=True):
    """A stretch of a text under the same marks, or, with `left_out`, that many characters not shown."""

    text: str = ""
    marks: tuple[Mark, ...] = ()
    begins: tuple[Mark, ...] = ()
    left_out: int = 0


def pieces(text: str, marks: Sequence[Mark] = (), limit: int | None = None) -> tuple[Piece, ...]:
    """Cut the text at each mark's ends; beyond `limit` characters only head, tail and marks remain."""
    return tuple(_pieces(text, sorted(marks, key=lambda mark: (mark.start, mark.end)), limit))


def fitting_limit(lengths: Sequence[int], budget: int, ceiling: int, floor: int) -> int:
    """Return the largest limit a text, between floor and ceiling, under which all texts fit the budget."""
    remaining, texts = budget, len(lengths)
    for length in sorted(lengths):
        if length * texts > remaining:
            return max(floor, min(ceiling, remaining // texts))
        remaining -= length
        texts -= 1
    return ceiling


def _pieces(text: str, marks: Sequence[Mark], limit: int | None) -> Iterator[Piece]:
    position, begun = 0, set[Mark]()
    for start, end in _windows(len(text), marks, limit):
        if start > position:
            yield Piece(left_out=start - position)
        yield from _marked(text, start, end, marks, begun)
        position = end


def _marked(text: str, start: int, end: int, marks: Sequence[Mark], begun: set[Mark]) -> Iterator[Piece]:
    inside = [mark for mark in marks if mark.start < end and mark.end > start]
    cuts = {start, end} | {cut for mark in inside for cut in (mark.start, mark.end) if start < cut < end}
    ordered = sorted(cuts)
    for left, right in pairwise(ordered):
        over = tuple(mark for mark in inside if mark.start < right and mark.end > left)
        begins = tuple(mark for mark in over if mark not in begun)
        begun.update(begins)
        yield Piece(text[left:right], over, begins)


def _windows(length: int, marks: Sequence[Mark], limit: int | None) -> list[tuple[int, int]]:
    if limit is None or length <= limit:
        return [(0, length)] if length else []
    head = limit * 2 // 3
    wanted = [(0, head), (length - (limit - head), length)]
    wanted += [(mark.start - MARGIN, min(mark.end, mark.start + limit) + MARGIN) for mark in marks]
    windows: list[tuple[int, int]] = []
    for start, end in sorted((max(0, start), min(length, end)) for start, end in wanted):
        if windows and start <= windows[-1][1]:
            windows[-1] = (windows[-1][0], max(end, windows[-1][1]))
        else:
            windows.append((start, end))
    return windows
