"""Parts of the error where attempts were verified more than once: verifications are no attempts."""

from typing import Any

import numpy as np

from coherence.incoherence.levels import Level, Points, above_of, climb, mean_of_known, squared_lengths
from coherence.incoherence.parts import Ints, Parts, divided, sums
from coherence.incoherence.squares import Nested, Spread, nested


def verified(points: Points, attempt: Ints, context: Ints | None = None) -> Nested:
    """Return the parts over different attempts (of different contexts, where there are), each counted once.

    `attempt` and `context` number those of each verification; verifications of one attempt are not
    independent attempts. `verification` is half their mean squared distance within an attempt, NaN where no
    attempt has two.
    """
    total = int(attempt.max(initial=-1)) + 1
    nothing = np.zeros(len(attempt))
    level = climb(Level(points.away, nothing, nothing), attempt, total)
    item = above_of(points.item, attempt)
    cell = np.arange(total) if context is None else above_of(context, attempt)
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
    verification = points.scale * mean_of_known(level.apart, item, points.items)
    return Nested(parts, sampling, variance - sampling, verification)


def _cells(item: Ints, context: Ints) -> tuple[Ints, Ints]:
    """Return the item of each context of each item, and the context of each attempt."""
    contexts = int(context.max(initial=0)) + 1
    cells, cell = np.unique(item * contexts + context, return_inverse=True)
    return cells // contexts, cell


def _spread(points: Any, unit: Ints, units: int) -> Spread:
    n = np.bincount(unit, minlength=units)
    nothing = np.zeros(len(unit))
    level = climb(Level(points, nothing, nothing), unit, units)
    return Spread(n, np.where(n > 0, level.within, 0) * n, squared_lengths(level.point))
