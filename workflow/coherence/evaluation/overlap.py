"""A judge's flags beside the same number that a feature puts first: what they share and what they do not."""

from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Final

from coherence.evaluation import wording
from coherence.evaluation.family import flags, is_detector
from coherence.evaluation.groups import Split
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table, proportion_fields
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, known
from coherence.records import Record
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.proportions import CLOPPER_PEARSON, Proportion, clopper_pearson, proportion


class Overlap(Record, frozen=True):
    """Failures among the flagged, the `k` with the highest `feature`, both and neither (paper, section 4.4).

    Medians are of the feature, on either side of what is not shared. `tied` counts values equal to the k-th
    of which not all are among the k: these are then taken by id. `left_out` have no value.
    """

    dataset: str
    judge: str
    feature: str
    k: int
    n: int
    both: Proportion
    judge_only: Proportion
    feature_only: Proportion
    neither: Proportion
    judge_only_median: float | None
    feature_only_median: float | None
    tied: int
    left_out: int
    simulated: str = ""


def overlaps(splits: Sequence[Split], settings: EvaluationSettings) -> Iterator[Overlap]:
    """Yield each judge's flags beside every feature; none where nothing, or everything, is flagged."""
    for split in splits:
        if is_detector(split.reading):
            sides = flags(split)
            for feature in settings.features_in(row for row, _ in sides.values()):
                found = _overlap(split, feature, settings)
                if found is not None:
                    yield found


def _overlap(split: Split, feature: str, settings: EvaluationSettings) -> Overlap | None:
    sides = flags(split)
    values = {name: value for name, (row, _) in sides.items() if (value := known(row, feature)) is not None}
    flagged = {name for name in values if sides[name][1]}
    k = len(flagged)
    if not 0 < k < len(values):
        return None
    ranked = sorted(values, key=lambda name: (-values[name], name))
    highest, border = set(ranked[:k]), values[ranked[k - 1]]
    equal = sum(value == border for value in values.values())
    split_tie = border == values[ranked[k]]
    return Overlap(
        dataset=split.reading.dataset,
        judge=split.reading.name,
        feature=feature,
        k=k,
        n=len(values),
        both=_failed(sides, flagged & highest),
        judge_only=_failed(sides, flagged - highest),
        feature_only=_failed(sides, highest - flagged),
        neither=_failed(sides, values.keys() - flagged - highest),
        judge_only_median=_median(values, flagged - highest),
        feature_only_median=_median(values, highest - flagged),
        tied=equal if split_tie else 0,
        left_out=len(sides) - len(values),
        simulated=settings.simulated.get(split.reading.dataset, ""),
    )


def _failed(sides: dict[str, tuple[Row, bool]], names: set[str]) -> Proportion:
    return proportion(sum(sides[name][0].outcome == "failed" for name in names), len(names), clopper_pearson)


def _median(values: dict[str, float], names: set[str]) -> float | None:
    return float(median(values[name] for name in names)) if names else None


FIELDS: Final[dict[str, str]] = {
    "dataset": "dataset",
    "judge": "judge",
    "feature": "feature",
    "k": "k",
    "n": "n",
    **proportion_fields("both", "both_fail", "both_rate"),
    **proportion_fields("judge_only", "judge_only_fail", "judge_only_rate"),
    **proportion_fields("feature_only", "feature_only_fail", "feature_only_rate"),
    **proportion_fields("neither", "neither_fail", "neither_rate"),
    "judge_only_median": "judge_only_median",
    "feature_only_median": "feature_only_median",
    "n_tied": "tied",
    "n_left_out": "left_out",
    "simulated": "simulated",
}


def _number(value: float | None) -> str:
    return wording.NONE if value is None else wording.number(value)


_COLUMNS: Final[dict[str, Callable[[Overlap], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Judge": lambda row: row.judge,
    "Feature": lambda row: row.feature,
    "k": lambda row: wording.count(row.k),
    "n": lambda row: wording.count(row.n),
    "Failed of both": lambda row: wording.proportion(row.both),
    "of flagged only": lambda row: wording.proportion(row.judge_only),
    "of highest only": lambda row: wording.proportion(row.feature_only),
    "of neither": lambda row: wording.proportion(row.neither),
    "Median, flagged only": lambda row: _number(row.judge_only_median),
    "Median, highest only": lambda row: _number(row.feature_only_median),
    "Left out": lambda row: wording.left_out(tied=row.tied, without_value=row.left_out),
}


def table(rows: Sequence[Overlap]) -> Table:
    """Return `overlap`."""
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="overlap",
        title="Flags beside the trajectories a feature puts first",
        caption=(
            "The k trajectories a judge flags against the k with the highest value of a feature, among "
            f"those with a known outcome: failed/n (rate in %; {LEVEL_TEXT} {CLOPPER_PEARSON} interval) of "
            "what both, one or neither has. Medians: of the feature, in what only one of the two has. "
            "Tied: values equal to the k-th; of these the first by id are taken. A part chosen after the "
            "fact, such as what both flag, is no test."
        ),
    )
