"""A gap where rows are not independent: whole clusters (tasks) are resampled, not rows."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

import numpy as np

from coherence.records import Record
from coherence.stats.intervals import Bootstrap, Interval
from coherence.stats.proportions import percentiles

METHOD: Final = "percentile bootstrap of clusters"
MOST_UNDEFINED: Final = 0.05  # of the resamples; the others would stand for a population of their own
ONE_OUTCOME: Final = "one side has one outcome only"
TOO_FEW: Final = "fewer than two clusters"
EMPTY: Final = "a side is empty"


class ClusterRow(Record, frozen=True):
    """One row of a comparison and the cluster it is in."""

    cluster: str
    risky: bool
    failed: bool


class ClusteredGap(Record, frozen=True):
    """The interval of the gap (points); `undefined` counts draws in which one group was empty.

    `reason` says why there is none: a side whose outcomes are all the same has no spread to resample, so that
    the interval would be too short by all of its uncertainty.
    """

    clusters: int
    largest: int
    undefined: int = 0
    interval: Interval | None = None
    reason: str | None = None


def clustered_gap(rows: Iterable[ClusterRow], settings: Bootstrap) -> ClusteredGap:
    """Return the gap's interval with clusters resampled; the order of the rows changes nothing."""
    cells: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for row in rows:
        place = 0 if row.risky else 2
        cells[row.cluster][place] += row.failed
        cells[row.cluster][place + 1] += 1
    table = np.array([cells[name] for name in sorted(cells)]).reshape(-1, 4)
    n, largest = len(table), int((table[:, 1] + table[:, 3]).max(initial=0))
    reason = _untold(table)
    if reason is not None:
        return ClusteredGap(n, largest, reason=reason)
    drawn = np.random.default_rng(settings.seed).integers(n, size=(settings.resamples, n))
    times = np.array([np.bincount(draw, minlength=n) for draw in drawn])
    risky_fail, risky_n, safe_fail, safe_n = (times @ table).T
    defined = (risky_n > 0) & (safe_n > 0)
    undefined = int((~defined).sum())
    if undefined > MOST_UNDEFINED * settings.resamples:
        reason = f"{undefined:,} of {settings.resamples:,} resamples lack a side"
        return ClusteredGap(n, largest, undefined, reason=reason)
    gaps = 100 * (risky_fail[defined] / risky_n[defined] - safe_fail[defined] / safe_n[defined])
    interval = Interval(*percentiles(gaps), METHOD, n, resamples=settings.resamples, seed=settings.seed)
    return ClusteredGap(n, largest, undefined, interval)


def _untold(table: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> str | None:
    """Return why no resample can tell how sure the gap is, None where it can."""
    if len(table) < 2:
        return TOO_FEW
    risky_fail, risky_n, safe_fail, safe_n = table.sum(axis=0)
    if not risky_n or not safe_n:
        return EMPTY
    return ONE_OUTCOME if risky_fail in (0, risky_n) or safe_fail in (0, safe_n) else None
