"""The declared family of a dataset: one reading of each judge and feature, tested side by side."""

from collections import defaultdict
from collections.abc import Iterable

from coherence.evaluation.failure_rates import counts_of, with_outcome
from coherence.evaluation.groups import Split
from coherence.evaluation.readings import ANY_SPAN, CONFIDENT, FLAGGED, NULL_UNFLAGGED, WITHOUT_SEEDS, Reading
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row
from coherence.stats.tables import Counts


def is_primary(reading: Reading) -> bool:
    """Whether it is the reading of its judge or feature, and not one of the variants beside it."""
    variant = reading.label.startswith(CONFIDENT) or reading.label.endswith(WITHOUT_SEEDS)
    return not variant and reading.label not in (ANY_SPAN, NULL_UNFLAGGED)


def is_detector(reading: Reading) -> bool:
    """Whether it is a judge's own flag."""
    return reading.label == FLAGGED


def families(splits: Iterable[Split], settings: EvaluationSettings) -> dict[str, list[Split]]:
    """Return the members of each dataset's family, in the order of the splits."""
    members: dict[str, list[Split]] = defaultdict(list)
    for split in splits:
        reading = split.reading
        if is_primary(reading) and (settings.family is None or reading.name in settings.family):
            members[reading.dataset].append(split)
    return members


def compared(split: Split) -> tuple[list[Row], list[Row]]:
    """Return the risky and the safe rows with known outcomes."""
    return with_outcome(split.risky), with_outcome(split.safe)


def counts(split: Split) -> Counts:
    """Return the failures and sizes of the groups of a split."""
    return counts_of(*compared(split))


def flags(split: Split) -> dict[str, tuple[Row, bool]]:
    """Return each row with a known outcome by id, and whether it is risky."""
    risky, safe = compared(split)
    return {row.id: (row, True) for row in risky} | {row.id: (row, False) for row in safe}
