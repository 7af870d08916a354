"""Does a higher confidence go with more failures? A share for each level, and a test of the trend."""

from collections.abc import Sequence
from math import isnan
from typing import Final

import numpy as np
from scipy.stats import permutation_test
from statsmodels.stats.contingency_tables import Table

from coherence.records import Record
from coherence.stats.intervals import Bootstrap
from coherence.stats.proportions import Proportion, clopper_pearson, proportion

TREND: Final = "linear-by-linear"
EXACT_TREND: Final = "permutation of the outcomes"
MOST_ARRANGEMENTS: Final = 9_999  # up to so many every arrangement is tried, above it as many are drawn


class Level(Record, frozen=True):
    """Failures among what was given one level, with the exact interval."""

    level: int
    failed: Proportion


class Calibration(Record, frozen=True):
    """The levels in use, rising; the p values are None where there is one level or one outcome."""

    levels: tuple[Level, ...]
    trend_p: float | None = None
    permutation_p: float | None = None

    @property
    def n(self) -> int:
        """Trajectories with a level."""
        return sum(level.failed.n for level in self.levels)


def calibration(levels: Sequence[int], failed: Sequence[bool], seed: int = 0) -> Calibration:
    """Return the failures by level, and the trend by an asymptotic and a permutation test (two-sided)."""
    pairs = list(zip(levels, failed, strict=True))
    shares = tuple(
        _level(level, [bad for other, bad in pairs if other == level]) for level in sorted(set(levels))
    )
    if len(shares) < 2 or not 0 < sum(failed) < len(failed):
        return Calibration(shares)
    return Calibration(shares, _asymptotic(shares), _permuted(pairs, Bootstrap(MOST_ARRANGEMENTS, seed)))


def _level(level: int, failed: Sequence[bool]) -> Level:
    return Level(level, proportion(sum(failed), len(failed), clopper_pearson))


def _asymptotic(levels: Sequence[Level]) -> float | None:
    cells = np.array([[level.failed.count, level.failed.n - level.failed.count] for level in levels])
    table = Table(cells, shift_zeros=False)
    scores = np.array([float(level.level) for level in levels])
    p = float(table.test_ordinal_association(row_scores=scores).pvalue)
    return None if isnan(p) else p


def _permuted(pairs: Sequence[tuple[int, bool]], settings: Bootstrap) -> float:
    ordered = sorted(pairs)
    bad = np.array([float(level) for level, failed in ordered if failed])
    good = np.array([float(level) for level, failed in ordered if not failed])
    everyone = np.array([float(level) for level, _ in ordered])
    middle = float(everyone.mean())
    if min(len(bad), len(good)) == 1:  # scipy wants two in each group
        alone = bad if len(bad) == 1 else good
        return float((np.abs(everyone - middle) >= abs(alone[0] - middle) - 1e-12).mean())
    result = permutation_test(
        (bad, good),
        lambda first, _, axis: np.abs(first.mean(axis=axis) - middle),
        permutation_type="independent",
        alternative="greater",
        vectorized=True,
        n_resamples=settings.resamples,
        batch=100,
        rng=np.random.default_rng(settings.seed),
    )
    return float(result.pvalue)
