"""Two detectors on the same trajectories: what they say differently decides which is better."""

from math import sqrt
from typing import Final

from scipy.stats import binom, binomtest, norm

from coherence.records import Record
from coherence.stats.intervals import LEVEL, Interval
from coherence.stats.tables import Counts, fisher

MCNEMAR: Final = "McNemar exact, two-sided"
MCNEMAR_MID_P: Final = "McNemar mid-p"
BONETT_PRICE: Final = "Bonett-Price paired"
EXCHANGE: Final = "exact exchange (Fisher on the flags not shared)"


class Paired(Record, frozen=True):
    """Trajectories only the first and only the second is right about, and McNemar's p values."""

    first_only: int
    second_only: int
    exact_p: float
    mid_p: float


def mcnemar(first_only: int, second_only: int) -> Paired:
    """Return McNemar's exact test and its mid-p (Fagerland 2013); both are 1 where the two never differ."""
    n = first_only + second_only
    if n == 0:
        return Paired(0, 0, 1.0, 1.0)
    exact = float(binomtest(first_only, n).pvalue)
    here = float(binom.pmf(first_only, n, 0.5))
    return Paired(first_only, second_only, exact, exact - here / (2 if first_only == second_only else 1))


def bonett_price(first_only: int, second_only: int, n: int) -> Interval | None:
    """Return the interval of the first's share of right answers less the second's, in percentage points.

    Of `n` paired answers so many only the first and only the second has right. Wald after adding one to
    either (Bonett and Price 2012), cut to -100 and 100. None where n is 0.
    """
    if n == 0:
        return None
    first, second = (first_only + 1) / (n + 2), (second_only + 1) / (n + 2)
    middle = first - second
    half = float(norm.ppf(0.5 + LEVEL / 2)) * sqrt((first + second - middle**2) / (n + 2))
    return Interval(100 * max(-1.0, middle - half), 100 * min(1.0, middle + half), BONETT_PRICE, n)


def exchange(first_only: tuple[int, int], second_only: tuple[int, int]) -> float | None:
    """Return the exact p that two sets of flags of one size fail equally often, from those not shared.

    Each is (failed, n); None where one set has no flag of its own, for then the two sets are the same.
    """
    return fisher(Counts(*first_only, *second_only))
