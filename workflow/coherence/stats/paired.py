"""Two detectors on the same trajectories: what they say differently decides which is better."""

from typing import Final

from scipy.stats import binom, binomtest

from coherence.records import Record
from coherence.stats.tables import Counts, fisher

MCNEMAR: Final = "McNemar exact, two-sided"
MCNEMAR_MID_P: Final = "McNemar mid-p"
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


def exchange(first_only: tuple[int, int], second_only: tuple[int, int]) -> float | None:
    """Return the exact p that two sets of flags of one size fail equally often, from those not shared.

    Each is (failed, n); None where one set has no flag of its own, for then the two sets are the same.
    """
    return fisher(Counts(*first_only, *second_only))
