"""Failure rates of a sample drawn with unequal chances, brought back to the cohort by its weights."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from coherence.records import Record
from coherence.stats.intervals import Bootstrap, Interval
from coherence.stats.proportions import percentiles

METHOD: Final = "weighted percentile bootstrap"
Floats = NDArray[np.float64]


class WeightedRate(Record, frozen=True):
    """The weighted share of failures among `n` sampled rows."""

    n: int
    rate: float
    interval: Interval


class WeightedComparison(Record, frozen=True):
    """Weighted rates of both groups; `gap` and its interval are in percentage points."""

    risky: WeightedRate
    safe: WeightedRate
    gap: float
    interval: Interval


class Sample(Record, frozen=True):
    """The rows of a group: whether each failed, and its sampling weight (finite, above 0)."""

    failed: Sequence[bool]
    weights: Sequence[float]


def compare_weighted(risky: Sample, safe: Sample, settings: Bootstrap) -> WeightedComparison | None:
    """Return both weighted rates and their gap, rows resampled within each group; None where one is empty."""
    if not risky.weights or not safe.weights:
        return None
    streams = np.random.default_rng(settings.seed).spawn(2)
    (risky_rate, risky_draws), (safe_rate, safe_draws) = (
        _resampled(group, settings.resamples, stream)
        for group, stream in zip((risky, safe), streams, strict=True)
    )
    n = len(risky.weights) + len(safe.weights)
    return WeightedComparison(
        WeightedRate(len(risky.weights), risky_rate, _interval(risky_draws, len(risky.weights), settings)),
        WeightedRate(len(safe.weights), safe_rate, _interval(safe_draws, len(safe.weights), settings)),
        100 * (risky_rate - safe_rate),
        _interval(100 * (risky_draws - safe_draws), n, settings),
    )


def _resampled(group: Sample, resamples: int, stream: np.random.Generator) -> tuple[float, Floats]:
    # Sorted, so that the order of the rows does not decide which of them are drawn.
    weights, failed = np.array(sorted(zip(group.weights, group.failed, strict=True)), dtype=float).T
    lost = weights * failed
    n = len(weights)
    draws = np.empty(resamples)
    for number in range(resamples):
        drawn = stream.integers(n, size=n)
        draws[number] = lost[drawn].sum() / weights[drawn].sum()
    return float(lost.sum() / weights.sum()), draws


def _interval(draws: Floats, n: int, settings: Bootstrap) -> Interval:
    low, high = percentiles(draws)
    return Interval(low, high, METHOD, n, resamples=settings.resamples, seed=settings.seed)
