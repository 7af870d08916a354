"""Components of variance of runs nested in scaffolds, settings, contexts, attempts and verifications.

D of a level is half the mean squared distance of two outcomes that part first there, each unit counted once
within the one above; a level's component is its D less that of the next deeper one. All are unbiased and may
be negative; in balanced designs they are those of nested analysis of variance (Searle et al. 1992).
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from coherence.incoherence.parts import Bools, Floats, Ints, Parts, divided, sums
from coherence.incoherence.squares import Nested, Spread, nested
from coherence.records import Record

ONE_SCAFFOLD: Final = "fewer than two scaffolds"
ONE_OF: Final = {
    "context": "no two contexts",
    "sampling": "no two attempts",
    "verification": "no attempt with two verifications",
}


class Points(Record, frozen=True, eq=False):
    """Outcomes, a row each of the sparse `away`: how far each coordinate is from the target of its `item`.

    Squared lengths of rows, times the `scale` of the item, are errors.
    """

    item: Ints
    away: Any
    scale: Floats

    @property
    def items(self) -> int:
        """The number of items."""
        return len(self.scale)


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


class Level(NamedTuple):
    """Units of one depth: their mean points, the scatter within them, and D of outcomes that part in them."""

    point: Any
    within: Floats
    apart: Floats


def components(points: Points, units: Units, *, by_scaffold: bool) -> Components:
    """Return the components of each item, those of scaffolds and settings only where asked for.

    Scaffolds, contexts, attempts and verifications are draws: D of a deeper level is averaged over the units
    that know it. Settings are those that there are: their part is the scatter they add to their scaffold,
    nothing where it has one.
    """
    (attempt, context, setting, scaffold, item), above = _levels(points, units)
    chain = _chain(
        _mean(setting.apart, above[1]),
        _mean(_mean(context.apart, above[2]), above[1]),
        _mean(_mean(_mean(attempt.apart, above[3]), above[2]), above[1]),
    )
    error = _squares(item.point) + item.within
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
    total = item.apart if by_scaffold else _mean(top, above[0], points.items)
    scaled = {name: points.scale * part for name, part in {"bias": error - total, **parts}.items()}
    return Components(points.scale * error, scaled, _lost(parts))


def _levels(points: Points, units: Units) -> tuple[list[Level], list[Ints]]:
    """Return the levels from attempts up to items, and of each unit of every depth the one above it."""
    codes = _nested_codes((points.item, units.scaffold, units.setting, units.context, units.attempt))
    above = [_above(upper, lower) for upper, lower in pairwise(codes)]
    nothing = np.zeros(len(points.item))
    levels = [_climb(Level(points.away, nothing, nothing), codes[-1], len(above[-1]))]
    for depth in reversed(range(len(above))):
        number = points.items if depth == 0 else len(above[depth - 1])
        levels.append(_climb(levels[-1], above[depth], number))
    return levels, above


def _nested_codes(columns: Sequence[Ints]) -> list[Ints]:
    """Return of each outcome the number of its unit at each depth."""
    codes = [columns[0]]
    for column in columns[1:]:
        keys = codes[-1] * (int(column.max(initial=0)) + 1) + column
        codes.append(np.unique(keys, return_inverse=True)[1])
    return codes


def _above(upper: Ints, lower: Ints) -> Ints:
    """Return the unit above each of the lower units."""
    above = np.zeros(int(lower.max(initial=-1)) + 1, np.int64)
    above[lower] = upper
    return above


def _climb(below: Level, above: Ints, units: int) -> Level:
    """Return the level above, in which each unit below counts once; D is NaN where there is one below."""
    n = np.bincount(above, minlength=units).astype(float)
    # Sums first: the mean of what is all the same is the same, to the last digit.
    total = csr_array((np.ones(len(above)), (above, np.arange(len(above)))), shape=(units, len(above)))
    mean = csr_array(total @ below.point)
    mean.data = mean.data / np.repeat(n, np.diff(mean.indptr))
    between = divided(sums(_squares(below.point - mean[above]), above, units), n)
    within = divided(sums(below.within, above, units), n)
    apart = np.where(n > 1, divided(between * n, n - 1) + within, np.nan)
    return Level(mean, between + within, apart)


def _squares(points: Any) -> Floats:
    return np.asarray(points.multiply(points).sum(axis=1), dtype=float).ravel()


def _mean(values: Floats, above: Ints, units: int = 0) -> Floats:
    """Return the mean of the known values in each unit above, NaN where there is none."""
    known, units = ~np.isnan(values), max(units, int(above.max(initial=-1)) + 1)
    n = np.bincount(above[known], minlength=units).astype(float)
    return divided(sums(values[known], above[known], units), n)


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
    apart = {name: _mean(values, above, items) for name, values in chain.items()}
    deeper = [*list(apart.values())[1:], np.zeros(items)]
    return {name: values - less for (name, values), less in zip(apart.items(), deeper, strict=True)}


def _settings(scaffold: Floats, inside: Floats, above: Ints) -> Floats:
    """Return what drawing one of its settings adds to the scatter within each scaffold."""
    n = np.bincount(above, minlength=len(scaffold))
    return np.where(n > 1, (1 - 1 / n) * (scaffold - inside), np.where(np.isnan(inside), np.nan, 0.0))


def _between(item: Floats, top: Floats, settings: Floats, above: Ints) -> dict[str, Floats]:
    inside, setting = (_mean(values, above, len(item)) for values in (top, settings))
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


def verified(points: Points, attempt: Ints, context: Ints | None = None) -> Nested:
    """Return the parts over different attempts (of different contexts, where there are), each counted once.

    `attempt` and `context` number those of each verification; verifications of one attempt are not
    independent attempts. `verification` is half their mean squared distance within an attempt, NaN where no
    attempt has two.
    """
    total = int(attempt.max(initial=-1)) + 1
    nothing = np.zeros(len(attempt))
    level = _climb(Level(points.away, nothing, nothing), attempt, total)
    item = _above(points.item, attempt)
    cell = np.arange(total) if context is None else _above(context, attempt)
    owner, cell = _cells(item, cell)
    whole, cells = _spread(level.point, item, points.items), _spread(level.point, cell, len(owner))
    plain = nested(whole, cells, owner)
    n, size = whole.n.astype(float), cells.n.astype(float)
    squares = sums(size**2, owner, points.items)
    # The distance of two attempts is that of their means and half of what either scatters within.
    apart = divided(sums((n[item] - size[cell]) * level.within, item, points.items), n**2 - squares)
    inner = divided(sums((size[cell] - 1) * level.within, item, points.items), squares - n)
    error = points.scale * (plain.parts.error + divided(sums(level.within, item, points.items), n))
    variance, sampling = (
        points.scale * (plain.parts.variance + apart),
        points.scale * (plain.sampling + inner),
    )
    parts = Parts(whole.n, error, error - variance, variance, "unbiased")
    verification = points.scale * _mean(level.apart, item, points.items)
    return Nested(parts, sampling, variance - sampling, verification)


def _cells(item: Ints, context: Ints) -> tuple[Ints, Ints]:
    """Return the item of each context of each item, and the context of each attempt."""
    contexts = int(context.max(initial=0)) + 1
    cells, cell = np.unique(item * contexts + context, return_inverse=True)
    return cells // contexts, cell


def _spread(points: Any, unit: Ints, units: int) -> Spread:
    n = np.bincount(unit, minlength=units)
    nothing = np.zeros(len(unit))
    level = _climb(Level(points, nothing, nothing), unit, units)
    return Spread(n, np.where(n > 0, level.within, 0) * n, _squares(level.point))
