"""Error and scatter of several attempts taken together, against how many."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from coherence.evaluation import wording
from coherence.evaluation.decompositions import plain, tally_of
from coherence.evaluation.error_incoherence import interval_fields, share
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.main_parts import ALL_GROUPS, MainParts, main_parts
from coherence.evaluation.readings import marked, simulation_note
from coherence.evaluation.render import Table, records, shown
from coherence.evaluation.repeated import Group
from coherence.incoherence.aggregates import DELTA_T, JACKKNIFE_T, delta_t, jackknife_t, ratio_of_sums
from coherence.incoherence.ensembles import Ensemble, averaged, geometric_means, majority
from coherence.incoherence.parts import Bools, Floats, Ints, sums
from coherence.records import Record
from coherence.stats.intervals import LEVEL_TEXT, Interval

MAJORITY: Final = "majority"
ARITHMETIC: Final = "arithmetic mean"
GEOMETRIC: Final = "geometric mean"


class Votes(Record, frozen=True):
    """`votes` attempts of a group taken as one; error over `tasks` of them, the rest over `parted` tasks."""

    dataset: str
    group: str
    kind: str
    rule: str
    votes: int
    tasks: int
    error: float
    error_interval: Interval | None
    parted: int = 0
    bias: float | None = None
    variance: float | None = None
    incoherence: float | None = None
    interval: Interval | None = None
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
    outcomes = main.outcomes
    if main.kind in ("answer", "passed"):
        counts = tally_of(outcomes)
        yield Curve(main, MAJORITY, lambda votes: majority(counts, votes))
        return
    name = {"tests": "tests", "number": "squared_error", "probabilities": "brier"}[main.kind]
    parts = plain(outcomes, name, "unbiased", settings.delta)
    yield Curve(main, ARITHMETIC, lambda votes: averaged(parts, votes))
    vectors = outcomes.vectors
    if main.kind == "probabilities" and vectors is not None:
        yield Curve(main, GEOMETRIC, lambda votes: geometric_means(vectors, votes, settings.delta))


def _rows(group: str, curves: Sequence[Curve], settings: IncoherenceSettings) -> Iterator[Votes]:
    tasks = np.concatenate([curve.main.outcomes.tasks for curve in curves])
    for votes in settings.votes:
        found = [curve.of(votes) for curve in curves]
        error = np.concatenate([each.error for each in found])
        variance = np.concatenate([each.variance for each in found])
        if not np.isnan(error).all():
            yield _row(group, curves[0], votes, _Sums.of(tasks, error, variance))


class _Sums(Record, frozen=True, eq=False):
    """Sums over the groups of each task: of errors and tasks where known, of both parts where parted."""

    error: Floats
    known: Floats
    variance: Floats
    parted_error: Floats
    parted: Floats
    lost: int

    @classmethod
    def of(cls, tasks: Ints, error: Floats, variance: Floats) -> "_Sums":
        """Sum what is not NaN."""
        names, task = np.unique(tasks, return_inverse=True)
        known, parted = ~np.isnan(error), ~(np.isnan(error) | np.isnan(variance))

        def total(values: Floats, where: Bools) -> Floats:
            return sums(np.where(where, values, 0.0), task, len(names))

        ones = np.ones(len(error))
        return cls(
            total(error, known),
            total(ones, known),
            total(variance, parted),
            total(error, parted),
            total(ones, parted),
            int((~known).sum()),
        )


def _row(group: str, curve: Curve, votes: int, found: _Sums) -> Votes:
    there = found.known > 0
    parted = found.parted > 0
    error, variance = found.parted_error[parted], found.variance[parted]
    n = int(found.parted.sum())
    return Votes(
        dataset=curve.main.dataset,
        group=group,
        kind=curve.main.kind,
        rule=curve.rule,
        votes=votes,
        tasks=int(found.known.sum()),
        error=float(found.error.sum() / found.known.sum()),
        error_interval=delta_t(found.error[there], found.known[there]),
        parted=n,
        bias=float((error - variance).sum() / n) if n else None,
        variance=float(variance.sum() / n) if n else None,
        incoherence=ratio_of_sums(variance, error) if n else None,
        interval=jackknife_t(variance, error),
        too_few=found.lost,
        simulated=curve.main.group.simulated,
    )


FIELDS: Final[dict[str, str]] = {
    **{name: name for name in ("dataset", "group")},
    "outcome": "kind",
    **{name: name for name in ("rule", "votes", "tasks", "error")},
    **interval_fields("error_interval", "error"),
    "tasks_parted": "parted",
    **{name: name for name in ("bias", "variance", "incoherence")},
    **interval_fields("interval", "jackknife_t"),
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
    "Tasks parted": lambda row: wording.count(row.parted),
    "Variance": lambda row: share(row.variance),
    "Incoherence": lambda row: share(row.incoherence, row.interval),
    "Left out": lambda row: wording.left_out(**{"too few attempts (tasks)": row.too_few}),
}


def table(rows: Sequence[Votes], settings: IncoherenceSettings) -> Table:
    """Return `ensembling`."""
    return Table(
        name="ensembling",
        title="Error and incoherence against the number of votes",
        caption=(
            "Exact expectations over all subsets of a task's attempts, nothing simulated. Majority: the most "
            "frequent answer, ties broken at random; of pass or fail, the more frequent one, which needs a "
            "judge to tell them apart. Means: of probabilities (geometric: for KL in nats), test results or "
            f"numbers. Error: {LEVEL_TEXT} {DELTA_T} interval over tasks with at least so many attempts. The "
            "variance of a majority needs twice as many (tasks parted): two ensembles without a common "
            f"attempt. Incoherence: {LEVEL_TEXT} {JACKKNIFE_T} interval over tasks parted. Where tasks have "
            "unequal attempts, rows are of different tasks."
        ),
        columns=tuple(_COLUMNS),
        rows=shown(rows, _COLUMNS),
        fields=tuple(FIELDS),
        records=records(rows, FIELDS),
        note=simulation_note((row.dataset, row.simulated) for row in rows),
        datasets=tuple(dict.fromkeys(row.dataset for row in rows)),
    )
