"""How much each member of the family tells about failure: as a flag in bits, as a score by its AUROC."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from coherence.evaluation import readings, wording
from coherence.evaluation.family import counts, families, flags
from coherence.evaluation.groups import Split
from coherence.evaluation.matched import scorers
from coherence.evaluation.readings import Reading
from coherence.evaluation.render import Table
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row
from coherence.records import Record
from coherence.stats.auroc import (
    DELONG,
    SIGN_FLIP,
    Auroc,
    AurocDifference,
    auroc,
    delong,
    permutation_p,
)
from coherence.stats.information import Information, information
from coherence.stats.intervals import LEVEL_TEXT, Bootstrap

Scored = dict[str, tuple[Any, bool]]
MOST_PAIRS: Final = 40_000  # failures times passes; above it the permutation test is left out


class Versus(Record, frozen=True):
    """The area of `name` less that of the row, on the `n` trajectories both score."""

    name: str
    n: int
    difference: AurocDifference
    permutation_p: float | None


class Score(Record, frozen=True):
    """What a reading tells as a flag and as a score, None where one outcome is empty.

    `versus` compares the first member of the family with this one.
    """

    reading: Reading
    n: int
    information: Information | None
    auroc: Auroc | None
    versus: Versus | None = None
    simulated: str = ""


def scores(splits: Sequence[Split], settings: EvaluationSettings) -> Iterator[Score]:
    """Yield each member of each family; the first is compared with all others."""
    for dataset, members in families(splits, settings).items():
        rows = [row for member in members for row in (*member.risky, *member.safe)]
        if not rows:
            continue
        ranked = scorers(rows, settings)
        first = _scored(members[0], ranked[members[0].reading.name])
        for member in members:
            own = _scored(member, ranked[member.reading.name])
            versus = None
            if member is not members[0]:
                versus = _versus(members[0].reading.name, first, own, settings.bootstrap)
            yield Score(
                reading=member.reading,
                n=len(own),
                information=information(counts(member)),
                auroc=auroc([score for score, _ in own.values()], [bad for _, bad in own.values()]),
                versus=versus,
                simulated=settings.simulated.get(dataset, ""),
            )


def _scored(split: Split, score: Callable[[Row], Any]) -> Scored:
    found = {name: (score(row), row.outcome == "failed") for name, (row, _) in flags(split).items()}
    return {name: pair for name, pair in sorted(found.items()) if pair[0] is not None}


def _versus(name: str, first: Scored, second: Scored, settings: Bootstrap) -> Versus | None:
    common = [trajectory for trajectory in first if trajectory in second]
    failed = [first[trajectory][1] for trajectory in common]
    sides = [[scored[trajectory][0] for trajectory in common] for scored in (first, second)]
    difference = delong(sides[0], sides[1], failed)
    if difference is None:
        return None
    p = None
    if sum(failed) * (len(failed) - sum(failed)) <= MOST_PAIRS:
        p = permutation_p(sides[0], sides[1], failed, settings)
    return Versus(name, len(common), difference, p)


FIELDS: Final[dict[str, str]] = {
    **readings.FIELDS,
    "n": "n",
    "sensitivity": "information.sensitivity",
    "specificity": "information.specificity",
    "balanced_accuracy": "information.balanced_accuracy",
    "phi": "information.phi",
    "bits": "information.bits",
    "bits_per_flag": "information.bits_per_flag",
    "auroc": "auroc.value",
    "auroc_low": "auroc.interval.low",
    "auroc_high": "auroc.interval.high",
    "auroc_interval": "auroc.interval.method",
    "auroc_ties_lowest": "auroc.lowest",
    "auroc_ties_highest": "auroc.highest",
    "versus": "versus.name",
    "versus_n": "versus.n",
    "versus_difference": "versus.difference.difference",
    "delong_z": "versus.difference.z",
    "delong_p": "versus.difference.p",
    "permutation_p": "versus.permutation_p",
    "simulated": "simulated",
}


def _bits(row: Score) -> str:
    found = row.information
    return wording.NONE if found is None else f"{wording.estimate(found.bits, decimals=3)}"


def _area(row: Score) -> str:
    found = row.auroc
    if found is None:
        return wording.NONE
    text = wording.estimate(found.value, found.interval)
    if found.lowest == found.highest:
        return text
    return f"{text}; ties {wording.estimate(found.lowest)} to {wording.estimate(found.highest)}"


def _against(row: Score) -> str:
    if row.versus is None:
        return wording.NONE
    found = row.versus.difference
    return (
        f"{found.difference:+.2f}, p {wording.p_value(found.p)} / {wording.p_value(row.versus.permutation_p)}"
    )


_COLUMNS: Final[dict[str, Callable[[Score], str]]] = {
    **readings.COLUMNS,
    "n": lambda row: wording.count(row.n),
    "Sensitivity": lambda row: wording.estimate(row.information.sensitivity if row.information else None),
    "Specificity": lambda row: wording.estimate(row.information.specificity if row.information else None),
    "Balanced": lambda row: wording.estimate(row.information.balanced_accuracy if row.information else None),
    "Phi": lambda row: wording.estimate(row.information.phi if row.information else None),
    "Bits": _bits,
    "Bits a flag": lambda row: wording.estimate(
        row.information.bits_per_flag if row.information else None, decimals=3
    ),
    "AUROC": _area,
    "First less this": _against,
}


def table(rows: Sequence[Score], settings: EvaluationSettings) -> Table:
    """Return `scores`."""
    draws = f"{settings.bootstrap.resamples:,} draws, seed {settings.bootstrap.seed}"
    return readings.table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="scores",
        title="What each flag and each score tell about failure",
        caption=(
            "Trajectories with a known outcome. Bits: mutual information of group and outcome; a flag: "
            "divided by the share flagged. AUROC: judges by flag, then lowest rating, highest confidence "
            f"and number of spans, features by value; ties count half ({LEVEL_TEXT} {DELONG} interval), "
            "and the area if all ties fell one way or the other. First less this: the area of the "
            f"family's first member less the row's, on trajectories both score; p by {DELONG} / by "
            f"{SIGN_FLIP} ({draws})."
        ),
    )
