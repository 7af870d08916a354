"""Outcomes as points, and units of one depth over those below: their means, and how far these lie apart."""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from coherence.incoherence.parts import Floats, Ints, divided, sums
from coherence.records import Record


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


class Level(NamedTuple):
    """Units of one depth: their mean points, the scatter within them, and D of outcomes that part in them."""

    point: Any
    within: Floats
    apart: Floats


def above_of(upper: Ints, lower: Ints) -> Ints:
    """Return the unit above each of the lower units."""
    above = np.zeros(int(lower.max(initial=-1)) + 1, np.int64)
    above[lower] = upper
    return above


def climb(below: Level, above: Ints, units: int) -> Level:
    """Return the level above, in which each unit below counts once; D is NaN where there is one below."""
    n = np.bincount(above, minlength=units).astype(float)
    # Sums first: the mean of what is all the same is the same, to the last digit.
    total = csr_array((np.ones(len(above)), (above, np.arange(len(above)))), shape=(units, len(above)))
    mean = csr_array(total @ below.point)
    mean.data = mean.data / np.repeat(n, np.diff(mean.indptr))
    between = divided(sums(squared_lengths(below.point - mean[above]), above, units), n)
    within = divided(sums(below.within, above, units), n)
    apart = np.where(n > 1, divided(between * n, n - 1) + within, np.nan)
    return Level(mean, between + within, apart)


def squared_lengths(points: Any) -> Floats:
    """Return the squared length of each row."""
    return np.asarray(points.multiply(points).sum(axis=1), dtype=float).ravel()


def mean_of_known(values: Floats, above: Ints, units: int = 0) -> Floats:
    """Return the mean of the known values in each unit above, NaN where there is none."""
    known, units = ~np.isnan(values), max(units, int(above.max(initial=-1)) + 1)
    n = np.bincount(above[known], minlength=units).astype(float)
    return divided(sums(values[known], above[known], units), n)
