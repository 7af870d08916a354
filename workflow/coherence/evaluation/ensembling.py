"""Error and scatter of several attempts taken together, against how many."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from coherence.evaluation import wording
from coherence.evaluation.decompositions import plain, tally_of
from coherence.evaluation.error_incoherence import interval_fields, share
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.main_parts import MainParts, main_parts
from coherence.evaluation.readings import marked, simulation_note
from coherence.evaluation.render import Table, records, shown
from coherence.evaluation.repeated import Group
from coherence.incoherence.aggregates import JACKKNIFE_T, jackknife_t, ratio_of_sums
from coherence.incoherence.ensembles import Ensemble, averaged, geometric_means, majority
from coherence.incoherence.parts import Floats
from coherence.incoherence.severity import RATE_T, mean_t
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


def ensembling(group: Group, settings: IncoherenceSettings) -> Iterator[Votes]:
    """Yield the curve of each rule of a group: majority of answers, both means of probabilities."""
    main = main_parts(group, settings)
    if main is None:
        return
    for rule, of in _rules(main, settings):
        for votes in settings.votes:
            found = of(votes)
            known = ~np.isnan(found.error)
            if known.any():
                yield _row(main, rule, found)


Rule = tuple[str, Callable[[int], Ensemble]]


def _rules(main: MainParts, settings: IncoherenceSettings) -> Iterator[Rule]:
    outcomes = main.outcomes
    if main.kind in ("answer", "passed"):
        counts = tally_of(outcomes)
        yield MAJORITY, lambda votes: majority(counts, votes)
        return
    name = {"tests": "tests", "number": "squared_error", "probabilities": "brier"}[main.kind]
    parts = plain(outcomes, name, "unbiased", settings.delta)
    yield ARITHMETIC, lambda votes: averaged(parts, votes)
    vectors = outcomes.vectors
    if main.kind == "probabilities" and vectors is not None:
        yield GEOMETRIC, lambda votes: geometric_means(vectors, votes, settings.delta)


def _row(main: MainParts, rule: str, found: Ensemble) -> Votes:
    known = ~np.isnan(found.error)
    parted = known & ~np.isnan(found.variance)
    variance, error = found.variance[parted], found.error[parted]
    return Votes(
        dataset=main.dataset,
        group=main.group.name,
        kind=main.kind,
        rule=rule,
        votes=found.votes,
        tasks=int(known.sum()),
        error=float(found.error[known].mean()),
        error_interval=mean_t(found.error[known]),
        parted=int(parted.sum()),
        bias=_mean(error - variance),
        variance=_mean(variance),
        incoherence=ratio_of_sums(variance, error) if len(error) else None,
        interval=jackknife_t(variance, error),
        too_few=int((~known).sum()),
        simulated=main.group.simulated,
    )


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None


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
            f"numbers. Error: {LEVEL_TEXT} {RATE_T} interval over tasks with at least so many attempts. The "
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
