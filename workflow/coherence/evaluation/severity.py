"""How often and how badly attempts fail, and how far their losses scatter, each apart from the others."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
from msgspec.structs import replace

from coherence.evaluation import wording
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.losses import Measured, measured_losses, used_attempts
from coherence.evaluation.main_parts import ALL_GROUPS
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table, interval_fields
from coherence.evaluation.repeated import Group
from coherence.evaluation.wording import share
from coherence.incoherence.aggregates import (
    DELTA_T,
    JACKKNIFE_T,
    NO_INTERVAL,
    Aggregate,
    aggregate,
    intervals,
)
from coherence.incoherence.contract import LOSSES
from coherence.incoherence.distances import absolute, weighted
from coherence.incoherence.parts import Floats, Ints, Parts, sums
from coherence.incoherence.severity import RATE_T, Severity, severity
from coherence.records import Record
from coherence.stats.intervals import LEVEL_TEXT

WEIGHTED: Final = "weighted"
NO_ATTEMPT: Final = "no attempt has all of these losses"
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
    of two attempts. `no_loss` counts attempts of known outcome without the loss, or without one of those
    weighed together. `note` says why a weighted sum has no value, or what it leaves out.
    """

    dataset: str
    group: str
    loss: str
    weights: str
    found: Severity
    scatter: Aggregate
    no_outcome: int = 0
    no_loss: int = 0
    note: str = ""
    simulated: str = ""


def severities(groups: Sequence[Group], settings: IncoherenceSettings) -> Iterator[SeverityRow]:
    """Yield the rows of the groups of one dataset, then those of all groups together.

    A row for each loss that a group's attempts have, then one for their weighted sum if several. All groups
    together: a row for each loss that two of them have, then the weighted sum of those that every group with
    any has, or why there is none.
    """
    measured = measured_losses(groups, settings)
    for each in measured:
        for name in each.losses:
            yield _row(each.group.name, [each], name, {name: 1.0})
        if len(each.known) > 1:
            yield _row(each.group.name, [each], WEIGHTED, _weights(each.known, settings))
    some = [each for each in measured if each.known]
    if len(some) > 1:
        yield from _together(measured, some, settings)


def _together(
    measured: Sequence[Measured], some: Sequence[Measured], settings: IncoherenceSettings
) -> Iterator[SeverityRow]:
    there = Counter(name for each in some for name in each.known)
    names = [name for name in LOSSES if name in there]
    for name in names:
        if there[name] > 1:
            yield _row(ALL_GROUPS, measured, name, {name: 1.0})
    common = [name for name in names if there[name] == len(some)]
    if len(common) > 1:
        others = ", ".join(name for name in names if name not in common)
        row = _row(ALL_GROUPS, measured, WEIGHTED, _weights(common, settings))
        yield replace(
            row, note="; ".join(filter(None, (row.note, others and f"not in all groups: {others}")))
        )
    elif len(names) > 1:
        shared = f"{common[0]} only" if common else "none"
        first = measured[0].group
        yield SeverityRow(
            dataset=first.dataset,
            group=ALL_GROUPS,
            loss=WEIGHTED,
            weights="",
            found=Severity(0, 0, 0),
            scatter=Aggregate(0),
            note=f"of {', '.join(names)} the groups share {shared}: nothing to weigh together",
            simulated=first.simulated,
        )


def _weights(names: Sequence[str], settings: IncoherenceSettings) -> dict[str, float]:
    return {name: settings.weights.get(name, 1.0) for name in names}


def _row(group: str, measured: Sequence[Measured], name: str, weights: dict[str, float]) -> SeverityRow:
    """Return the row of some losses, of one group or of all together with a task's groups kept together."""
    parts = [used_attempts(each, weights) for each in measured]
    tasks = np.concatenate([each.tasks for each in parts])
    before = np.cumsum([0, *(len(each.tasks) for each in parts)])
    item = np.concatenate([each.item + start for each, start in zip(parts, before[:-1], strict=True)])
    failed = np.concatenate([each.failed for each in parts])
    losses = {each: np.concatenate([part.losses[each] for part in parts]) for each in weights}
    total = np.asarray(sum(weights[each] * losses[each] for each in losses))
    first = measured[0].group
    return SeverityRow(
        dataset=first.dataset,
        group=group,
        loss=name,
        weights=", ".join(f"{each} {weight:g}" for each, weight in weights.items())
        if name == WEIGHTED
        else "",
        found=severity(item, failed, total, len(tasks), tasks if len(measured) > 1 else None),
        scatter=_clustered(_scatter(item, len(tasks), losses, weights), tasks),
        no_outcome=sum(each.no_outcome for each in parts),
        no_loss=sum(each.no_loss for each in parts),
        note=NO_ATTEMPT if name == WEIGHTED and not len(item) else "",
        simulated=first.simulated,
    )


def _clustered(parts: Parts, tasks: Ints) -> Aggregate:
    """Return the aggregate of the items, whose intervals keep those of one task together."""
    known = parts.take(parts.known)
    names, cluster = np.unique(tasks[parts.known], return_inverse=True)
    variance, error = (sums(field, cluster, len(names)) for field in (known.variance, known.error))
    return replace(aggregate(parts), **intervals(variance, error))


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
    "note": "note",
    "simulated": "simulated",
}


def _said(row: SeverityRow) -> list[str]:
    return [said for said in dict.fromkeys((row.note, row.found.untold, row.scatter.untold)) if said]


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
    "Note": lambda row: "; ".join(_said(row)) or wording.NONE,
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
            f"without a result counts as failed. {NO_INTERVAL} Where a reward is above 1 or a rubric score "
            "above `rubric_best`, the group has no such loss. Weighted: losses times their weights, each "
            "distance "
            f"apart, of attempts that have all of them. {ALL_GROUPS}: each group's tasks count alike, its "
            f"intervals ({DELTA_T} for the rate) keep a task's groups together; weighted: the losses that "
            "every group with any has."
        ),
    )
