"""How often and how badly attempts fail, and how far their losses scatter, each apart from the others."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from coherence.evaluation import wording
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.outcome_kinds import TARGETS, attempts_of
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table, interval_fields
from coherence.evaluation.repeated import Group
from coherence.evaluation.wording import share
from coherence.incoherence.aggregates import DELTA_T, JACKKNIFE_T, Aggregate, aggregate
from coherence.incoherence.contract import LOSSES
from coherence.incoherence.distances import absolute, weighted
from coherence.incoherence.parts import Bools, Floats, Ints, Parts
from coherence.incoherence.severity import RATE_T, Severity, severity
from coherence.records import Record
from coherence.stats.intervals import LEVEL_TEXT

WEIGHTED: Final = "weighted"
NAMES: Final = {
    "tests": "share of failed tests",
    "reward": "1 - reward",
    "number": "distance to the target",
    "lint_failures": "lint failures",
    "assertion_failures": "assertion failures",
    "rubric": "points below the best rubric score",
    WEIGHTED: "weighted sum",
}


class SeverityRow(Record, frozen=True):
    """Rate, severity and scatter of one loss in one group.

    `scatter` decomposes the distance |loss - loss'|: error is the mean loss, variance half the mean distance
    of two attempts. `left_out` counts attempts of known outcome without the loss.
    """

    dataset: str
    group: str
    loss: str
    weights: str
    found: Severity
    scatter: Aggregate
    no_outcome: int = 0
    no_loss: int = 0
    simulated: str = ""


def severities(group: Group, settings: IncoherenceSettings) -> Iterator[SeverityRow]:
    """Yield a row for each loss that the attempts have, then one for their weighted sum if several."""
    losses = {name: loss for name in LOSSES if (loss := _loss(group, name, settings)) is not None}
    for name, loss in losses.items():
        yield _row(group, name, {name: loss}, {name: 1.0})
    losses = {name: loss for name, loss in losses.items() if not np.isnan(loss).all()}
    if len(losses) > 1:
        weights = {name: settings.weights.get(name, 1.0) for name in losses}
        yield _row(group, WEIGHTED, losses, weights)


def _loss(group: Group, name: str, settings: IncoherenceSettings) -> Floats | None:
    """Return the loss of each attempt, NaN where it is unknown; None where the group has none to speak of."""
    if not group.known(name).any():
        return None
    if name == "tests":
        return failed_tests(group)
    values = group.numbers(name)
    if name == "number":
        return np.asarray(np.abs(values - group.numbers(TARGETS["number"])))
    if name == "reward":
        # A reward of 0 or 1 is pass or fail over again.
        partial = ~np.isin(values[~np.isnan(values)], (0.0, 1.0))
        return _below(1, values) if partial.any() else None
    return _below(settings.rubric_best, values) if name == "rubric" else values


def _below(best: float, values: Floats) -> Floats:
    """Return how far below the best values are; unknown of all where one is above it: it is not the best."""
    return np.full(len(values), np.nan) if (values > best).any() else best - values


def failed_tests(group: Group) -> Floats:
    """Return the share of its task's tests that each attempt failed, NaN where it has no result."""
    loss = np.full(len(group.frame), np.nan)
    attempts = attempts_of(group, "tests")
    if attempts.vectors is not None:
        width = attempts.vectors.width[attempts.item]
        passed = np.bincount(
            np.repeat(np.arange(len(width)), width),
            weights=attempts.vectors.values,
            minlength=len(width),
        )
        loss[attempts.rows] = 1 - passed / width
    return loss


def _row(group: Group, name: str, losses: dict[str, Floats], weights: dict[str, float]) -> SeverityRow:
    known_outcome = group.known("passed")
    known_loss = ~np.isnan(np.stack([losses[each] for each in losses])).any(axis=0)
    used = known_outcome & known_loss
    item, items = _items(group, used)
    failed = ~group.frame["passed"].to_numpy(dtype=bool, na_value=True)[used]
    chosen = {each: loss[used] for each, loss in losses.items()}
    total = np.asarray(sum(weights[each] * chosen[each] for each in chosen))
    return SeverityRow(
        dataset=group.dataset,
        group=group.name,
        loss=name,
        weights=", ".join(f"{each} {weights[each]:g}" for each in losses) if name == WEIGHTED else "",
        found=severity(item, failed, total, items),
        scatter=aggregate(_scatter(item, items, chosen, weights)),
        no_outcome=int((~known_outcome).sum()),
        no_loss=int((known_outcome & ~known_loss).sum()),
        simulated=group.simulated,
    )


def _items(group: Group, used: Bools) -> tuple[Ints, int]:
    tasks, item = np.unique(group.task[used], return_inverse=True)
    return item, len(tasks)


def _scatter(item: Ints, items: int, losses: dict[str, Floats], weights: dict[str, float]) -> Parts:
    parts = {name: absolute(item, loss, np.zeros(items)) for name, loss in losses.items()}
    return weighted(parts, weights)


FIELDS: Final[dict[str, str]] = {
    **{name: name for name in ("dataset", "group", "loss", "weights")},
    **{name: f"found.{name}" for name in ("items", "attempts", "failed", "rate")},
    **interval_fields("found.rate_interval", "rate"),
    "severity": "found.severity",
    **interval_fields("found.severity_interval", "severity"),
    "tasks_scattering": "scatter.items",
    "mean_loss": "scatter.error",
    "scatter": "scatter.variance",
    "incoherence": "scatter.incoherence",
    **interval_fields("scatter.jackknife", "jackknife_t"),
    **interval_fields("scatter.delta", "delta_t"),
    "tasks_with_too_few_attempts": "scatter.too_few",
    "n_no_outcome": "no_outcome",
    "n_no_loss": "no_loss",
    "simulated": "simulated",
}

_COLUMNS: Final[dict[str, Callable[[SeverityRow], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Group": lambda row: row.group,
    "Loss": lambda row: NAMES[row.loss] + (f" ({row.weights})" if row.weights else ""),
    "Tasks": lambda row: wording.count(row.found.items),
    "Failed": lambda row: f"{row.found.failed:,}/{row.found.attempts:,}",
    "Failure rate": lambda row: share(row.found.rate, row.found.rate_interval),
    "Severity": lambda row: share(row.found.severity, row.found.severity_interval),
    "Mean loss": lambda row: share(row.scatter.error),
    "Scatter": lambda row: share(row.scatter.variance),
    "Incoherence": lambda row: share(row.scatter.incoherence, row.scatter.jackknife),
    "Left out": lambda row: wording.left_out(
        no_outcome=row.no_outcome, no_loss=row.no_loss, **{"too few attempts (tasks)": row.scatter.too_few}
    ),
}


def table(rows: Sequence[SeverityRow]) -> Table:
    """Return `severity`."""
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="severity",
        title="Rate, severity and scatter of failures",
        caption=(
            f"Failure rate: mean over tasks ({LEVEL_TEXT} {RATE_T} interval over tasks, as all here). "
            "Severity: mean loss of a failed attempt, tasks weighted by their failure rate "
            f"({LEVEL_TEXT} {DELTA_T} interval). Mean loss: of all attempts, over tasks with at least two; "
            "scatter: half the mean distance |loss - loss'| of two attempts at a task, unbiased; "
            f"incoherence: sum of scatter / sum of losses ({LEVEL_TEXT} {JACKKNIFE_T} interval). A test "
            "without a result counts as failed. Where a reward is above 1 or a rubric score above "
            "`rubric_best`, the group has no such loss. Weighted: losses times their weights, each distance "
            "apart."
        ),
    )
