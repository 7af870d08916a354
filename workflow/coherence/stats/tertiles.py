"""Three groups of a dataset by one value, cut so that the same rows always fall into the same group."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Final, Literal

from coherence.records import Record

Label = Literal["low", "middle", "high"]
LABELS: Final[tuple[Label, ...]] = ("low", "middle", "high")
RULE: Final = "sorted by value, then by id, and cut at n//3 and 2n//3"


class Tertile(Record, frozen=True):
    """The ids of one third, and the smallest and largest value in it (None where it is empty)."""

    label: Label
    members: tuple[str, ...]
    low: float | None = None
    high: float | None = None


def tertiles(values: Mapping[str, float]) -> tuple[Tertile, ...]:
    """Return the thirds of values by id: by value, ties by id, cut at n//3 and 2n//3.

    Of the common ways to cut, only this fits the paper's counts; `array_split`, `qcut` and quantiles do not.
    """
    ordered = sorted(values, key=lambda name: (values[name], name))
    cuts = (0, len(ordered) // 3, 2 * len(ordered) // 3, len(ordered))
    thirds = (ordered[start:end] for start, end in pairwise(cuts))
    return tuple(_tertile(label, third, values) for label, third in zip(LABELS, thirds, strict=True))


def _tertile(label: Label, members: list[str], values: Mapping[str, float]) -> Tertile:
    if not members:
        return Tertile(label, ())
    return Tertile(label, tuple(members), values[members[0]], values[members[-1]])
