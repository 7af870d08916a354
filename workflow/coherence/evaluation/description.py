"""What each dataset is made of: outcomes, tasks and attempts, and how its features are distributed."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import fmean, median, quantiles
from typing import Final

from coherence.evaluation import wording
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table, proportion_fields
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, by_dataset, known
from coherence.records import Record
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.proportions import CLOPPER_PEARSON, Proportion, clopper_pearson, proportion


class Distribution(Record, frozen=True):
    """One feature over the `n` trajectories of a dataset that have a value, `zeros` of them 0."""

    n: int
    missing: int
    zeros: int
    mean: float
    low: float
    quartiles: tuple[float, float, float]
    high: float

    @property
    def first_quartile(self) -> float:
        """A quarter of the values lie below."""
        return self.quartiles[0]

    @property
    def median(self) -> float:
        """The middle value."""
        return self.quartiles[1]

    @property
    def third_quartile(self) -> float:
        """A quarter of the values lie above."""
        return self.quartiles[2]


class Description(Record, frozen=True):
    """A dataset's compared trajectories and one of its features; `feature` is "-" where it has none."""

    dataset: str
    trajectories: int
    excluded: int
    failed: Proportion
    unknown: int
    tasks: int
    most_attempts: int
    feature: str
    values: Distribution | None
    simulated: str = ""


def descriptions(rows: Iterable[Row], settings: EvaluationSettings) -> Iterator[Description]:
    """Yield a row for each dataset and feature; a dataset without features has one."""
    for dataset, members in by_dataset(rows).items():
        included = [row for row in members if row.excluded is None]
        outcomes = Counter(row.outcome for row in included)
        attempts = Counter(row.task for row in included)
        for feature in settings.features_in(included) or [wording.NONE]:
            yield Description(
                dataset=dataset,
                trajectories=len(included),
                excluded=len(members) - len(included),
                failed=proportion(
                    outcomes["failed"], outcomes["failed"] + outcomes["passed"], clopper_pearson
                ),
                unknown=outcomes["unknown"],
                tasks=len(attempts),
                most_attempts=max(attempts.values(), default=0),
                feature=feature,
                values=distribution([known(row, feature) for row in included]),
                simulated=settings.simulated.get(dataset, ""),
            )


def distribution(found: Sequence[float | None]) -> Distribution | None:
    """Return how values are distributed, None where not one is known."""
    values = sorted(value for value in found if value is not None)
    if not values:
        return None
    outer = quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
    return Distribution(
        n=len(values),
        missing=len(found) - len(values),
        zeros=values.count(0),
        mean=fmean(values),
        low=values[0],
        quartiles=(outer[0], float(median(values)), outer[2]),
        high=values[-1],
    )


FIELDS: Final[dict[str, str]] = {
    "dataset": "dataset",
    "trajectories": "trajectories",
    "n_excluded": "excluded",
    **proportion_fields("failed", "failed", "failure_rate"),
    "n_unknown_outcome": "unknown",
    "tasks": "tasks",
    "most_attempts": "most_attempts",
    "feature": "feature",
    "n": "values.n",
    "n_missing": "values.missing",
    "zeros": "values.zeros",
    "mean": "values.mean",
    "lowest": "values.low",
    "first_quartile": "values.first_quartile",
    "median": "values.median",
    "third_quartile": "values.third_quartile",
    "highest": "values.high",
    "simulated": "simulated",
}


def _shown(read: Callable[[Distribution], str]) -> Callable[[Description], str]:
    return lambda row: wording.NONE if row.values is None else read(row.values)


_COLUMNS: Final[dict[str, Callable[[Description], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Trajectories": lambda row: wording.count(row.trajectories),
    "Failed": lambda row: wording.proportion(row.failed),
    "Tasks": lambda row: wording.count(row.tasks),
    "Attempts at most": lambda row: wording.count(row.most_attempts),
    "Feature": lambda row: row.feature,
    "n": _shown(lambda values: wording.count(values.n)),
    "Median (quartiles)": _shown(
        lambda values: (
            f"{wording.number(values.median)} ({wording.number(values.first_quartile)} to "
            f"{wording.number(values.third_quartile)})"
        )
    ),
    "Mean": _shown(lambda values: wording.number(values.mean)),
    "Range": _shown(lambda values: f"{wording.number(values.low)} to {wording.number(values.high)}"),
    "Zero": _shown(lambda values: wording.count(values.zeros)),
    "Left out": lambda row: wording.left_out(
        excluded=row.excluded,
        unknown_outcome=row.unknown,
        without_value=row.values.missing if row.values else 0,
    ),
}


def table(rows: Sequence[Description]) -> Table:
    """Return `description`."""
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="description",
        title="The datasets and their features",
        caption=(
            f"Failed/n (rate in %; {LEVEL_TEXT} {CLOPPER_PEARSON} interval) of the trajectories with a "
            "known outcome; features over all that are not excluded, whatever their outcome. Quartiles: "
            "interpolated. Zero: trajectories with the value 0."
        ),
    )
