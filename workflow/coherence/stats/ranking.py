"""Precision among the k highest of a ranking, with ties at the border counted in every way they can fall."""

from collections.abc import Sequence
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
    places = k - len(above)
    return PrecisionAtK(
        k=k,
        n=len(scores),
        expected=sum(above) + places * sum(tied) / len(tied),
        lowest=sum(above) + max(0, places - (len(tied) - sum(tied))),
        highest=sum(above) + min(places, sum(tied)),
        tied=len(tied) if len(tied) > places else 0,
    )
