"""Error and scatter of several attempts taken together, against how many."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from coherence.evaluation import wording
from coherence.evaluation.decompositions import plain, tally_of
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.main_parts import ALL_GROUPS, MainParts, main_parts
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table, interval_fields
from coherence.evaluation.repeated import Group
from coherence.evaluation.wording import share
from coherence.incoherence.aggregates import DELTA_T, JACKKNIFE_T, delta_t, jackknife_t, ratio_of_sums
from coherence.incoherence.ensembles import Ensemble, averaged, geometric_means, majority
from coherence.incoherence.parts import Bools, Floats, Ints, sums
from coherence.records import Record
from coherence.stats.intervals import LEVEL_TEXT, Interval

MAJORITY: Final = "majority"
ARITHMETIC: Final = "arithmetic mean"
GEOMETRIC: Final = "geometric mean"


class Votes(Record, frozen=True):
    """`votes` attempts of a group taken as one; error over `tasks` of them, the rest over `parted` tasks.

    `error_of_one` and `incoherence_of_one` are those of single attempts at the same tasks.
    """

    dataset: str
    group: str
    kind: str
    rule: str
    votes: int
    tasks: int
    error: float
    error_interval: Interval | None
    error_of_one: float
    parted: int = 0
    bias: float | None = None
    variance: float | None = None
    incoherence: float | None = None
    interval: Interval | None = None
    incoherence_of_one: float | None = None
    too_few: int = 0
    simulated: str = ""


class Curve(Record, frozen=True, eq=False):
    """One rule of one group: what becomes of its tasks with any number of votes."""

    main: MainParts
    rule: str
    of: Callable[[int], Ensemble]


def ensembling(groups: Sequence[Group], settings: IncoherenceSettings) -> Iterator[Votes]:
    """Yield the curves of the groups of one dataset, then those of all groups together.

    Majority of answers, both means of probabilities, the arithmetic mean of test results and numbers.
    """
    families: dict[tuple[str, str], list[Curve]] = {}
    for group in groups:
        main = main_parts(group, settings)
        for curve in () if main is None else _curves(main, settings):
            families.setdefault((curve.main.kind, curve.rule), []).append(curve)
            yield from _rows(group.name, [curve], settings)
    for curves in families.values():
        if len(curves) > 1:
            yield from _rows(ALL_GROUPS, curves, settings)


def _curves(main: MainParts, settings: IncoherenceSettings) -> Iterator[Curve]:
    attempts = main.attempts
    if main.kind in ("answer", "passed"):
        counts = tally_of(attempts)
        yield Curve(main, MAJORITY, lambda votes: majority(counts, votes))
        return
    name = {"tests": "tests", "number": "squared_error", "probabilities": "brier"}[main.kind]
    parts = plain(attempts, name, "unbiased", settings.delta)
    yield Curve(main, ARITHMETIC, lambda votes: averaged(parts, votes))
    vectors = attempts.vectors
    if main.kind == "probabilities" and vectors is not None:
        yield Curve(main, GEOMETRIC, lambda votes: geometric_means(vectors, votes, settings.delta))


def _rows(group: str, curves: Sequence[Curve], settings: IncoherenceSettings) -> Iterator[Votes]:
    tasks = np.concatenate([curve.main.attempts.tasks for curve in curves])
    single = _of_all(curves, 1)
    for votes in settings.votes:
        error, variance = _of_all(curves, votes)
        known, parted = ~np.isnan(error), ~(np.isnan(error) | np.isnan(variance))
        if known.any():
            names, task = np.unique(tasks, return_inverse=True)
            yield Votes(
                dataset=curves[0].main.dataset,
                group=group,
                kind=curves[0].main.kind,
                rule=curves[0].rule,
                votes=votes,
                too_few=int((~known).sum()),
                simulated=curves[0].main.group.simulated,
                **_error(error, single[0], known, (task, len(names))),
                **_parts((error, variance), single, parted, (task, len(names))),
            )


def _of_all(curves: Sequence[Curve], votes: int) -> tuple[Floats, Floats]:
    found = [curve.of(votes) for curve in curves]
    return np.concatenate([each.error for each in found]), np.concatenate([each.variance for each in found])


def _error(error: Floats, single: Floats, known: Bools, by: tuple[Ints, int]) -> dict[str, Any]:
    """Return the mean error, its interval with a task's groups kept together, and that of one attempt."""
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
    "simulated": "simulated",
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
    "Left out": lambda row: wording.left_out(**{"too few attempts (tasks)": row.too_few}),
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
            "Exact expectations over all subsets of a task's attempts, nothing simulated. Majority: the "
            "most frequent answer, ties broken at random; of pass or fail, the more frequent one, which "
            "needs a judge to tell them apart. Means: of probabilities (geometric: for KL in nats), test "
            f"results or numbers. Error: {LEVEL_TEXT} {DELTA_T} interval over tasks with at least so many "
            "attempts. The variance of a majority needs twice as many (tasks parted): two ensembles without "
            f"a common attempt. Incoherence: {LEVEL_TEXT} {JACKKNIFE_T} interval over tasks parted. Of one: "
            "the same of single attempts at the same tasks, for rows are of different tasks where attempts "
            "are unequal. Any attempts of a task vote together, whatever their prompt contexts."
        ),
    )
