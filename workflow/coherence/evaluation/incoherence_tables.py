"""Everything that is asked of repeated outcomes, and the tables it makes."""

from collections.abc import Sequence

import pandas as pd

from coherence.evaluation import (
    ensembling,
    error_incoherence,
    error_incoherence_table,
    incoherence_paired,
    incoherence_paired_table,
    incoherence_strata,
    incoherence_strata_table,
    meeting,
    meeting_table,
    mitigation,
    severity,
    stratum,
    variance_components,
    variance_components_table,
)
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.main_parts import by_dataset
from coherence.evaluation.render import Table
from coherence.evaluation.repeated import groups
from coherence.evaluation.table import Row
from coherence.records import Record


class IncoherenceEvaluation(Record, frozen=True):
    """All rows of one analysis, which tables and figures are made of."""

    settings: IncoherenceSettings
    incoherence: tuple[error_incoherence.Incoherence, ...]
    strata: tuple[stratum.Stratum, ...]
    pairs: tuple[incoherence_paired.PairedRow, ...]
    votes: tuple[ensembling.Votes, ...]
    severities: tuple[severity.SeverityRow, ...]
    failing: tuple[mitigation.FailingTask, ...]
    meetings: tuple[meeting.Meeting, ...]
    nested: tuple[variance_components.NestedRow, ...] = ()


def evaluate_outcomes(
    frame: pd.DataFrame,
    settings: IncoherenceSettings,
    judged: Sequence[Row] = (),
    judges: meeting.Judges = meeting.NOBODY,
) -> IncoherenceEvaluation:
    """Return the analysis of an outcomes table, whose columns are all there and a row an attempt.

    `judged` are the trajectories of the attempts that have any, with what the `judges` say of them.
    """
    settings.check()
    members = list(groups(frame, settings.simulated))
    datasets = by_dataset(members).values()
    return IncoherenceEvaluation(
        settings,
        tuple(row for group in members for row in error_incoherence.incoherence(group, settings)),
        tuple(row for some in datasets for row in incoherence_strata.strata(some, settings)),
        tuple(row for some in datasets for row in incoherence_paired.pairs(some, settings)),
        tuple(row for some in datasets for row in ensembling.ensembling(some, settings)),
        tuple(row for some in datasets for row in severity.severities(some, settings)),
        tuple(mitigation.failing_tasks(members, settings)),
        tuple(meeting.meetings(members, judged, judges, settings)),
        tuple(row for some in datasets for row in variance_components.nested_rows(some, settings)),
    )


def incoherence_tables(evaluation: IncoherenceEvaluation) -> tuple[Table, ...]:
    """Return the tables of the analysis."""
    settings = evaluation.settings
    return (
        error_incoherence_table.table(evaluation.incoherence, settings),
        incoherence_strata_table.table(evaluation.strata, settings),
        incoherence_paired_table.table(evaluation.pairs, settings),
        ensembling.table(evaluation.votes, settings),
        severity.table(evaluation.severities),
        mitigation.table(evaluation.failing),
        meeting_table.table(evaluation.meetings),
        variance_components_table.table(evaluation.nested),
    )


def parted(
    evaluation: IncoherenceEvaluation, datasets: Sequence[str], rest: str
) -> dict[str, IncoherenceEvaluation]:
    """Return the analysis of each of the datasets by itself, and that of all others under `rest`."""
    names = (*datasets, rest)
    lists = [name for name in IncoherenceEvaluation.__struct_fields__ if name != "settings"]

    def own(name: str) -> IncoherenceEvaluation:
        chosen = {
            field: tuple(
                row
                for row in getattr(evaluation, field)
                if (row.dataset if row.dataset in datasets else rest) == name
            )
            for field in lists
        }
        return IncoherenceEvaluation(evaluation.settings, **chosen)

    return {name: own(name) for name in names}
