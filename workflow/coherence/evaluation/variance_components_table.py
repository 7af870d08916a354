"""The table of components of variance."""

from collections.abc import Callable, Sequence
from typing import Final

from coherence.evaluation import wording
from coherence.evaluation.decompositions import LABELS
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table, interval_fields
from coherence.evaluation.variance_components import NestedRow, Part
from coherence.evaluation.wording import share, span
from coherence.incoherence.aggregates import JACKKNIFE_T, NO_INTERVAL
from coherence.stats.intervals import LEVEL_TEXT

PARTS: Final = ("bias", "scaffold", "setting", "context", "sampling", "verification")


def _part_fields(name: str) -> dict[str, str]:
    return {
        name: f"{name}.value",
        **interval_fields(f"{name}.interval", f"{name}_jackknife_t"),
        f"{name}_share": f"{name}.share",
        **interval_fields(f"{name}.share_interval", f"{name}_share_jackknife_t"),
    }


FIELDS: Final[dict[str, str]] = {
    "dataset": "dataset",
    "of": "of",
    "name": "name",
    "outcome": "kind",
    "decomposition": "decomposition",
    "main": "main",
    "tasks": "tasks",
    "groups": "groups",
    "scaffolds": "scaffolds",
    "scaffolds_a_task_min": "fewest",
    "scaffolds_a_task_max": "most",
    "attempts": "attempts",
    "verifications": "outcomes",
    "error": "error",
    **{field: path for name in PARTS for field, path in _part_fields(name).items()},
    "left_out": "left_out_text",
    "note": "note",
    "simulated": "simulated",
}


def part_text(part: Part | None) -> str:
    """Return "0.032; 8 % (5 to 12)", "-" for a part that is not told apart."""
    if part is None:
        return wording.NONE
    if part.share is None:
        return share(part.value)
    bounds = f" ({wording.percents(part.share_interval)})" if part.share_interval else ""
    return f"{share(part.value)}; {wording.percent(part.share)} %{bounds}"


_COLUMNS: Final[dict[str, Callable[[NestedRow], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Backbone or group": lambda row: row.name,
    "Outcome": lambda row: row.kind,
    "Decomposition": lambda row: LABELS[row.decomposition],
    "Tasks": lambda row: wording.count(row.tasks),
    "Scaffolds": lambda row: span(row.fewest, row.most) if row.is_backbone else wording.NONE,
    "Attempts": lambda row: wording.count(row.attempts),
    "Error": lambda row: share(row.error),
    "Bias": lambda row: part_text(row.bias),
    "Scaffolds differ": lambda row: part_text(row.scaffold),
    "Settings differ": lambda row: part_text(row.setting),
    "Contexts differ": lambda row: part_text(row.context),
    "Attempts differ": lambda row: part_text(row.sampling),
    "Verifications differ": lambda row: part_text(row.verification),
    "Left out": lambda row: row.left_out_text,
    "Note": lambda row: row.note or wording.NONE,
}

MEANING: Final = (
    "Bias: what all scaffolds of a backbone have in common. The parts after it are scatter, as far as runs "
    "are nested so: between scaffolds, between the groups that are settings of one scaffold, between prompt "
    "contexts, between attempts, and between verifications of one attempt. A part between scaffolds is no "
    "property of the model alone. "
)


def table(rows: Sequence[NestedRow]) -> Table:
    """Return `variance_components`."""
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="variance_components",
        title="Error of nested runs: bias, scaffolds, contexts, attempts, verifications",
        caption=(
            "The runs of one backbone under at least two scaffolds, and those of a group that are nested by "
            f"themselves. {MEANING}"
            "Each part: mean over tasks; its share of the error, a ratio of sums, in % "
            f"({LEVEL_TEXT} {JACKKNIFE_T} interval over tasks, for the scaffolds that were tried). "
            f"{NO_INTERVAL} Parts are differences of mean half squared distances of pairs, unbiased "
            "whatever the estimator "
            "elsewhere, so may be negative; they add up to the error. Scaffolds, contexts and attempts count "
            "once each: errors may differ from those of other tables. Incoherent is not harmless."
        ),
    )
