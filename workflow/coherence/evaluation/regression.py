"""Does the flag say more than its rivals? Failure regressed on it, alone and beside them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import exp
from typing import Final

import numpy as np

from coherence.evaluation import wording
from coherence.evaluation.family import flags, is_detector
from coherence.evaluation.groups import RATED, Split
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import MISSING, Row, known
from coherence.records import Record
from coherence.stats.firth import FIRTH, PROFILE, Coefficient, Regression, firth
from coherence.stats.intervals import LEVEL_TEXT, Interval

FLAG: Final = "flag"
ALONE: Final = "flag alone"
WITH_ALL: Final = "flag and covariates"
Columns = dict[str, list[float]]


class Term(Record, frozen=True):
    """One covariate of one model; `coefficient` is None where the model or the covariate has none, with why.

    `left_out` counts trajectories the judge divides of which a covariate is not known.
    """

    dataset: str
    judge: str
    model: str
    name: str
    n: int
    events: int
    left_out: int
    coefficient: Coefficient | None = None
    reason: str | None = None
    underpowered: str | None = None
    simulated: str = ""

    @property
    def odds_ratio(self) -> float | None:
        """The odds ratio of failure."""
        return None if self.coefficient is None else exp(self.coefficient.value)

    @property
    def interval(self) -> Interval | None:
        """The interval of the odds ratio."""
        found = self.coefficient.interval if self.coefficient else None
        return None if found is None else Interval(exp(found.low), exp(found.high), found.method, found.n)


def terms(splits: Sequence[Split], settings: EvaluationSettings) -> Iterator[Term]:
    """Yield the terms of both models of each detector's reading."""
    for split in splits:
        if is_detector(split.reading):
            yield from _terms(split, settings)


def _terms(split: Split, settings: EvaluationSettings) -> Iterator[Term]:
    sides = list(flags(split).values())
    known = _covariates([row for row, _ in sides], settings)
    complete = [place for place in range(len(sides)) if all(place in values for values in known.values())]
    beside = {name: _scaled([values[place] for place in complete]) for name, values in known.items()}
    beside |= _categories([sides[place][0] for place in complete], settings.task_categories)
    everyone = range(len(sides))
    for model, places, rest in ((ALONE, everyone, {}), (WITH_ALL, complete, beside)):
        columns: Columns = {FLAG: [float(sides[place][1]) for place in places], **rest}
        fitted = firth(columns, [sides[place][0].outcome == "failed" for place in places])
        yield from _rows(split, model, (columns, fitted), len(sides) - len(places), settings)


def _covariates(rows: Sequence[Row], settings: EvaluationSettings) -> dict[str, dict[int, float]]:
    """Return the known values by place of each covariate that any row has; counts as log(1 + count)."""
    read: dict[str, Callable[[Row], float | None]] = {
        name: _feature(name)
        for name in settings.covariates
        if settings.features is None or name in settings.features
    }
    read |= {f"{judge} rating": _rating(judge) for judge in settings.rating_at_most}
    found = {
        name: {place: value for place, row in enumerate(rows) if (value := look(row)) is not None}
        for name, look in read.items()
    }
    return {name: values for name, values in found.items() if values}


def _feature(name: str) -> Callable[[Row], float | None]:
    def value(row: Row) -> float | None:
        found = known(row, name)
        if found is None:
            return None
        return float(np.log1p(found)) if found >= 0 else found

    return value


def _rating(judge: str) -> Callable[[Row], float | None]:
    def value(row: Row) -> float | None:
        word = row.verdicts.get(judge, MISSING)
        return None if word.state == "unjudged" and word.reason not in RATED else word.rating

    return value


def _scaled(values: Sequence[float]) -> list[float]:
    column = np.array(values, dtype=float)
    spread = float(column.std()) if len(column) else 0.0
    return list(column) if not spread else ((column - column.mean()) / spread).tolist()


def _categories(rows: Sequence[Row], categories: Mapping[str, str]) -> Columns:
    """Return an indicator of each category but the first by name; a task without one is "other"."""
    if not categories:
        return {}
    found = [categories.get(row.task, "other") for row in rows]
    return {
        f"category {name}": [float(category == name) for category in found] for name in sorted(set(found))[1:]
    }


def _rows(
    split: Split,
    model: str,
    fit: tuple[Columns, Regression],
    left_out: int,
    settings: EvaluationSettings,
) -> Iterator[Term]:
    columns, fitted = fit
    for name in columns if fitted.reason is None else [FLAG]:
        dropped = "does not vary beside the others" if name in fitted.dropped else None
        yield Term(
            dataset=split.reading.dataset,
            judge=split.reading.name,
            model=model,
            name=name,
            n=fitted.n,
            events=fitted.events,
            left_out=left_out,
            coefficient=fitted.of(name),
            reason=fitted.reason or dropped,
            underpowered=fitted.underpowered,
            simulated=settings.simulated.get(split.reading.dataset, ""),
        )


FIELDS: Final[dict[str, str]] = {
    "dataset": "dataset",
    "judge": "judge",
    "model": "model",
    "covariate": "name",
    "n": "n",
    "events": "events",
    "log_odds_ratio": "coefficient.value",
    "log_odds_ratio_low": "coefficient.interval.low",
    "log_odds_ratio_high": "coefficient.interval.high",
    "interval": "coefficient.interval.method",
    "odds_ratio": "odds_ratio",
    "likelihood_ratio_p": "coefficient.p",
    "separates": "coefficient.separates",
    "reason": "reason",
    "underpowered": "underpowered",
    "n_left_out": "left_out",
    "simulated": "simulated",
}


def _remark(row: Term) -> str:
    separates = "separates the outcomes" if row.coefficient and row.coefficient.separates else None
    return ", ".join(part for part in (row.underpowered, separates) if part) or wording.NONE


_COLUMNS: Final[dict[str, Callable[[Term], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Judge": lambda row: row.judge,
    "Model": lambda row: row.model,
    "Covariate": lambda row: row.name,
    "n": lambda row: wording.count(row.n),
    "Odds ratio": lambda row: (
        wording.estimate(row.odds_ratio, row.interval) if row.coefficient else f"not applicable: {row.reason}"
    ),
    "p": lambda row: wording.p_value(row.coefficient.p if row.coefficient else None),
    "Remark": _remark,
    "Left out": lambda row: wording.left_out(covariate_not_known=row.left_out),
}


def table(rows: Sequence[Term]) -> Table:
    """Return `regression`."""
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="regression",
        title="Failure regressed on the flag and its rival explanations",
        caption=(
            f"{FIRTH}: odds ratio of failure ({LEVEL_TEXT} interval by {PROFILE}), p by likelihood ratio. "
            "Features as log(1 + value) and ratings, both in standard deviations; categories of tasks "
            "against the first by name. Events: the rarer outcome; below 10 for each covariate a model is "
            "called underpowered, and its intervals are to be read before its p. An association is no "
            "cause."
        ),
    )
