"""Exact power of Fisher's two-sided test for two independent proportions, by enumeration."""

import numpy as np
from scipy import stats

TIE = 1 + 1e-7  # tables this close in probability count as equally likely, as in R's fisher.test


def rejection(n1: int, n0: int, alpha: float = 0.05) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Return, for each (failures of n1, failures of n0), whether Fisher's two-sided p is at most alpha."""
    rejected = np.zeros((n1 + 1, n0 + 1), dtype=bool)
    for total in range(n1 + n0 + 1):
        low, high = max(0, total - n0), min(n1, total)
        first = np.arange(low, high + 1)
        mass = stats.hypergeom.pmf(first, n1 + n0, n1, total)
        ordered = np.sort(mass)
        below = np.concatenate([[0.0], np.cumsum(ordered)])
        p = below[np.searchsorted(ordered, mass * TIE, side="right")]
        rejected[first, total - first] = p <= alpha
    return rejected


def mass(n1: int, p1: float, n0: int, p0: float) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return the probability of each (failures of n1, failures of n0)."""
    return np.outer(stats.binom.pmf(np.arange(n1 + 1), n1, p1), stats.binom.pmf(np.arange(n0 + 1), n0, p0))


def fisher_power(n1: int, p1: float, n0: int, p0: float, alpha: float = 0.05) -> float:
    """Return the probability that Fisher's two-sided test rejects, given the true failure rates."""
    return float(mass(n1, p1, n0, p0)[rejection(n1, n0, alpha)].sum())


def detectable_gap(n1: int, n0: int, base: float, power: float = 0.8, alpha: float = 0.05) -> float | None:
    """Return the smallest gap (share, in steps of 0.01) found with this power, or None if none can be.

    `base` is the failure rate of all n1 + n0 together; the two groups' rates keep it.
    """
    rejected = rejection(n1, n0, alpha)
    for step in range(1, 101):
        p1 = base + step / 100 * n0 / (n1 + n0)
        p0 = base - step / 100 * n1 / (n1 + n0)
        if p0 < 0 or p1 > 1:
            return None
        if mass(n1, p1, n0, p0)[rejected].sum() >= power:
            return step / 100
    return None
