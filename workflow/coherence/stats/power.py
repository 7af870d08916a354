"""Exact power of Fisher's two-sided test for two independent proportions, by enumeration."""

from math import inf
from typing import Final

import numpy as np
from scipy import stats
from scipy.special import gammaln

from coherence.records import Record
from coherence.stats.tables import Counts

TIE = 1 + 1e-7  # tables this close in probability count as equally likely, as in R's fisher.test
MOST: Final = 2000  # trajectories a required number is looked for up to
SAWTOOTH: Final = 12  # smaller sizes looked at beneath the first that is found: exact power rises in teeth


class Design(Record, frozen=True):
    """The smallest number of trajectories that finds a gap with a power, and how it divides."""

    n: int
    risky_n: int
    safe_n: int
    power: float


def rejection(n1: int, n0: int, alpha: float = 0.05) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Return, for each (failures of n1, failures of n0), whether Fisher's two-sided p is at most alpha."""
    rejected = np.zeros((n1 + 1, n0 + 1), dtype=bool)
    ways1, ways0, ways = (_log_ways(n) for n in (n1, n0, n1 + n0))
    for total in range(n1 + n0 + 1):
        low, high = max(0, total - n0), min(n1, total)
        first = np.arange(low, high + 1)
        mass = np.exp(ways1[first] + ways0[total - first] - ways[total])
        ordered = np.sort(mass)
        below = np.concatenate([[0.0], np.cumsum(ordered)])
        p = below[np.searchsorted(ordered, mass * TIE, side="right")]
        rejected[first, total - first] = p <= alpha
    return rejected


def _log_ways(n: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the log of the ways to choose 0 to n of n; scipy's hypergeom takes twenty times as long."""
    factorials = gammaln(np.arange(n + 1) + 1)
    return np.asarray(factorials[n] - factorials - factorials[::-1])


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


def observed_power(counts: Counts, alpha: float = 0.05) -> float | None:
    """Return the power these group sizes had if the rates seen are the true ones; None where one is empty."""
    if counts.not_applicable:
        return None
    p1, p0 = counts.risky_fail / counts.risky_n, counts.safe_fail / counts.safe_n
    return fisher_power(counts.risky_n, p1, counts.safe_n, p0, alpha)


def required_n(share: float, p1: float, p0: float, power: float = 0.8, alpha: float = 0.05) -> Design | None:
    """Return the smallest design with this power if `share` of all is risky, None above `MOST`.

    The risky group is the rounded share of all. Found by halving, then by looking beneath for a size that
    reaches the power by chance of the teeth.
    """

    def design(n: int) -> Design:
        risky = min(n - 1, max(1, round(n * share)))
        return Design(n, risky, n - risky, fisher_power(risky, p1, n - risky, p0, alpha))

    if _without_correction(share, p1, p0, power, alpha) > MOST:
        return None
    low, high = 2, 16
    while (found := design(high)).power < power:
        if high >= MOST:
            return None
        low, high = high, min(MOST, 2 * high)
    while low < high:
        middle = (low + high) // 2
        trial = design(middle)
        low, high, found = (low, middle, trial) if trial.power >= power else (middle + 1, high, found)
    beneath = (design(n) for n in range(max(2, found.n - SAWTOOTH), found.n))
    return next((trial for trial in beneath if trial.power >= power), found)


def _without_correction(share: float, p1: float, p0: float, power: float, alpha: float) -> float:
    """Return the number by the normal approximation, which no exact test can do with."""
    if p1 == p0 or not 0 < share < 1:
        return inf
    z = stats.norm.ppf(1 - alpha / 2) + stats.norm.ppf(power)
    return float(z**2 * (p1 * (1 - p1) / share + p0 * (1 - p0) / (1 - share)) / (p1 - p0) ** 2)
