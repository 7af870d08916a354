"""Intervals of a gap by score methods, where the library's version is wrong or missing.

Miettinen-Nurminen and Mee are written by hand: statsmodels 0.15 puts the wrong group's size into the
constrained estimate (statsmodels issue 10269).
"""

from collections.abc import Callable
from math import acos, cos, pi, sqrt
from typing import Final

from scipy.optimize import brentq
from scipy.stats import norm
from statsmodels.stats.proportion import confint_proportions_2indep

from coherence.stats.intervals import LEVEL, Interval
from coherence.stats.tables import Comparison, Counts

MIETTINEN_NURMINEN: Final = "Miettinen-Nurminen score"
MEE: Final = "Mee score"
AGRESTI_CAFFO: Final = "Agresti-Caffo"
MOVER: Final = "MOVER from Newcombe intervals"
CLOSE: Final = 1e-10  # how near to the observed gap a root is looked for


def miettinen_nurminen(counts: Counts) -> Interval | None:
    """Return Miettinen and Nurminen's interval of the gap (points), None where a group is empty."""
    return _score(counts, MIETTINEN_NURMINEN, counts.n / (counts.n - 1) if counts.n > 1 else 1.0)


def mee(counts: Counts) -> Interval | None:
    """Return Mee's interval of the gap (Miettinen-Nurminen without N/(N-1)), None where a group is empty."""
    return _score(counts, MEE, 1.0)


def agresti_caffo(counts: Counts) -> Interval | None:
    """Return the Agresti-Caffo interval of the gap in percentage points, None where a group is empty."""
    if counts.not_applicable:
        return None
    groups = (counts.risky_fail, counts.risky_n, counts.safe_fail, counts.safe_n)
    low, high = confint_proportions_2indep(*groups, method="agresti-caffo", alpha=1 - LEVEL)
    return Interval(100 * max(-1.0, float(low)), 100 * min(1.0, float(high)), AGRESTI_CAFFO, counts.n)


def mover(first: Comparison, second: Comparison) -> Interval | None:
    """Return the interval of the first gap less the second, from the interval of each (Newcombe's)."""
    if first.interval is None or second.interval is None or first.gap is None or second.gap is None:
        return None
    low = sqrt((first.gap - first.interval.low) ** 2 + (second.interval.high - second.gap) ** 2)
    high = sqrt((first.interval.high - first.gap) ** 2 + (second.gap - second.interval.low) ** 2)
    middle = first.gap - second.gap
    return Interval(middle - low, middle + high, MOVER, first.counts.n + second.counts.n)


def constrained(counts: Counts, gap: float) -> tuple[float, float]:
    """Return the most likely failure rates (risky, safe) among those that differ by exactly `gap` (a share).

    The cubic of Farrington and Manning (1990), solved in closed form.
    """
    p1, p0 = counts.risky_fail / counts.risky_n, counts.safe_fail / counts.safe_n
    ratio = counts.safe_n / counts.risky_n
    a = 1 + ratio
    b = -(1 + ratio + p1 + ratio * p0 + gap * (ratio + 2))
    c = gap**2 + gap * (2 * p1 + ratio + 1) + p1 + ratio * p0
    d = -p1 * gap * (1 + gap)
    v = (b / (3 * a)) ** 3 - b * c / (6 * a**2) + d / (2 * a)
    u = sqrt(max(0.0, (b / (3 * a)) ** 2 - c / (3 * a))) * (1 if v > 0 else -1)
    angle = acos(min(1.0, max(-1.0, v / u**3))) if u**3 else pi / 2
    risky = 2 * u * cos((pi + angle) / 3) - b / (3 * a)
    risky = min(1.0, 1 + gap, max(0.0, gap, risky))
    return risky, risky - gap


def _score(counts: Counts, method: str, correction: float) -> Interval | None:
    if counts.not_applicable:
        return None
    observed = counts.risky_fail / counts.risky_n - counts.safe_fail / counts.safe_n
    z = float(norm.ppf(0.5 + LEVEL / 2))

    def beyond(gap: float) -> float:
        q1, q0 = constrained(counts, gap)
        variance = q1 * (1 - q1) / counts.risky_n + q0 * (1 - q0) / counts.safe_n
        return (observed - gap) ** 2 - z**2 * correction * variance

    low, high = _root(beyond, observed, -1.0), _root(beyond, observed, 1.0)
    return Interval(100 * low, 100 * high, method, counts.n)


def _root(beyond: Callable[[float], float], observed: float, end: float) -> float:
    start = observed + (CLOSE if end > observed else -CLOSE)
    if abs(end - observed) <= CLOSE or beyond(end) <= 0:
        return end
    return float(brentq(beyond, start, end, xtol=1e-12)) if beyond(start) < 0 else observed
