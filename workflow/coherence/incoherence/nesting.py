"""Components of variance of runs nested in scaffolds, settings, contexts, attempts and verifications.

D of a level is half the mean squared distance of two outcomes that part first there, each unit counted once
within the one above; a level's component is its D less that of the next deeper one. All are unbiased and may
be negative; in balanced designs they are those of nested analysis of variance (Searle et al. 1992).
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from coherence.incoherence.levels import Level, Points, above_of, climb, mean_of_known, squared_lengths
from coherence.incoherence.parts import Bools, Floats, Ints
from coherence.records import Record

ONE_SCAFFOLD: Final = "fewer than two scaffolds"
ONE_OF: Final = {
    "context": "no two contexts",
    "sampling": "no two attempts",
    "verification": "no attempt with two verifications",
}


class Units(Record, frozen=True, eq=False):
    """The codes of each outcome's scaffold, setting, context and attempt, each told apart within the last."""

    scaffold: Ints
    setting: Ints
    context: Ints
    attempt: Ints


class Components(Record, frozen=True, eq=False):
    """The error of each item and its `parts` (bias, scaffold, setting, context, sampling, verification).

    Only the parts that some item knows are there; they add up to the error in the `known` items. `lost` says
    by reason which items are not known.
    """

    error: Floats
    parts: dict[str, Floats]
    lost: dict[str, Bools]

    @property
    def known(self) -> Bools:
        """Whether every part of an item is known."""
        return np.asarray(~np.logical_or.reduce([np.isnan(part) for part in self.parts.values()]))


def components(points: Points, units: Units, *, by_scaffold: bool) -> Components:
    """Return the components of each item, those of scaffolds and settings only where asked for.

    Scaffolds, contexts, attempts and verifications are draws: D of a deeper level is averaged over the units
    that know it. Settings are those that there are: their part is the scatter they add to their scaffold,
    nothing where it has one.
    """
    (attempt, context, setting, scaffold, item), above = _levels(points, units)
    chain = _chain(
        mean_of_known(setting.apart, above[1]),
        mean_of_known(mean_of_known(context.apart, above[2]), above[1]),
        mean_of_known(mean_of_known(mean_of_known(attempt.apart, above[3]), above[2]), above[1]),
    )
    error = squared_lengths(item.point) + item.within
    if not chain:
        nothing = np.full(points.items, np.nan)
        return Components(points.scale * error, {"bias": nothing}, {ONE_OF["sampling"]: np.isnan(nothing)})
    top = next(iter(chain.values()))
    parts = _split(chain, above[0], points.items)
    if by_scaffold:
        settings = _settings(scaffold.apart, top, above[1])
        between = _between(item.apart, top, settings, above[0])
        if not (np.bincount(above[1]) > 1).any():
            del between["setting"]
        parts = between | parts
    total = item.apart if by_scaffold else mean_of_known(top, above[0], points.items)
    scaled = {name: points.scale * part for name, part in {"bias": error - total, **parts}.items()}
    return Components(points.scale * error, scaled, _lost(parts))


def _levels(points: Points, units: Units) -> tuple[list[Level], list[Ints]]:
    """Return the levels from attempts up to items, and of each unit of every depth the one above it."""
    codes = _nested_codes((points.item, units.scaffold, units.setting, units.context, units.attempt))
    above = [above_of(upper, lower) for upper, lower in pairwise(codes)]
    nothing = np.zeros(len(points.item))
    levels = [climb(Level(points.away, nothing, nothing), codes[-1], len(above[-1]))]
    for depth in reversed(range(len(above))):
        number = points.items if depth == 0 else len(above[depth - 1])
        levels.append(climb(levels[-1], above[depth], number))
    return levels, above


def _nested_codes(columns: Sequence[Ints]) -> list[Ints]:
    """Return of each outcome the number of its unit at each depth."""
    codes = [columns[0]]
    for column in columns[1:]:
        keys = codes[-1] * (int(column.max(initial=0)) + 1) + column
        codes.append(np.unique(keys, return_inverse=True)[1])
    return codes


def _chain(setting: Floats, context: Floats, attempt: Floats) -> dict[str, Floats]:
    """Return D of the levels below settings that are told apart anywhere, by scaffold; none without scatter.

    Contexts are not told apart from attempts where none has two.
    """
    found = {"sampling": setting} if np.isnan(context).all() else {"context": setting, "sampling": context}
    if np.isnan(found["sampling"]).all():
        return {}
    return found if np.isnan(attempt).all() else found | {"verification": attempt}


def _split(chain: Mapping[str, Floats], above: Ints, items: int) -> dict[str, Floats]:
    """Return the components of the levels below settings."""
    apart = {name: mean_of_known(values, above, items) for name, values in chain.items()}
    deeper = [*list(apart.values())[1:], np.zeros(items)]
    return {name: values - less for (name, values), less in zip(apart.items(), deeper, strict=True)}


def _settings(scaffold: Floats, inside: Floats, above: Ints) -> Floats:
    """Return what drawing one of its settings adds to the scatter within each scaffold."""
    n = np.bincount(above, minlength=len(scaffold))
    return np.where(n > 1, (1 - 1 / n) * (scaffold - inside), np.where(np.isnan(inside), np.nan, 0.0))


def _between(item: Floats, top: Floats, settings: Floats, above: Ints) -> dict[str, Floats]:
    inside, setting = (mean_of_known(values, above, len(item)) for values in (top, settings))
    # Where no scatter within is known, deeper parts say so: the reason is not that of the scaffolds.
    return {"scaffold": item - np.where(np.isnan(inside), 0, inside + setting), "setting": setting}


def _lost(parts: Mapping[str, Floats]) -> dict[str, Bools]:
    """Return why items are without parts, the first reason of each."""
    reasons = {"scaffold": ONE_SCAFFOLD, **ONE_OF}
    lost: dict[str, Bools] = {}
    before = np.zeros(len(next(iter(parts.values()))), np.bool_)
    for name, reason in reasons.items():
        if name in parts:
            unknown = np.isnan(parts[name]) & ~before
            before = before | unknown
            lost[reason] = unknown
    return lost
