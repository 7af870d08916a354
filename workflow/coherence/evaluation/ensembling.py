"""Error and scatter of several attempts taken together, against how many."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from coherence.evaluation import wording
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.main_parts import ALL_GROUPS, main_parts
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table, interval_fields
from coherence.evaluation.repeated import Group
from coherence.evaluation.vote_curves import Curve, curves_of
from coherence.evaluation.wording import share
from coherence.incoherence.aggregates import (
    DELTA_T,
    JACKKNIFE_T,
    NO_INTERVAL,
    delta_t,
    jackknife_t,
    ratio_of_sums,
)
from coherence.incoherence.ensembles import Ensemble
from coherence.incoherence.parts import Bools, Floats, Ints, sums
from coherence.records import Record
from coherence.stats.intervals import LEVEL_TEXT, Interval


class Votes(Record, frozen=True):
    """`votes` attempts of a group taken as one; error over `tasks` of them, the rest over `parted` tasks.

    `error_of_one` and `incoherence_of_one` are those of single attempts at the same tasks. Tasks are left out
    for `too_few` attempts or `few_contexts`, or `not_computed` for too many ways to vote; `not_parted` lack
    only the parts. The error of no task is None.
    """

    dataset: str
    group: str
    kind: str
    rule: str
    votes: int
    tasks: int = 0
    error: float | None = None
    error_interval: Interval | None = None
    error_of_one: float | None = None
    parted: int = 0
    bias: float | None = None
    variance: float | None = None
    incoherence: float | None = None
    interval: Interval | None = None
    incoherence_of_one: float | None = None
    too_few: int = 0
    few_contexts: int = 0
    not_computed: int = 0
    not_parted: int = 0
    simulated: str = ""


def ensembling(groups: Sequence[Group], settings: IncoherenceSettings) -> Iterator[Votes]:
    """Yield the curves of the groups of one dataset, then those of all groups together.

    Majority of answers, both means of probabilities, the arithmetic mean of test results and numbers.
    """
    families: dict[tuple[str, str], list[Curve]] = {}
    for group in groups:
        main = main_parts(group, settings)
        for curve in () if main is None else curves_of(main, settings):
            families.setdefault((curve.main.kind, curve.rule), []).append(curve)
            yield from _rows(group.name, [curve], settings)
    for curves in families.values():
        if len(curves) > 1:
            yield from _rows(ALL_GROUPS, curves, settings)


def _rows(group: str, curves: Sequence[Curve], settings: IncoherenceSettings) -> Iterator[Votes]:
    names, task = np.unique(
        np.concatenate([curve.main.attempts.tasks for curve in curves]), return_inverse=True
    )
    single = _joined([curve.of(1) for curve in curves])
    for votes in settings.votes:
        found = [curve.of(votes) for curve in curves]
        error, variance = _joined(found)
        known, parted = ~np.isnan(error), ~(np.isnan(error) | np.isnan(variance))
        lost = _lost(curves, found)
        if known.any() or lost["not_computed"]:
            yield Votes(
                dataset=curves[0].main.dataset,
                group=group,
                kind=curves[0].main.kind,
                rule=curves[0].rule,
                votes=votes,
                simulated=curves[0].main.group.simulated,
                **lost,
                **_error(error, single[0], known, (task, len(names))),
                **_parts((error, variance), single, parted, (task, len(names))),
            )


def _lost(curves: Sequence[Curve], found: Sequence[Ensemble]) -> dict[str, Any]:
    lost = Counter(not_computed=0)
    for curve, each in zip(curves, found, strict=True):
        lost.update(curve.lost(each))
    return dict(lost)


def _joined(found: Sequence[Ensemble]) -> tuple[Floats, Floats]:
    return np.concatenate([each.error for each in found]), np.concatenate([each.variance for each in found])


def _error(error: Floats, single: Floats, known: Bools, by: tuple[Ints, int]) -> dict[str, Any]:
    """Return the mean error, its interval with a task's groups kept together, and that of one attempt."""
    if not known.any():
        return {}
    task, names = by
    total = sums(error[known], task[known], names)
    n = np.bincount(task[known], minlength=names).astype(float)
    return {
        "tasks": int(n.sum()),
        "error": float(total.sum() / n.sum()),
        "error_interval": delta_t(total[n > 0], n[n > 0]),
        "error_of_one": float(single[known].mean()),
    }


def _parts(
    both: tuple[Floats, Floats], single: tuple[Floats, Floats], parted: Bools, by: tuple[Ints, int]
) -> dict[str, Any]:
    if not parted.any():
        return {}
    task, names = by
    error, variance = (sums(values[parted], task[parted], names) for values in both)
    there = np.bincount(task[parted], minlength=names) > 0
    n = int(parted.sum())
    return {
        "parted": n,
        "bias": float((error - variance).sum() / n),
        "variance": float(variance.sum() / n),
        "incoherence": ratio_of_sums(variance, error),
        "interval": jackknife_t(variance[there], error[there]),
        "incoherence_of_one": ratio_of_sums(single[1][parted], single[0][parted]),
    }


FIELDS: Final[dict[str, str]] = {
    **{name: name for name in ("dataset", "group")},
    "outcome": "kind",
    **{name: name for name in ("rule", "votes", "tasks", "error")},
    **interval_fields("error_interval", "error"),
    "error_of_one": "error_of_one",
    "tasks_parted": "parted",
    **{name: name for name in ("bias", "variance", "incoherence")},
    **interval_fields("interval", "jackknife_t"),
    "incoherence_of_one": "incoherence_of_one",
    "tasks_with_too_few_attempts": "too_few",
    "tasks_with_too_few_contexts": "few_contexts",
    "tasks_not_computed": "not_computed",
    "tasks_without_variance": "not_parted",
    "simulated": "simulated",
}

LOST: Final = {
    "too_few": "too few attempts (tasks)",
    "few_contexts": "too few contexts (tasks)",
    "not_computed": "too many ways to vote (tasks)",
    "not_parted": "no variance computed (tasks)",
}
_COLUMNS: Final[dict[str, Callable[[Votes], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Group": lambda row: row.group,
    "Outcome": lambda row: row.kind,
    "Rule": lambda row: row.rule,
    "Votes": lambda row: wording.count(row.votes),
    "Tasks": lambda row: wording.count(row.tasks),
    "Error": lambda row: share(row.error, row.error_interval),
    "Of one": lambda row: share(row.error_of_one),
    "Tasks parted": lambda row: wording.count(row.parted),
    "Variance": lambda row: share(row.variance),
    "Incoherence": lambda row: share(row.incoherence, row.interval),
    "Of one ": lambda row: share(row.incoherence_of_one),
    "Left out": lambda row: wording.left_out(**{reason: getattr(row, name) for name, reason in LOST.items()}),
}


def table(rows: Sequence[Votes], settings: IncoherenceSettings) -> Table:
    """Return `ensembling`."""
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="ensembling",
        title="Error and incoherence against the number of votes",
        caption=(
            "Exact expectations over all subsets of a task's attempts, nothing simulated; where attempts "
            "share prompt contexts, over one attempt from each of as many contexts, each of which counts "
            "once: errors may then differ from those of other tables. Majority: the most frequent answer, "
            "ties broken at random; of pass or fail, the more frequent one, which needs a judge to tell "
            "them apart. Means: of probabilities (geometric: for KL in nats), test "
            f"results or numbers. Error: {LEVEL_TEXT} {DELTA_T} interval over tasks with at least so many "
            "attempts (or contexts). The variance of a majority needs twice as many (tasks parted): two "
            "ensembles without a common attempt or context. Geometric means over contexts have none, as "
            "their bias has no estimate. Where the ways to vote are too many, nothing is computed. "
            f"Incoherence: {LEVEL_TEXT} {JACKKNIFE_T} interval over tasks parted. {NO_INTERVAL} Of one: "
            "the same of single attempts at the same tasks, for rows are of different tasks where attempts "
            "are unequal."
        ),
    )
