"""Logistic regression by Firth's penalised likelihood: finite where a covariate separates the outcomes."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, Final
from warnings import catch_warnings, simplefilter

import numpy as np
from numpy.typing import NDArray

from coherence.records import Record
from coherence.stats.intervals import LEVEL, Interval

FIRTH: Final = "Firth logistic regression"
PROFILE: Final = "profile penalised likelihood"
# The library's own 1e-4 is off in the fifth digit; a fit without one covariate may not reach the finest.
PRECISIONS: Final = (1e-10, 1e-8, 1e-6)
ITERATIONS: Final = 500
EVENTS_EACH: Final = 10  # of the rarer outcome for each covariate; below it a model is called underpowered
Floats = NDArray[np.float64]


class Coefficient(Record, frozen=True):
    """A log odds ratio of failure; `separates`: without the penalty it would be infinite."""

    name: str
    value: float
    interval: Interval | None
    p: float | None
    separates: bool = False


class Regression(Record, frozen=True):
    """A fitted model, or the reason there is none; `events` is the count of the rarer outcome.

    `dropped` names covariates that are constant or follow from earlier ones; `underpowered` says so in words.
    """

    n: int
    events: int
    coefficients: tuple[Coefficient, ...] = ()
    intercept: float | None = None
    dropped: tuple[str, ...] = ()
    reason: str | None = None
    underpowered: str | None = None

    def of(self, name: str) -> Coefficient | None:
        """Return the coefficient of a covariate, None where it is not in the model."""
        return next((found for found in self.coefficients if found.name == name), None)


def firth(covariates: Mapping[str, Sequence[float]], failed: Sequence[bool]) -> Regression:
    """Return the regression of failure on the covariates (each one value a row, all known)."""
    n, events = len(failed), min(sum(failed), len(failed) - sum(failed))
    kept = _independent(covariates, n)
    dropped = tuple(name for name in covariates if name not in kept)
    reason = _reason(n, events, len(kept))
    if reason:
        return Regression(n, events, dropped=dropped, reason=reason)
    design = np.column_stack([np.asarray(covariates[name], dtype=float) for name in kept])
    try:
        intercept, coefficients = _fit(design, np.asarray(failed, dtype=int), kept)
    except np.linalg.LinAlgError:
        return Regression(n, events, dropped=dropped, reason="too few trajectories to fit the covariates")
    return Regression(n, events, coefficients, intercept, dropped, None, _underpowered(events, len(kept)))


def _reason(n: int, events: int, covariates: int) -> str | None:
    if events == 0:
        return "all trajectories have one outcome"
    if covariates == 0:
        return "no covariate varies"
    if n <= covariates + 1:
        return f"{n} trajectories for {covariates} covariates"
    return None


def _underpowered(events: int, covariates: int) -> str | None:
    if events >= EVENTS_EACH * covariates:
        return None
    plural = "" if covariates == 1 else "s"
    return f"underpowered: {events} events for {covariates} covariate{plural}"


def _independent(covariates: Mapping[str, Sequence[float]], n: int) -> list[str]:
    kept: list[str] = []
    columns = [np.ones(n)]
    for name, values in covariates.items():
        column = np.asarray(values, dtype=float)
        spread = float(column.std()) if n else 0.0
        scaled = (column - column.mean()) / spread if spread else column
        if spread and np.linalg.matrix_rank(np.column_stack([*columns, scaled])) > len(columns):
            kept.append(name)
            columns.append(scaled)
    return kept


def _fit(
    design: Floats, failed: NDArray[np.int_], names: Sequence[str]
) -> tuple[float, tuple[Coefficient, ...]]:
    from firthmodels import FirthLogisticRegression, detect_separation  # noqa: PLC0415 - takes 2 s
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    tries: list[Any] = []
    with threadpool_limits(1), catch_warnings():  # so small a model only waits for further threads
        simplefilter("ignore")  # what does not converge comes back as NaN, and is unknown here
        for precision in PRECISIONS:
            model = FirthLogisticRegression(
                backend="numpy", gtol=precision, xtol=precision, max_iter=ITERATIONS
            )
            tries.append(model.fit(design, failed).lrt())
            if np.isfinite(model.lrt_pvalues_).all():
                break
        fitted = next((model for model in tries if model.converged_), None)
        if fitted is None:
            raise np.linalg.LinAlgError("no fit converged")
        bounds = fitted.conf_int(alpha=1 - LEVEL, method="pl", max_iter=ITERATIONS, tol=PRECISIONS[1])
        finite = detect_separation(design, failed).is_finite
    ps = np.array([model.lrt_pvalues_ for model in tries])
    coefficients = tuple(
        Coefficient(
            name,
            float(fitted.coef_[place]),
            _interval(bounds[place], len(failed)),
            _first_known(ps[:, place]),
            not bool(finite[place]),
        )
        for place, name in enumerate(names)
    )
    return float(fitted.intercept_), coefficients


def _interval(bounds: Floats, n: int) -> Interval | None:
    low, high = float(bounds[0]), float(bounds[1])
    return Interval(low, high, PROFILE, n) if isfinite(low) and isfinite(high) else None


def _first_known(values: Floats) -> float | None:
    known = values[np.isfinite(values)]
    return float(known[0]) if len(known) else None
