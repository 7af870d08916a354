"""Time to the first flag, where a trajectory that ends unflagged is censored at its end."""

from collections.abc import Sequence
from math import isnan
from typing import Any, Final
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy.stats import CensoredData, ecdf, logrank

from coherence.records import Record
from coherence.stats.intervals import LEVEL, Interval
from coherence.stats.tables import Counts

KAPLAN_MEIER: Final = "Kaplan-Meier, log-log interval"
LOG_RANK: Final = "log-rank, two-sided"


class Waiting(Record, frozen=True):
    """How long one trajectory went without a flag: until its first one, or `flagged` False, until its end."""

    time: float
    flagged: bool


class CurvePoint(Record, frozen=True):
    """The share flagged by a time, from the trajectories still at risk then; None where not estimable."""

    time: float
    share: float
    low: float | None
    high: float | None


class Curve(Record, frozen=True):
    """The Kaplan-Meier estimate of the share flagged by each time something happened."""

    n: int
    flagged: int
    points: tuple[CurvePoint, ...]
    median: float | None = None

    def at(self, time: float) -> CurvePoint:
        """Return the estimate that holds at a time."""
        before = [point for point in self.points if point.time <= time]
        return before[-1] if before else CurvePoint(0.0, 0.0, 0.0, 0.0)

    def interval_at(self, time: float) -> Interval | None:
        """Return the interval that holds at a time."""
        point = self.at(time)
        if point.low is None or point.high is None:
            return None
        return Interval(point.low, point.high, KAPLAN_MEIER, self.n)


class Run(Record, frozen=True):
    """One trajectory for a landmark: its length, when it was first flagged (None: never), and its outcome."""

    length: float
    first_flag: float | None
    failed: bool


def kaplan_meier(waits: Sequence[Waiting]) -> Curve | None:
    """Return the share flagged over time, None where there is nothing."""
    if not waits:
        return None
    alive_by: Any = ecdf(_censored(waits)).sf  # its interval holds curves, which the stubs do not know
    n, flagged = len(waits), sum(wait.flagged for wait in waits)
    times, kept = alive_by.quantiles.tolist(), alive_by.probabilities.tolist()
    with np.errstate(all="ignore"), catch_warnings():
        simplefilter("ignore")  # where it is undefined the bounds are NaN, and unknown here
        bounds = alive_by.confidence_interval(LEVEL, method="log-log") if flagged else None
    lows = [None] * len(times) if bounds is None else [1 - p for p in bounds.high.probabilities.tolist()]
    highs = [None] * len(times) if bounds is None else [1 - p for p in bounds.low.probabilities.tolist()]
    points = tuple(
        CurvePoint(time, 1 - alive, _known(low), _known(high))
        for time, alive, low, high in zip(times, kept, lows, highs, strict=True)
    )
    return Curve(n, flagged, points, next((point.time for point in points if point.share >= 0.5), None))


def log_rank(first: Sequence[Waiting], second: Sequence[Waiting]) -> float | None:
    """Return the log-rank p that both are flagged at the same pace, None where one is empty or nothing is."""
    if not first or not second or not any(wait.flagged for wait in (*first, *second)):
        return None
    with np.errstate(all="ignore"):
        p = float(logrank(_censored(first), _censored(second)).pvalue)
    return _known(p)


def landmark(runs: Sequence[Run], time: float) -> Counts:
    """Return the outcomes of the runs that go on after a time: risky are those flagged by then."""
    going = [run for run in runs if run.length > time]
    risky = [run.failed for run in going if run.first_flag is not None and run.first_flag <= time]
    return Counts(
        sum(risky), len(risky), sum(run.failed for run in going) - sum(risky), len(going) - len(risky)
    )


def _censored(waits: Sequence[Waiting]) -> CensoredData:
    flagged = [wait.time for wait in waits if wait.flagged]
    return CensoredData(uncensored=flagged, right=[wait.time for wait in waits if not wait.flagged])


def _known(value: float | None) -> float | None:
    return None if value is None or isnan(value) else value
