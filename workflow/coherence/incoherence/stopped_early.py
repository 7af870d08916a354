"""What estimates come to where sampling stops as soon as all agree: why stopping is for triage only.

For estimates, fix the number of attempts, equal for all items. Of a run that did stop, use as many of the
first attempts of every item as the rule lets none have less than.
"""

from collections.abc import Sequence
from math import comb, isfinite

from coherence.records import Record


class Expected(Record, frozen=True):
    """Expected error and Kohavi-Wolpert variance of a plan of sampling."""

    error: float
    variance: float
    attempts: float


def stopped_when_agreed(chances: Sequence[float], target: int, first: int, most: int) -> Expected:
    """Return what unbiased estimates come to if one stops after `first` agreeing attempts, else at `most`.

    `chances` are those of the answers; the true values are 1 - chances[target] and (1 - sum of squares) / 2.
    """
    if not 2 <= first < most or not all(isfinite(chance) for chance in chances):
        raise ValueError("stopping needs finite chances and 2 <= first < most")
    unlike = 1 - sum(chance**2 for chance in chances)
    wrong = 1 - chances[target]
    error, variance, stops = wrong, unlike / 2, 0.0
    later = most - first
    for answer, chance in enumerate(chances):
        agree, miss = chance**first, float(answer != target)
        pairs = first * later * (1 - chance) + comb(later, 2) * unlike
        error += agree * (miss - (first * miss + later * wrong) / most)
        variance -= agree * pairs / comb(most, 2) / 2
        stops += agree
    return Expected(error, variance, most - stops * later)
