"""Whether a value of the items rises with another."""

from typing import Final

import numpy as np
from scipy.stats import kendalltau

from coherence.incoherence.parts import Floats
from coherence.records import Record

KENDALL: Final = "Kendall's tau-b, two-sided"


class Trend(Record, frozen=True):
    """Rank correlation over `n` items; None where one side is constant or there are fewer than three."""

    n: int
    tau: float | None = None
    p: float | None = None


def trend(by: Floats, of: Floats) -> Trend:
    """Return Kendall's tau-b of the items in which both values are known."""
    known = ~(np.isnan(by) | np.isnan(of))
    n = int(known.sum())
    if n < 3 or min(len(np.unique(side[known])) for side in (by, of)) < 2:
        return Trend(n)
    found = kendalltau(by[known], of[known])
    return Trend(n, float(found.statistic), float(found.pvalue))
