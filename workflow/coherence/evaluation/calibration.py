"""Do trajectories flagged with more confidence, or rated lower, fail more often? A row a level."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal

from coherence.evaluation import wording
from coherence.evaluation.family import compared, is_detector, is_primary
from coherence.evaluation.groups import Split
from coherence.evaluation.readings import NO_JUDGE, marked, table_of
from coherence.evaluation.render import Table, proportion_fields
from coherence.evaluation.settings import EvaluationSettings
from coherence.records import Record
from coherence.stats.calibration import EXACT_TREND, MOST_ARRANGEMENTS, TREND, Calibration, Level, calibration
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.proportions import CLOPPER_PEARSON

Scale = Literal["confidence", "rating"]


class CalibrationRow(Record, frozen=True):
    """One level of one judge's scale; `missing` trajectories have none, and take no part in the trend."""

    dataset: str
    judge: str
    scale: Scale
    level: Level
    calibration: Calibration
    missing: int
    simulated: str = ""


def calibrations(splits: Sequence[Split], settings: EvaluationSettings) -> Iterator[CalibrationRow]:
    """Yield the levels of each judge: the confidence of its flags, or its ratings."""
    for split in splits:
        if split.reading.judge != NO_JUDGE and is_primary(split.reading):
            yield from _levels(split, settings)


def _levels(split: Split, settings: EvaluationSettings) -> Iterator[CalibrationRow]:
    judge = split.reading.judge
    risky, safe = compared(split)
    scale: Scale = "confidence" if is_detector(split.reading) else "rating"
    rows = risky if scale == "confidence" else [*risky, *safe]
    words = [(row.verdicts[judge], row.outcome == "failed") for row in rows]
    found = [(word.max_confidence if scale == "confidence" else word.rating, bad) for word, bad in words]
    known = [(level, bad) for level, bad in found if level is not None]
    result = calibration([level for level, _ in known], [bad for _, bad in known], settings.bootstrap.seed)
    simulated = settings.simulated.get(split.reading.dataset, "")
    for level in result.levels:
        missing = len(found) - len(known)
        yield CalibrationRow(split.reading.dataset, judge, scale, level, result, missing, simulated)


FIELDS: Final[dict[str, str]] = {
    "dataset": "dataset",
    "judge": "judge",
    "scale": "scale",
    "level": "level.level",
    **{
        name.replace("level.failed_", "failed_"): path
        for name, path in proportion_fields("level.failed", "failed_count", "failed").items()
    },
    "n": "calibration.n",
    "trend_p": "calibration.trend_p",
    "permutation_p": "calibration.permutation_p",
    "n_missing": "missing",
    "simulated": "simulated",
}

_COLUMNS: Final[dict[str, Callable[[CalibrationRow], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Judge": lambda row: row.judge,
    "Scale": lambda row: row.scale,
    "Level": lambda row: str(row.level.level),
    "Failed": lambda row: wording.proportion(row.level.failed),
    "Trend p": lambda row: wording.p_value(row.calibration.trend_p),
    "Permutation p": lambda row: wording.p_value(row.calibration.permutation_p),
    "n": lambda row: wording.count(row.calibration.n),
    "Left out": lambda row: wording.left_out(without_level=row.missing),
}


def table(rows: Sequence[CalibrationRow]) -> Table:
    """Return `calibration`."""
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="calibration",
        title="Failures by confidence and by rating",
        caption=(
            f"Failed/n (rate in %; {LEVEL_TEXT} {CLOPPER_PEARSON} interval) at each level: the highest "
            "confidence among the spans of a flagged trajectory, or the rating of any judged one. Trend: "
            f"{TREND} test, and {EXACT_TREND} (every arrangement up to {MOST_ARRANGEMENTS:,}, as many draws "
            "above), both two-sided and over all levels of the judge."
        ),
    )
