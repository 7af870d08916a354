"""Marks cut a text where they begin and end; long texts lose their middle, never a mark."""

import pytest

from coherence.report.marks import MARGIN, Mark, Piece, Role, fitting_limit, pieces


def mark(start: int, end: int, span: int = 1, role: Role = "acknowledgment") -> Mark:
    return Mark((1, "thought", 0), start, end, span, role)


def under(text: str, *marks: Mark) -> list[tuple[str, tuple[int, ...]]]:
    return [(piece.text, tuple(mark.span for mark in piece.marks)) for piece in pieces(text, marks)]


LAYOUTS = {
    "none": ((), [("abcdef", ())]),
    "inside": ((mark(2, 4),), [("ab", ()), ("cd", (1,)), ("ef", ())]),
    "whole": ((mark(0, 6),), [("abcdef", (1,))]),
    "overlapping": (
        (mark(1, 4), mark(3, 5, 2)),
        [("a", ()), ("bc", (1,)), ("d", (1, 2)), ("e", (2,)), ("f", ())],
    ),
    "nested": ((mark(2, 3, 2), mark(1, 5)), [("a", ()), ("b", (1,)), ("c", (1, 2)), ("de", (1,)), ("f", ())]),
    "the-same": ((mark(1, 3), mark(1, 3, 2)), [("a", ()), ("bc", (1, 2)), ("def", ())]),
    "touching": ((mark(0, 3), mark(3, 6, 2)), [("abc", (1,)), ("def", (2,))]),
}


@pytest.mark.parametrize(("marks", "expected"), LAYOUTS.values(), ids=LAYOUTS)
def test_pieces_lie_under_their_marks(
    marks: tuple[Mark, ...], expected: list[tuple[str, tuple[int, ...]]]
) -> None:
    assert under("abcdef", *marks) == expected


def test_a_mark_begins_once() -> None:
    begun = [mark.span for piece in pieces("abcdef", (mark(1, 4), mark(3, 5, 2))) for mark in piece.begins]
    assert begun == [1, 2]


def test_a_long_text_keeps_head_and_tail_and_counts_the_rest() -> None:
    assert pieces("a" * 80 + "b" * 900 + "c" * 40, limit=120) == (
        Piece("a" * 80),
        Piece(left_out=900),
        Piece("c" * 40),
    )


def test_a_text_at_the_limit_is_whole() -> None:
    assert pieces("a" * 120, limit=120) == (Piece("a" * 120),)


def test_an_empty_text_has_no_piece() -> None:
    assert pieces("", limit=10) == ()


def test_a_mark_beyond_the_limit_stays_with_its_surroundings() -> None:
    text = "".join(chr(0x4E00 + place % 5000) for place in range(20_000))
    cut = pieces(text, (mark(10_000, 10_050),), limit=300)
    assert [piece.text for piece in cut] == [
        text[:200],
        "",
        text[10_000 - MARGIN : 10_000],
        text[10_000:10_050],
        text[10_050 : 10_050 + MARGIN],
        "",
        text[-100:],
    ]


def test_what_is_left_out_and_what_is_shown_add_up() -> None:
    cut = pieces("x" * 9_999, (mark(500, 4_000), mark(4_100, 4_200, 2)), limit=300)
    assert sum(len(piece.text) + piece.left_out for piece in cut) == 9_999


def test_a_huge_mark_does_not_bring_a_huge_text_back() -> None:
    cut = pieces("x" * 1_000_000, (mark(0, 1_000_000),), limit=1_000)
    assert sum(len(piece.text) for piece in cut) <= 3 * 1_000 + 2 * MARGIN


LIMITS = {
    "all-fit": ([10, 20, 30], 100, 50),
    "one-too-long": ([10, 10, 200], 60, 40),
    "ceiling": ([1000, 1000], 1500, 50),
    "floor": ([100] * 10, 10, 5),
    "none": ([], 100, 50),
}


@pytest.mark.parametrize(("lengths", "budget", "expected"), LIMITS.values(), ids=LIMITS)
def test_the_limit_is_the_largest_that_fits(lengths: list[int], budget: int, expected: int) -> None:
    assert fitting_limit(lengths, budget, ceiling=50, floor=5) == expected
