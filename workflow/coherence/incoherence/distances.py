"""Distances between outcomes, and how far attempts scatter by them: half the mean distance of two attempts.

For distances of negative type, such as these, the mean distance to the target is at least that, and the rest
is bias: the discrete distance gives Kohavi and Wolpert's parts.
"""

from collections.abc import Mapping

import numpy as np

from coherence.incoherence.parts import Floats, Ints, Parts, divided, sums, with_enough
from coherence.incoherence.squares import Vectors, answer_spread, pieces, squared
from coherence.incoherence.tallies import Tally


def discrete(counts: Tally) -> Parts:
    """Return the unbiased parts for the distance 1 between different answers."""
    return squared(answer_spread(counts))


def absolute(item: Ints, value: Floats, target: Floats) -> Parts:
    """Return the unbiased parts for the distance |x - x'| of numbers; `target` is each item's ideal value."""
    items = len(target)
    order = np.lexsort((value, item))
    ordered, owner = value[order], item[order]
    n = np.bincount(item, minlength=items)
    rank = np.arange(len(owner)) - (np.cumsum(n) - n)[owner]
    # The sum of |x - x'| over pairs, each value counted as often as it is the larger less the smaller one.
    pairs = sums(ordered * (2 * rank + 1 - n[owner]), owner, items)
    error = divided(sums(np.abs(value - target[item]), item, items), n.astype(float))
    variance = divided(pairs, n * (n - 1.0))
    return with_enough(Parts(n, error, error - variance, variance, "unbiased"))


def differing_tests(vectors: Vectors) -> Parts:
    """Return the unbiased parts for the share of tests with another result; every test ought to pass."""
    items = len(vectors.width)
    n = np.bincount(vectors.item, minlength=items)
    error, variance = np.full(items, np.nan), np.full(items, np.nan)
    for part in pieces(vectors, n):
        size = part.n.astype(float)
        passed = sums(part.values, part.place, len(part.owner))
        failed = size[part.owner] - passed
        places = np.bincount(part.owner, minlength=len(size)).astype(float)
        error[part.items] = divided(sums(failed, part.owner, len(size)), places * size)
        unlike = sums(passed * failed, part.owner, len(size))
        variance[part.items] = divided(unlike, places * size * (size - 1))
    return with_enough(Parts(n, error, error - variance, variance, "unbiased"))


def weighted(components: Mapping[str, Parts], weights: Mapping[str, float]) -> Parts:
    """Return the parts for the weighted sum of distances, each component measured on the same attempts."""
    chosen = [(weights[name], components[name]) for name in sorted(components)]
    n = chosen[0][1].n
    if any(not np.array_equal(parts.n, n) for _, parts in chosen):
        raise ValueError("components of one distance must be known of the same attempts")
    if any(weight < 0 or parts.estimator != "unbiased" for weight, parts in chosen):
        raise ValueError("components need weights of at least 0 and unbiased parts")
    error, bias, variance = (
        np.asarray(sum(weight * getattr(parts, field) for weight, parts in chosen))
        for field in ("error", "bias", "variance")
    )
    return Parts(n, error, bias, variance, "unbiased")
