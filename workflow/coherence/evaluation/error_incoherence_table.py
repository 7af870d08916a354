"""The table of error incoherence."""

from collections.abc import Callable, Sequence
from typing import Final

from coherence.evaluation import wording
from coherence.evaluation.decompositions import BINARY, LABELS
from coherence.evaluation.error_incoherence import Incoherence
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table, interval_fields
from coherence.evaluation.wording import share, span
from coherence.incoherence.aggregates import DELTA_T, JACKKNIFE_T, NO_INTERVAL
from coherence.stats.intervals import LEVEL_TEXT

FIELDS: Final[dict[str, str]] = {
    **{name: name for name in ("dataset", "group", "scaffold", "backbone")},
    "outcome": "kind",
    "decomposition": "decomposition",
    "main": "main",
    "estimator": "estimator",
    "tasks": "found.items",
    "attempts": "found.attempts",
    "attempts_a_task_min": "found.fewest",
    "attempts_a_task_max": "found.most",
    **{name: f"found.{name}" for name in ("error", "bias", "variance", "incoherence")},
    **interval_fields("found.jackknife", "jackknife_t"),
    **interval_fields("found.delta", "delta_t"),
    "incoherence_plug_in": "plug_in",
    "variance_within_contexts": "sampling",
    "variance_of_contexts": "context",
    "variance_of_verifications": "verification",
    "tasks_never_wrong": "found.never_wrong",
    "tasks_with_too_few_attempts": "found.too_few",
    "tasks_of_one_context": "found.one_context",
    "left_out": "left_out_text",
    "n_answer_and_pass_disagree": "contrary",
    "n_verifications_disagree": "disagree",
    "note": "note",
    "simulated": "simulated",
}


_COLUMNS: Final[dict[str, Callable[[Incoherence], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Group": lambda row: row.group,
    "Outcome": lambda row: row.kind,
    "Decomposition": lambda row: LABELS[row.decomposition],
    "Tasks": lambda row: wording.count(row.found.items),
    "Attempts a task": lambda row: span(row.found.fewest, row.found.most),
    "Error": lambda row: share(row.found.error),
    "Bias": lambda row: share(row.found.bias),
    "Variance": lambda row: share(row.found.variance),
    "Incoherence": lambda row: share(row.found.incoherence, row.found.jackknife),
    "Left out": lambda row: row.left_out_text,
    "Note": lambda row: row.note or wording.NONE,
}


def table(rows: Sequence[Incoherence], settings: IncoherenceSettings) -> Table:
    """Return `incoherence`."""
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="incoherence",
        title="Error incoherence of repeated attempts",
        caption=(
            "Error = bias + variance, means over tasks with enough attempts; incoherence: sum of variances "
            f"/ sum of errors ({LEVEL_TEXT} {JACKKNIFE_T} interval over tasks; {DELTA_T} in the CSV). "
            f"Estimator: {settings.estimator}; KL and modal margin have no unbiased one and are "
            "jackknifed over attempts: groups with unequal attempts a task are not to be compared by them. "
            f"{NO_INTERVAL} Unbiased parts of few tasks may lie outside 0 to 1. Tasks that were never wrong "
            f'add nothing to either sum. A row marked "{BINARY}" tells nothing that the pass rates do not. '
            "Incoherent is not harmless."
        ),
    )
