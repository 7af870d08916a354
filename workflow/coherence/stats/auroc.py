"""How well a score ranks failures before passes: the area under the ROC curve, and two areas compared.

DeLong's method is written by hand: neither scipy nor statsmodels nor scikit-learn has it.
"""

from collections.abc import Sequence
from math import sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, permutation_test, rankdata

from coherence.records import Record
from coherence.stats.intervals import LEVEL, Bootstrap, Interval

DELONG: Final = "DeLong"
SIGN_FLIP: Final = "paired permutation of the ranks"
Floats = NDArray[np.float64]


class Auroc(Record, frozen=True):
    """The area, ties counted half; `lowest` and `highest` if every tie fell the one way or the other.

    `interval` is None where the estimated variance is 0.
    """

    value: float
    lowest: float
    highest: float
    failed: int
    passed: int
    variance: float
    interval: Interval | None = None


class AurocDifference(Record, frozen=True):
    """Two areas on the same trajectories; `z` and `p` are None where the difference has no variance."""

    first: Auroc
    second: Auroc
    difference: float
    covariance: float
    z: float | None = None
    p: float | None = None


def ranks(scores: Sequence[Any]) -> Floats:
    """Return the mid-ranks of scores of any kind that can be ordered."""
    places = {score: place for place, score in enumerate(sorted(set(scores)))}
    return np.asarray(rankdata([places[score] for score in scores]), dtype=float)


def auroc(scores: Sequence[Any], failed: Sequence[bool]) -> Auroc | None:
    """Return the area with DeLong's interval, None where all failed or none did."""
    if not 0 < sum(failed) < len(failed):
        return None
    return _auroc(*_placements(ranks(scores), np.array(failed, dtype=bool)))


def delong(first: Sequence[Any], second: Sequence[Any], failed: Sequence[bool]) -> AurocDifference | None:
    """Return both areas and DeLong's test of their difference, None where all failed or none did."""
    if not 0 < sum(failed) < len(failed):
        return None
    outcome = np.array(failed, dtype=bool)
    here, there = (_placements(ranks(scores), outcome) for scores in (first, second))
    one, two = _auroc(*here), _auroc(*there)
    covariance = _covariance(here[0], there[0]) + _covariance(here[1], there[1])
    difference = one.value - two.value
    spread = one.variance + two.variance - 2 * covariance
    if spread <= 1e-15:
        return AurocDifference(one, two, difference, covariance)
    z = difference / sqrt(spread)
    return AurocDifference(one, two, difference, covariance, z, float(2 * norm.sf(abs(z))))


def permutation_p(
    first: Sequence[Any], second: Sequence[Any], failed: Sequence[bool], settings: Bootstrap
) -> float | None:
    """Return the p of the difference of two areas, each trajectory's two ranks swapped at random."""
    if not 0 < sum(failed) < len(failed):
        return None
    outcome = np.array(failed, dtype=bool)

    def difference(one: Floats, two: Floats, axis: int) -> Floats:
        del axis  # always the last
        return _area(one, outcome) - _area(two, outcome)

    result = permutation_test(
        (ranks(first), ranks(second)),
        difference,
        permutation_type="samples",
        vectorized=True,
        n_resamples=settings.resamples,
        batch=100,
        rng=np.random.default_rng(settings.seed),
        axis=-1,
    )
    return float(result.pvalue)


def _area(scores: Floats, failed: NDArray[np.bool_]) -> Floats:
    gaps = scores[..., failed][..., :, None] - scores[..., ~failed][..., None, :]
    return np.asarray(((np.sign(gaps) + 1) / 2).mean(axis=(-2, -1)))


def _placements(scores: Floats, failed: NDArray[np.bool_]) -> tuple[Floats, Floats, float]:
    """Return how far each failure stands above the passes and each pass below the failures, and ties.

    By mid-ranks (Sun and Xu 2014), for the matrix of all pairs does not fit into memory for large datasets.
    """
    above, below = scores[failed], scores[~failed]
    everyone = rankdata(scores)
    failures = (everyone[failed] - rankdata(above)) / len(below)
    passes = 1 - (everyone[~failed] - rankdata(below)) / len(above)
    values, places = np.unique(scores, return_inverse=True)
    counts = [np.bincount(places[side], minlength=len(values)) for side in (failed, ~failed)]
    return failures, passes, float((counts[0] * counts[1]).sum() / (len(above) * len(below)))


def _auroc(failures: Floats, passes: Floats, tied: float) -> Auroc:
    value, n = float(failures.mean()), len(failures) + len(passes)
    variance = _covariance(failures, failures) + _covariance(passes, passes)
    interval = None
    if variance > 0:
        half = float(norm.ppf(0.5 + LEVEL / 2)) * sqrt(variance)
        interval = Interval(max(0.0, value - half), min(1.0, value + half), DELONG, n)
    return Auroc(value, value - tied / 2, value + tied / 2, len(failures), len(passes), variance, interval)


def _covariance(first: Floats, second: Floats) -> float:
    if len(first) < 2:
        return 0.0
    return float(np.cov(first, second)[0, 1]) / len(first)
