"""Decompositions by the most frequent answer: modal margin, Domingos, and the seed rule for reproduction."""

import numpy as np

from coherence.incoherence.parts import Bools, Estimator, Floats, Ints, Parts, divided, sums, with_enough
from coherence.incoherence.tallies import Tally
from coherence.records import Record


class Domingos(Record, frozen=True, eq=False):
    """error = bias + multiplier * variance in each item (Domingos 2000); it has no aggregate over items.

    Ties between modes are averaged over, so that order decides nothing. `multiplier` is NaN where no attempt
    differs from the mode.
    """

    n: Ints
    error: Floats
    bias: Floats
    variance: Floats
    multiplier: Floats


def modal_margin(counts: Tally, estimator: Estimator = "jackknife") -> Parts:
    """Return bias pmax - p(target) and variance 1 - pmax: the limit of KL on one answer an attempt.

    No unbiased estimator exists; the jackknife over attempts is 1 - pmax for one mode and 1 for tied modes,
    which overshoots: the maximum is not smooth.
    """
    n = counts.n.astype(float)
    share = divided(counts.top.astype(float), n)
    if estimator == "plug-in":
        return with_enough(Parts(counts.n, counts.error, counts.error - (1 - share), 1 - share, "plug-in"))
    single = sums(counts.modal, counts.item, counts.items) == 1
    variance = 1 - single * share
    return with_enough(Parts(counts.n, counts.error, counts.error - variance, variance, "jackknife"))


def domingos(counts: Tally) -> Domingos:
    """Return Domingos' components of the 0/1 error, for any number of classes."""
    n = counts.n.astype(float)
    modes = sums(counts.modal, counts.item, counts.items)
    right = divided(sums(counts.modal & counts.right, counts.item, counts.items), modes)
    variance = 1 - divided(counts.top.astype(float), n)
    correct = divided(divided(counts.correct.astype(float), n), variance)
    return Domingos(
        counts.n,
        counts.error,
        bias=1 - right,
        variance=variance,
        multiplier=np.where(variance > 0, right - (1 - right) * correct, np.nan),
    )


def seed_modal(counts: Tally) -> Parts:
    """Return the rule of the first write-up, for reproduction only: bias 1[mode != target], variance clipped.

    Its flaws: no incoherence, however scattered, wherever the mode is wrong; a cliff where the mode changes;
    the answer given first wins a tie, so order decides; parts do not add up and neither do sums of them.
    """
    bias = np.where(counts.n > 0, ~_first_mode_right(counts), np.nan).astype(float)
    variance = np.maximum(0, counts.error - bias)
    return with_enough(Parts(counts.n, counts.error, bias, variance, "plug-in", adds_up=False))


def seed_incoherence(parts: Parts) -> Floats:
    """Return the first write-up's item value: 0 without error, which mixes perfect with stubborn."""
    return np.where(parts.error == 0, 0.0, parts.incoherence)


def _first_mode_right(counts: Tally) -> Bools:
    modal = np.flatnonzero(counts.modal)
    order = modal[np.lexsort((counts.first[modal], counts.item[modal]))]
    item, places = np.unique(counts.item[order], return_index=True)
    right = np.zeros(counts.items, np.bool_)
    right[item] = counts.right[order[places]]
    return right
