"""Everything that is asked of repeated outcomes, and the tables it makes."""

import pandas as pd

from coherence.evaluation import (
    ensembling,
    error_incoherence,
    error_incoherence_table,
    incoherence_paired,
    incoherence_strata,
    incoherence_strata_table,
    severity,
    stratum,
)
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.main_parts import by_dataset
from coherence.evaluation.render import Table
from coherence.evaluation.repeated import groups
from coherence.records import Record


class IncoherenceEvaluation(Record, frozen=True):
    """All rows of one analysis, which tables and figures are made of."""

    settings: IncoherenceSettings
    incoherence: tuple[error_incoherence.Incoherence, ...]
    strata: tuple[stratum.Stratum, ...]
    pairs: tuple[incoherence_paired.PairedRow, ...]
    votes: tuple[ensembling.Votes, ...]
    severities: tuple[severity.SeverityRow, ...]


def evaluate_outcomes(frame: pd.DataFrame, settings: IncoherenceSettings) -> IncoherenceEvaluation:
    """Return the analysis of an outcomes table, whose columns are all there and a row an attempt."""
    settings.check()
    members = list(groups(frame, settings.simulated))
    datasets = by_dataset(members).values()
    return IncoherenceEvaluation(
        settings,
        tuple(row for group in members for row in error_incoherence.incoherence(group, settings)),
        tuple(row for some in datasets for row in incoherence_strata.strata(some, settings)),
        tuple(row for some in datasets for row in incoherence_paired.pairs(some, settings)),
        tuple(row for some in datasets for row in ensembling.ensembling(some, settings)),
        tuple(row for group in members for row in severity.severities(group, settings)),
    )


def incoherence_tables(evaluation: IncoherenceEvaluation) -> tuple[Table, ...]:
    """Return `incoherence`, `incoherence_strata`, `incoherence_paired`, `ensembling` and `severity`."""
    settings = evaluation.settings
    return (
        error_incoherence_table.table(evaluation.incoherence, settings),
        incoherence_strata_table.table(evaluation.strata, settings),
        incoherence_paired.table(evaluation.pairs, settings),
        ensembling.table(evaluation.votes, settings),
        severity.table(evaluation.severities),
    )
