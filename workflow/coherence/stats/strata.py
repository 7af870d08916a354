"""One comparison in several strata: the gap adjusted for what divides them, and whether they agree.

The risk difference with Sato's variance, the exact conditional test and Zelen's test are written by hand, for
no library has them; the rest is statsmodels'.
"""

from collections.abc import Sequence
from functools import reduce
from itertools import product
from math import exp, inf, log, sqrt
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import hypergeom, norm
from statsmodels.stats.contingency_tables import StratifiedTable

from coherence.records import Record
from coherence.stats.intervals import LEVEL, Interval
from coherence.stats.power import TIE
from coherence.stats.tables import Counts

SATO: Final = "Mantel-Haenszel, Sato variance"
CMH: Final = "Cochran-Mantel-Haenszel without continuity correction"
EXACT_CMH: Final = "exact conditional, two-sided"
ZELEN: Final = "Zelen exact homogeneity of odds ratios"
MOST_TABLES: Final = 2_000_000  # tables that Zelen's test goes through before it gives up
Floats = NDArray[np.float64]
Strata = Sequence[Counts]


class AdjustedGap(Record, frozen=True):
    """The Mantel-Haenszel gap in percentage points over the strata in which both groups are; `se` as well."""

    gap: float
    se: float
    interval: Interval
    strata: int
    left_out: int


class Cmh(Record, frozen=True):
    """The Cochran-Mantel-Haenszel test and the Mantel-Haenszel odds ratio (infinite is possible)."""

    chi2: float
    p: float
    odds_ratio: float


class ExactCmh(Record, frozen=True):
    """The exact conditional test: both sides, each side, and the conditional odds ratio."""

    two_sided: float
    greater: float
    less: float
    odds_ratio: float


class Homogeneity(Record, frozen=True):
    """Breslow-Day's test that the odds ratios of the strata are one, and with Tarone's correction."""

    breslow_day: float
    tarone: float


def comparable(strata: Strata) -> list[Counts]:
    """Return the strata in which there are both groups."""
    return [stratum for stratum in strata if stratum.not_applicable is None]


def informative(strata: Strata) -> list[Counts]:
    """Return the strata in which there are both groups and both outcomes."""
    return [s for s in comparable(strata) if 0 < s.risky_fail + s.safe_fail < s.n]


def mantel_haenszel(strata: Strata) -> AdjustedGap | None:
    """Return the adjusted gap with Sato's variance, None where no stratum has both groups."""
    used = comparable(strata)
    if not used:
        return None
    a, n1, b, n0 = _columns(used)
    n = n1 + n0
    weight = float((n1 * n0 / n).sum())
    gap = float(((a * n0 - b * n1) / n).sum()) / weight
    p = (n1**2 * b - n0**2 * a + n1 * n0 * (n0 - n1) / 2) / n**2
    q = (a * (n0 - b) + b * (n1 - a)) / (2 * n)
    se = sqrt(max(0.0, gap * float(p.sum()) + float(q.sum()))) / weight
    half = float(norm.ppf(0.5 + LEVEL / 2)) * se
    bounds = 100 * max(-1.0, gap - half), 100 * min(1.0, gap + half)
    interval = Interval(*bounds, SATO, int(n.sum()))
    return AdjustedGap(100 * gap, 100 * se, interval, len(used), len(strata) - len(used))


def standardised(strata: Strata, to: Literal["risky", "all"]) -> float | None:
    """Return the mean gap of the strata (points), weighted by their risky trajectories or by all of them."""
    used = comparable(strata)
    if not used:
        return None
    a, n1, b, n0 = _columns(used)
    weights = n1 if to == "risky" else n1 + n0
    return 100 * float((weights * (a / n1 - b / n0)).sum() / weights.sum())


def cmh(strata: Strata) -> Cmh | None:
    """Return the Cochran-Mantel-Haenszel test, None where no stratum has both groups and both outcomes."""
    used = informative(strata)
    if not used:
        return None
    a, n1, b, n0 = _columns(used)
    test = StratifiedTable(_tables(used)).test_null_odds(correction=False)
    above, below = float((a * (n0 - b) / (n1 + n0)).sum()), float((b * (n1 - a) / (n1 + n0)).sum())
    return Cmh(float(test.statistic), float(test.pvalue), above / below if below else inf)


def breslow_day(strata: Strata) -> Homogeneity | None:
    """Return both tests of equal odds ratios, None below two strata or without a finite common ratio."""
    used, pooled = informative(strata), cmh(strata)
    if pooled is None or len(used) < 2 or pooled.odds_ratio in (0, inf):
        return None
    table = StratifiedTable(_tables(used))
    plain, adjusted = table.test_equal_odds(), table.test_equal_odds(adjust=True)
    return Homogeneity(float(plain.pvalue), float(adjusted.pvalue))


def exact_cmh(strata: Strata) -> ExactCmh | None:
    """Return the exact conditional test, None where no stratum has both groups and both outcomes."""
    used = informative(strata)
    if not used:
        return None
    masses = [_mass(stratum) for stratum in used]
    mass: Floats = reduce(np.convolve, masses)
    lowest = sum(_lowest(stratum) for stratum in used)
    here = sum(stratum.risky_fail for stratum in used) - lowest
    return ExactCmh(
        two_sided=min(1.0, float(mass[mass <= mass[here] * TIE].sum())),
        greater=min(1.0, float(mass[here:].sum())),
        less=min(1.0, float(mass[: here + 1].sum())),
        odds_ratio=_conditional(mass, here),
    )


def zelen(strata: Strata) -> float | None:
    """Return Zelen's exact p of equal odds ratios, None where below two strata or above `MOST_TABLES` tables.

    All tables with the margins of each stratum and the sum of the risky failures of all; those no more likely
    than the observed ones.
    """
    used = informative(strata)
    masses = [_mass(stratum) for stratum in used]
    if len(used) < 2 or np.prod([float(len(mass)) for mass in masses[:-1]]) > MOST_TABLES:
        return None
    places = [stratum.risky_fail - _lowest(stratum) for stratum in used]
    chances = _with_sum(masses, sum(places))
    observed = float(np.prod([mass[place] for mass, place in zip(masses, places, strict=True)]))
    return min(1.0, float(chances[chances <= observed * TIE].sum() / chances.sum()))


def _with_sum(masses: Sequence[Floats], total: int) -> Floats:
    *others, last = masses
    found = []
    for places in product(*(range(len(mass)) for mass in others)):
        left = total - sum(places)
        if 0 <= left < len(last):
            chance = last[left]
            for mass, place in zip(others, places, strict=True):
                chance = chance * mass[place]
            found.append(chance)
    return np.array(found)


def _conditional(mass: Floats, here: int) -> float:
    if here in (0, len(mass) - 1):
        return inf if here else 0.0
    steps = np.arange(len(mass))
    logs = np.log(np.maximum(mass, np.finfo(float).tiny))

    def excess(ratio: float) -> float:
        weights = logs + steps * ratio
        weights = np.exp(weights - weights.max())
        return float((weights * steps).sum() / weights.sum()) - here

    edge = 10.0
    while excess(-edge) > 0 or excess(edge) < 0:
        edge *= 2
    return exp(brentq(excess, -edge, edge, xtol=1e-12)) if edge < log(np.finfo(float).max) else inf


def _lowest(stratum: Counts) -> int:
    return max(0, stratum.risky_fail + stratum.safe_fail - stratum.safe_n)


def _mass(stratum: Counts) -> Floats:
    failed = stratum.risky_fail + stratum.safe_fail
    places = np.arange(_lowest(stratum), min(stratum.risky_n, failed) + 1)
    return np.asarray(hypergeom.pmf(places, stratum.n, stratum.risky_n, failed))


def _columns(strata: Strata) -> tuple[Floats, Floats, Floats, Floats]:
    rows = [(s.risky_fail, s.risky_n, s.safe_fail, s.safe_n) for s in strata]
    a, n1, b, n0 = np.array(rows, dtype=float).T
    return a, n1, b, n0


def _tables(strata: Strata) -> Floats:
    a, n1, b, n0 = _columns(strata)
    return np.array([[a, n1 - a], [b, n0 - b]])
