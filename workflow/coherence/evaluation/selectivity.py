"""How much each feature and judge flags, and how much of it fails. A row a dataset and reading."""

from collections.abc import Callable, Sequence
from typing import Final

from coherence.evaluation import readings, wording
from coherence.evaluation.groups import Split
from coherence.evaluation.readings import Reading
from coherence.evaluation.render import Table, proportion_fields
from coherence.evaluation.settings import EvaluationSettings
from coherence.records import Record
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.proportions import CLOPPER_PEARSON, WILSON, Proportion, proportion


class Selectivity(Record, frozen=True):
    """Shares with Wilson and Clopper-Pearson intervals.

    `flagged`: risky of all grouped trajectories, whatever their outcome; `recall`: risky of the failures;
    `precision`: failures of the risky ones with an outcome.
    """

    reading: Reading
    flagged: Proportion
    recall: Proportion
    precision: Proportion
    unknown_outcome: int
    unjudged: int
    missing: int
    excluded: int
    simulated: str = ""


def selectivity(split: Split, settings: EvaluationSettings) -> Selectivity:
    """Return the selectivity of a split."""
    risky = [row.outcome for row in split.risky]
    grouped = [row.outcome for row in (*split.risky, *split.safe)]
    caught = risky.count("failed")
    return Selectivity(
        reading=split.reading,
        flagged=proportion(len(risky), len(grouped)),
        recall=proportion(caught, grouped.count("failed")),
        precision=proportion(caught, len(risky) - risky.count("unknown")),
        unknown_outcome=grouped.count("unknown"),
        unjudged=split.unjudged,
        missing=split.missing,
        excluded=split.excluded,
        simulated=settings.simulated.get(split.reading.dataset, ""),
    )


FIELDS: Final[dict[str, str]] = {
    **readings.FIELDS,
    **proportion_fields("flagged", "flagged_count", "flagged"),
    **proportion_fields("recall", "recall_count", "recall"),
    **proportion_fields("precision", "precision_count", "precision"),
    "interval": "flagged.interval.method",
    "n_unknown_outcome": "unknown_outcome",
    "n_unjudged": "unjudged",
    "n_missing": "missing",
    "n_excluded": "excluded",
    "simulated": "simulated",
}

_COLUMNS: Final[dict[str, Callable[[Selectivity], str]]] = {
    **readings.COLUMNS,
    "Flagged": lambda row: wording.proportion(row.flagged),
    "Failures caught": lambda row: wording.proportion(row.recall),
    "Flagged that failed": lambda row: wording.proportion(row.precision),
    "Left out": lambda row: wording.left_out(
        unjudged=row.unjudged, without_value=row.missing, excluded=row.excluded
    ),
}


def table(rows: Sequence[Selectivity]) -> Table:
    """Return `selectivity`."""
    return readings.table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="selectivity",
        title="Selectivity",
        caption=(
            f"Count/n (share in %; {LEVEL_TEXT} {WILSON} interval; {CLOPPER_PEARSON} in the CSV). Flagged: "
            "of all trajectories in either group, whatever their outcome. Failures caught and flagged that "
            "failed: of those with a known outcome."
        ),
    )
