"""Error, bias and variance of each item (a task of one group), and how they are estimated."""

from collections.abc import Sequence
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from coherence.records import Record

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Estimator = Literal["unbiased", "plug-in", "jackknife"]
FEWEST: Final[dict[Estimator, int]] = {"unbiased": 2, "plug-in": 1, "jackknife": 2}


class Parts(Record, frozen=True, eq=False):
    """The parts of each item's error, one place an item; NaN where it has fewer attempts than `FEWEST`.

    Where `adds_up`, error = bias + variance in every item. Unbiased bias and variance of one item can lie
    outside 0 to 1; clipping them would bias the sums.
    """

    n: Ints
    error: Floats
    bias: Floats
    variance: Floats
    estimator: Estimator
    adds_up: bool = True

    @property
    def known(self) -> Bools:
        """Whether an item has enough attempts."""
        return ~np.isnan(self.variance)

    @property
    def incoherence(self) -> Floats:
        """Variance over error of each item; NaN where it was never wrong: there is no error to part."""
        return divided(self.variance, self.error)

    def take(self, places: Ints | Bools) -> "Parts":
        """Return the parts of some items."""
        error, bias, variance = (field[places] for field in (self.error, self.bias, self.variance))
        return Parts(self.n[places], error, bias, variance, self.estimator, self.adds_up)


def joined(groups: Sequence[Parts]) -> Parts:
    """Return the items of several groups, of one estimator, one after another."""
    n = np.concatenate([group.n for group in groups])
    error, bias, variance = (
        np.concatenate([getattr(group, field) for group in groups]) for field in ("error", "bias", "variance")
    )
    return Parts(n, error, bias, variance, groups[0].estimator, groups[0].adds_up)


def divided(above: Floats, below: Floats) -> Floats:
    """Return above / below, NaN where below is 0."""
    return np.asarray(np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below != 0))


def with_enough(parts: Parts) -> Parts:
    """Return the parts with NaN wherever an item has too few attempts for its estimator."""
    few = parts.n < FEWEST[parts.estimator]
    error, bias, variance = (np.where(few, np.nan, v) for v in (parts.error, parts.bias, parts.variance))
    return Parts(parts.n, error, bias, variance, parts.estimator, parts.adds_up)


def incomparable(*groups: Parts) -> str | None:
    """Return why the groups must not be compared or pooled: a biased estimator on unequal attempts, or None.

    The bias of plug-in and jackknife estimates depends on the number of attempts, so that a difference would
    show who was sampled more.
    """
    if len({group.estimator for group in groups}) > 1:
        return "different estimators"
    if groups[0].estimator == "unbiased":
        return None
    counts = np.unique(np.concatenate([group.n[group.known] for group in groups]))
    if len(counts) <= 1:
        return None
    return f"{groups[0].estimator} estimates of {counts[0]} to {counts[-1]} attempts"


def sums(values: NDArray[np.generic], item: Ints, items: int) -> Floats:
    """Return the sum of the values of each item."""
    return np.bincount(item, weights=values, minlength=items).astype(float)
