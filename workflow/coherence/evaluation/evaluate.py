"""Everything asked of the table, asked at once."""

from collections.abc import Mapping, Sequence

from coherence.evaluation import failure_rates, lead_time, matched, selectivity
from coherence.evaluation.failure_rates import FailureRate
from coherence.evaluation.first_flags import FirstFlag, Timeline, first_flags
from coherence.evaluation.groups import splits
from coherence.evaluation.lead_time import LeadTime
from coherence.evaluation.matched import Matched
from coherence.evaluation.render import Table
from coherence.evaluation.selectivity import Selectivity
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row
from coherence.records import Record


class Evaluation(Record, frozen=True):
    """The answers, datasets in the order of the rows they were asked of."""

    settings: EvaluationSettings
    failure_rates: tuple[FailureRate, ...]
    selectivity: tuple[Selectivity, ...]
    first_flags: tuple[FirstFlag, ...]
    lead_times: tuple[LeadTime, ...]
    matched: tuple[Matched, ...]


def evaluate(
    rows: Sequence[Row], settings: EvaluationSettings, timelines: Mapping[str, Mapping[str, Timeline]]
) -> Evaluation:
    """Return the evaluation of the rows of any datasets; `timelines` is by dataset, then trajectory id."""
    divided = tuple(splits(rows, settings))
    flags = tuple(first_flags(rows, timelines, settings))
    return Evaluation(
        settings=settings,
        failure_rates=tuple(failure_rates.failure_rate(split, settings) for split in divided),
        selectivity=tuple(selectivity.selectivity(split, settings) for split in divided),
        first_flags=flags,
        lead_times=tuple(lead_time.lead_times(rows, flags, settings)),
        matched=tuple(matched.matched(rows, settings)),
    )


def tables(evaluation: Evaluation) -> tuple[Table, ...]:
    """Return the tables of an evaluation."""
    return (
        failure_rates.table(evaluation.failure_rates, evaluation.settings),
        selectivity.table(evaluation.selectivity),
        matched.table(evaluation.matched),
        lead_time.table(evaluation.lead_times),
    )
