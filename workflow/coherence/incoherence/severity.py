"""How often and how badly attempts fail, apart from how much they scatter."""

from typing import Final

import numpy as np

from coherence.incoherence.aggregates import around, delta_t, ratio_of_sums, untold
from coherence.incoherence.parts import Bools, Floats, Ints, divided, sums
from coherence.records import Record
from coherence.stats.intervals import Interval

RATE_T: Final = "t"


class Severity(Record, frozen=True):
    """Mean failure rate over items, and the mean loss of a failed attempt in the unit of the loss.

    Items count equally in the rate, and by their failure rate in the severity. `untold` says why one of the
    two has no interval.
    """

    items: int
    attempts: int
    failed: int
    rate: float | None = None
    rate_interval: Interval | None = None
    severity: float | None = None
    severity_interval: Interval | None = None
    untold: str = ""


def severity(item: Ints, failed: Bools, loss: Floats, items: int, cluster: Ints | None = None) -> Severity:
    """Return rate and severity of the attempts of items numbered below `items`.

    `cluster` numbers what each item belongs to, as the task of several groups' items: intervals keep its
    items together. That of the rate is then by delta-t, the same where no cluster has two items.
    """
    n = np.bincount(item, minlength=items).astype(float)
    tried = n > 0
    rate = divided(sums(failed, item, items), n)[tried]
    lost = divided(sums(loss * failed, item, items), n)[tried]
    counts = (len(rate), len(item), int(failed.sum()))
    if not len(rate):
        return Severity(*counts)
    ratio, mean = ratio_of_sums(lost, rate), float(rate.mean())
    if cluster is None:
        said = untold(rate, np.ones(len(rate))) or _untold(lost, rate)
        return Severity(*counts, mean, mean_t(rate), ratio, delta_t(lost, rate), said)
    names, place = np.unique(cluster[tried], return_inverse=True)
    size = np.bincount(place).astype(float)
    rates, losses = (sums(values, place, len(names)) for values in (rate, lost))
    said = untold(rates, size) or _untold(losses, rates)
    return Severity(*counts, mean, delta_t(rates, size), ratio, delta_t(losses, rates), said)


def _untold(losses: Floats, rates: Floats) -> str:
    return untold(losses, rates) if rates.sum() > 0 else ""


def mean_t(values: Floats) -> Interval | None:
    """Return Student's interval of a mean over items, None where they are too few or do not differ."""
    n = len(values)
    if untold(values, np.ones(n)):
        return None
    return around(float(values.mean()), float(values.std(ddof=1)) / n**0.5, n, RATE_T)
