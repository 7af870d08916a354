"""Precision among the k highest of a ranking, with ties at the border counted in every way they can fall."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from coherence.records import Record


class PrecisionAtK(Record, frozen=True):
    """Failures among the `k` highest of `n`: expected where ties are drawn at random, and both extremes."""

    k: int
    n: int
    expected: float
    lowest: int
    highest: int
    tied: int


def precision_at_k(scores: Sequence[Any], failed: Sequence[bool], k: int) -> PrecisionAtK | None:
    """Return the failures among the k highest scores, None where there are fewer than k or k is 0.

    `tied` is how many scores equal the k-th, when not all of them are among the k.
    """
    if not 0 < k <= len(scores):
        return None
    border = sorted(scores, reverse=True)[k - 1]
    above = [bad for score, bad in zip(scores, failed, strict=True) if score > border]
    tied = [bad for score, bad in zip(scores, failed, strict=True) if score == border]
    return _at(k, len(scores), (sum(above), len(above)), tied)


def precision_over_k(scores: Sequence[Any], failed: Sequence[bool], most: int) -> Iterator[PrecisionAtK]:
    """Yield the failures among the k highest scores for all k, or for `most` of them spread evenly."""
    n = len(scores)
    wanted = sorted({round(1 + place * (n - 1) / max(1, most - 1)) for place in range(min(n, most))})
    if n <= most:
        wanted = list(range(1, n + 1))
    ranked = sorted(zip(scores, failed, strict=True), key=lambda pair: pair[0], reverse=True)
    above = start = 0
    for _, group in groupby(ranked, key=lambda pair: pair[0]):
        tied = [bad for _, bad in group]
        inside = [k for k in wanted if start < k <= start + len(tied)]
        yield from (_at(k, n, (above, start), tied) for k in inside)
        above, start = above + sum(tied), start + len(tied)


def _at(k: int, n: int, before: tuple[int, int], tied: Sequence[bool]) -> PrecisionAtK:
    """Return the point whose border lies among the tied; `before` are failures and scores above them."""
    above, start = before
    places, bad = k - start, sum(tied)
    return PrecisionAtK(
        k=k,
        n=n,
        expected=above + places * bad / len(tied),
        lowest=above + max(0, places - (len(tied) - bad)),
        highest=above + min(places, bad),
        tied=len(tied) if len(tied) > places else 0,
    )
