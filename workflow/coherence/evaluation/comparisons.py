"""The statistics beyond the paper's, asked of the table all at once."""

from collections.abc import Mapping, Sequence

from coherence.evaluation import (
    adjusted,
    calibration,
    detector_pairs,
    further_tests,
    landmarks,
    regression,
    scores,
)
from coherence.evaluation.first_flags import Timeline
from coherence.evaluation.groups import splits
from coherence.evaluation.render import Table
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row


def further_tables(
    rows: Sequence[Row], settings: EvaluationSettings, timelines: Mapping[str, Mapping[str, Timeline]]
) -> tuple[Table, ...]:
    """Return tests, adjusted, paired, scores, regression, calibration and landmark of any datasets."""
    divided = tuple(splits(rows, settings))
    curves = tuple(landmarks.flag_curves(rows, timelines, settings))
    return (
        further_tests.table(tuple(further_tests.further_tests(divided, settings)), settings),
        adjusted.table(tuple(adjusted.adjusted(divided, settings)), settings),
        detector_pairs.table(tuple(detector_pairs.detector_pairs(divided, settings))),
        scores.table(tuple(scores.scores(divided, settings)), settings),
        regression.table(tuple(regression.terms(divided, settings))),
        calibration.table(tuple(calibration.calibrations(divided, settings))),
        landmarks.table(tuple(landmarks.landmarks(curves))),
    )
