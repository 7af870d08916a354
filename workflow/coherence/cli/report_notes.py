"""How the report introduces what was run: datasets and files of outcomes."""

from coherence.cli.config import Config
from coherence.cli.layout import Layout
from coherence.evaluation.outcome_sets import OutcomeSet
from coherence.files import read_json
from coherence.records import Entry
from coherence.report.blocks import DatasetNote, OutcomeNote


def dataset_note(config: Config, name: str, entries: list[Entry], left_out: dict[str, str]) -> DatasetNote:
    """Return how the report introduces a dataset: the trials that are compared, by outcome."""
    compared = [e for e in entries if e.trial.id not in left_out and e.trial.status in ("ok", "no_text")]
    outcomes = [entry.trial.outcome.status for entry in compared]
    section = config.datasets[name]
    backbones = sorted({entry.trial.backbone for entry in compared if entry.trial.backbone})
    return DatasetNote(
        name=name,
        trajectories=len(compared),
        passed=outcomes.count("passed"),
        failed=outcomes.count("failed"),
        unknown=outcomes.count("unknown"),
        backbone=section.backbone or ", ".join(backbones),
        note=section.notes,
        simulated=section.simulated,
        tasks=len({entry.trial.task for entry in compared}),
    )


def outcome_notes(config: Config, layout: Layout) -> tuple[OutcomeNote, ...]:
    """Return how the report introduces the outcome files."""
    sets = read_json(layout.outcome_sets, tuple[OutcomeSet, ...])
    return tuple(
        OutcomeNote(
            name=one.dataset,
            attempts=one.attempts,
            groups=one.groups,
            tasks=one.tasks,
            passed=one.passed,
            failed=one.failed,
            unknown=one.unknown,
            note=one.notes,
            simulated=one.simulated,
        )
        for one in sets
        if one.dataset in config.outcomes
    )
