"""Everything asked of the table, asked at once."""

from collections.abc import Mapping, Sequence
from typing import Any

from coherence.evaluation import (
    across,
    adjusted,
    calibration,
    description,
    detector_pairs,
    failure_rates,
    further_tests,
    landmarks,
    lead_time,
    matched,
    overlap,
    precision,
    regression,
    scores,
    selectivity,
    tertiles,
)
from coherence.evaluation.ablations import Ablation, ablations
from coherence.evaluation.cost import Cost
from coherence.evaluation.failure_rates import FailureRate
from coherence.evaluation.first_flags import FirstFlag, Timeline, first_flags
from coherence.evaluation.groups import Split, splits
from coherence.evaluation.landmarks import FlagCurves
from coherence.evaluation.lead_time import LeadTime
from coherence.evaluation.matched import Matched
from coherence.evaluation.overlap import Overlap
from coherence.evaluation.paraphrased import Summary
from coherence.evaluation.precision import PrecisionCurve
from coherence.evaluation.render import Table
from coherence.evaluation.selectivity import Selectivity
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row
from coherence.evaluation.tertiles import Third
from coherence.evaluation.watched import Watched
from coherence.records import Record


class Evaluation(Record, frozen=True):
    """The answers that figures and the report draw on, datasets in the order of the rows."""

    settings: EvaluationSettings
    failure_rates: tuple[FailureRate, ...]
    selectivity: tuple[Selectivity, ...]
    first_flags: tuple[FirstFlag, ...]
    lead_times: tuple[LeadTime, ...]
    matched: tuple[Matched, ...]
    precision: tuple[PrecisionCurve, ...]
    overlaps: tuple[Overlap, ...]
    thirds: tuple[Third, ...]
    flag_curves: tuple[FlagCurves, ...]
    ablations: tuple[Ablation, ...] = ()
    watched: tuple[Watched, ...] = ()
    paraphrased: tuple[Summary, ...] = ()


def evaluate(
    rows: Sequence[Row],
    settings: EvaluationSettings,
    timelines: Mapping[str, Mapping[str, Timeline]],
    costs: Sequence[Cost] = (),
) -> Evaluation:
    """Return the evaluation of the rows of any datasets; `timelines` is by dataset, then trajectory id.

    `costs` are what the judges' calls came to.
    """
    divided = tuple(splits(rows, settings))
    flags = tuple(first_flags(rows, timelines, settings))
    return Evaluation(
        settings=settings,
        failure_rates=tuple(failure_rates.failure_rate(split, settings) for split in divided),
        selectivity=tuple(selectivity.selectivity(split, settings) for split in divided),
        first_flags=flags,
        lead_times=tuple(lead_time.lead_times(rows, flags, settings)),
        matched=tuple(matched.matched(rows, settings)),
        precision=tuple(precision.precision_curves(rows, settings)),
        overlaps=tuple(overlap.overlaps(divided, settings)),
        thirds=tuple(tertiles.thirds(adjusted.adjusted(divided, settings))),
        flag_curves=tuple(landmarks.flag_curves(rows, timelines, settings)),
        ablations=tuple(ablations(rows, settings, costs)),
    )


def of_dataset(evaluation: Evaluation, dataset: str) -> Evaluation:
    """Return the answers that concern one dataset."""
    lists = (name for name in Evaluation.__struct_fields__ if name != "settings")
    own = {
        name: tuple(row for row in getattr(evaluation, name) if _dataset(row) == dataset) for name in lists
    }
    return Evaluation(evaluation.settings, **own)


def _dataset(row: Any) -> str:
    return str(row.dataset if hasattr(row, "dataset") else row.reading.dataset)


def tables(evaluation: Evaluation) -> tuple[Table, ...]:
    """Return the tables of the evaluation's own answers."""
    settings = evaluation.settings
    return (
        failure_rates.table(evaluation.failure_rates, settings),
        selectivity.table(evaluation.selectivity),
        matched.table(evaluation.matched),
        lead_time.table(evaluation.lead_times),
        precision.table(evaluation.precision),
        overlap.table(evaluation.overlaps),
        tertiles.table(evaluation.thirds, settings),
        landmarks.table(tuple(landmarks.landmarks(evaluation.flag_curves))),
    )


def further_tables(rows: Sequence[Row], settings: EvaluationSettings) -> tuple[Table, ...]:
    """Return the tables of what else is asked of the rows, which no figure shows."""
    divided: tuple[Split, ...] = tuple(splits(rows, settings))
    return (
        description.table(tuple(description.descriptions(rows, settings))),
        adjusted.table(tuple(adjusted.adjusted(divided, settings)), settings),
        further_tests.table(tuple(further_tests.further_tests(divided, settings)), settings),
        detector_pairs.table(tuple(detector_pairs.detector_pairs(divided, settings))),
        scores.table(tuple(scores.scores(divided, settings)), settings),
        regression.table(tuple(regression.terms(divided, settings))),
        calibration.table(tuple(calibration.calibrations(divided, settings))),
        across.table(tuple(across.across(divided, settings))),
    )
