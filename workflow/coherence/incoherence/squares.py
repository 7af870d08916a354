"""Decompositions by squared distance: answers (Kohavi-Wolpert, Brier), probabilities, test vectors, numbers.

E||x-y||^2 = ||mean-y||^2 + E||x-mean||^2. The plug-in variance is (K-1)/K of the true one, and its bias too
large by the rest; the unbiased one is half the mean squared distance of two attempts.
"""

from collections.abc import Iterator
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from coherence.incoherence.parts import Estimator, Floats, Ints, Parts, divided, sums, with_enough
from coherence.incoherence.tallies import Tally
from coherence.records import Record

CELLS: Final = 2_000_000  # numbers worked on at once, which bounds the memory
KOHAVI_WOLPERT: Final = 0.5  # its bias and variance add up to the 0/1 error
BRIER: Final = 1.0


class Spread(Record, frozen=True, eq=False):
    """Each item's n attempts: `scatter` sums squared distances to their mean, `offset` is the mean's to y."""

    n: Ints
    scatter: Floats
    offset: Floats


class Vectors(Record, frozen=True, eq=False):
    """Attempts as vectors of a length that their item decides, all in one flat array.

    `item` of each attempt rises; `width` is the length of each item's vectors; `values` holds the vectors one
    after another, `target` one vector an item, in the same order.
    """

    item: Ints
    width: Ints
    values: NDArray[np.generic]
    target: Floats


class Nested(Record, frozen=True, eq=False):
    """Parts over different contexts; `sampling` is the variance within a context, `context` what it adds.

    NaN where no item has two contexts, and where no context has two attempts. `verification` is the variance
    within an attempt, where there are verifications.
    """

    parts: Parts
    sampling: Floats
    context: Floats
    verification: Floats | None = None


def answer_spread(counts: Tally, scale: float = KOHAVI_WOLPERT) -> Spread:
    """Return the spread of answers as one-hot vectors, times `scale` (Kohavi, Wolpert 1996; Brier 1950)."""
    n = counts.n.astype(float)
    squares = divided(sums(counts.count**2, counts.item, counts.items), n)
    right = divided(counts.correct.astype(float), n)
    return Spread(counts.n, scale * (n - squares), scale * (divided(squares, n) - 2 * right + 1))


def number_spread(item: Ints, value: Floats, target: Floats) -> Spread:
    """Return the spread of the numbers of each attempt about the target of each item."""
    n = np.bincount(item, minlength=len(target))
    mean = divided(sums(value, item, len(target)), n.astype(float))
    scatter = sums((value - mean[item]) ** 2, item, len(target))
    return Spread(n, scatter, (mean - target) ** 2)


def vector_spread(vectors: Vectors, of: Literal["sum", "mean"] = "sum") -> Spread:
    """Return the spread of vectors, their squared distances as sums or as means over the places."""
    items = len(vectors.width)
    n = np.bincount(vectors.item, minlength=items)
    scatter, offset = np.zeros(items), np.full(items, np.nan)
    for part in pieces(vectors, n):
        scatter[part.items], offset[part.items] = _piece_spread(part)
    scale = 1.0 if of == "sum" else divided(np.ones(items), vectors.width.astype(float))
    return Spread(n, scatter * scale, np.where(n > 0, offset, np.nan) * scale)


class Piece(Record, frozen=True, eq=False):
    """Some neighbouring items: of each cell its `attempt` and `place`, of each place its `owner`, an item."""

    items: slice
    n: Ints
    item: Ints
    attempt: Ints
    place: Ints
    owner: Ints
    values: Floats
    target: Floats


def pieces(vectors: Vectors, n: Ints) -> Iterator[Piece]:
    """Yield the vectors in pieces of about `CELLS` cells, never parting an item."""
    attempts = np.concatenate([[0], np.cumsum(n)])
    cells = np.concatenate([[0], np.cumsum(n * vectors.width)])
    places = np.concatenate([[0], np.cumsum(vectors.width)])
    start = 0
    while start < len(n):
        end = max(start + 1, int(np.searchsorted(cells, cells[start] + CELLS, "right")) - 1)
        yield _piece(vectors, n, slice(start, end), (attempts, cells, places))
        start = end


def _piece(vectors: Vectors, n: Ints, chosen: slice, bounds: tuple[Ints, Ints, Ints]) -> Piece:
    attempts, cells, places = (slice(bound[chosen.start], bound[chosen.stop]) for bound in bounds)
    item = vectors.item[attempts] - chosen.start
    width = vectors.width[chosen]
    begin = np.cumsum(width) - width
    attempt = np.repeat(np.arange(len(item)), width[item])
    row = np.cumsum(width[item]) - width[item]
    place = np.arange(len(attempt)) - row[attempt] + begin[item][attempt]
    owner = np.repeat(np.arange(len(width)), width)
    values = vectors.values[cells].astype(float)
    return Piece(chosen, n[chosen], item, attempt, place, owner, values, vectors.target[places])


def _piece_spread(part: Piece) -> tuple[Floats, Floats]:
    items, n = len(part.n), part.n.astype(float)
    mean = divided(sums(part.values, part.place, len(part.owner)), n[part.owner])
    scatter = sums((part.values - mean[part.place]) ** 2, part.owner[part.place], items)
    return scatter, sums((mean - part.target) ** 2, part.owner, items)


def squared(spread: Spread, estimator: Estimator = "unbiased") -> Parts:
    """Return the parts; unbiased and jackknife are one here, and exact from two attempts on."""
    n = spread.n.astype(float)
    plugged = divided(spread.scatter, n)
    error = spread.offset + plugged
    if estimator == "plug-in":
        return with_enough(Parts(spread.n, error, spread.offset, plugged, "plug-in"))
    variance = divided(spread.scatter, n - 1)
    return with_enough(Parts(spread.n, error, error - variance, variance, "unbiased"))


def nested(whole: Spread, cells: Spread, owner: Ints) -> Nested:
    """Return the unbiased parts of nested sampling, from pairs of attempts of different contexts only.

    `cells` are the spreads of each context of each item, `owner` the item of each. Attempts of one context
    are not independent: all pairs together would understate the variance.
    """
    items, n = len(whole.n), whole.n.astype(float)
    size = cells.n.astype(float)
    within, squares = sums(size * cells.scatter, owner, items), sums(size**2, owner, items)
    variance = divided(n * whole.scatter - within, n**2 - squares)
    sampling = divided(within, squares - n)
    error = whole.offset + divided(whole.scatter, n)
    error = np.where(np.isnan(variance), np.nan, error)
    parts = with_enough(Parts(whole.n, error, error - variance, variance, "unbiased"))
    return Nested(parts, sampling, variance - sampling)
