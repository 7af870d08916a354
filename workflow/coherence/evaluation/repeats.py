"""How far a judge agrees with itself, and whether its majority finds what a single call finds."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from coherence.evaluation import wording
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table, proportion_fields
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row
from coherence.judges.samples import majority
from coherence.records import Judgement, JudgementState, Record
from coherence.stats.agreement import (
    ITEM_BOOTSTRAP,
    Estimate,
    Ratings,
    estimate,
    flip_rate,
    gwet_ac1,
    krippendorff_alpha,
)
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.proportions import CLOPPER_PEARSON, Proportion, clopper_pearson, proportion
from coherence.stats.rounding import half_up
from coherence.stats.tables import NEWCOMBE, Comparison, Counts, compare


class Repeats(Record, frozen=True):
    """The samples of one judge on one dataset, over the trajectories with at least two judged ones.

    `samples` is the most that any trajectory has. Left out are trajectories with fewer than two judged
    samples, and those without thoughts, about which nobody is asked. `majority` and `single` compare the
    failure rates of flagged and unflagged trajectories by the majority and by the first sample alone.
    """

    dataset: str
    judge: str
    samples: int
    n: int
    unanimous: Proportion
    flip_rate: Estimate
    ac1: Estimate
    alpha: Estimate
    majority: Comparison
    single: Comparison
    unjudged: int
    without_thoughts: int
    simulated: str = ""


def repeats(
    judge: str, words: Sequence[Judgement], rows: Sequence[Row], settings: EvaluationSettings
) -> Repeats | None:
    """Return how far a judge's samples of one dataset agree, None where it was asked once."""
    samples = max((word.sample for word in words), default=0) + 1
    if samples == 1 or not rows:
        return None
    thoughtless = {word.trajectory for word in words if word.substrate == "none"}
    names = dict.fromkeys(word.trajectory for word in words if word.trajectory not in thoughtless)
    counts = _counts([word for word in words if word.trajectory in names])
    return Repeats(
        dataset=rows[0].dataset,
        judge=judge,
        samples=samples,
        n=len(counts),
        unanimous=proportion(int((counts == 0).any(axis=1).sum()), len(counts), clopper_pearson),
        flip_rate=estimate(counts, flip_rate, settings.bootstrap),
        ac1=estimate(counts, gwet_ac1, settings.bootstrap),
        alpha=krippendorff_alpha(counts),
        majority=_gap(majority(words), rows),
        single=_gap(_first(words), rows),
        unjudged=len(names) - len(counts),
        without_thoughts=len(thoughtless),
        simulated=settings.simulated.get(rows[0].dataset, ""),
    )


def estimate_text(value: Estimate) -> str:
    """Return "0.58 (0.27 to 0.89)", without bounds where they say nothing."""
    if value.value is None:
        return wording.NONE
    text = str(half_up(value.value, 2))
    if value.interval is None or not value.interval.has_width:
        return text
    return f"{text} ({half_up(value.interval.low, 2)} to {half_up(value.interval.high, 2)})"


def _counts(words: Iterable[Judgement]) -> Ratings:
    """Return (unflagged, flagged) of each trajectory with at least two judged samples."""
    states: dict[str, list[JudgementState]] = {}
    for word in words:
        if word.state != "unjudged":
            states.setdefault(word.trajectory, []).append(word.state)
    pairs = [(said.count("unflagged"), said.count("flagged")) for said in states.values() if len(said) > 1]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _first(words: Iterable[Judgement]) -> dict[str, Judgement]:
    ordered = sorted(words, key=lambda word: word.sample, reverse=True)
    return {word.trajectory: word for word in ordered}


def _gap(words: Mapping[str, Judgement], rows: Iterable[Row]) -> Comparison:
    known = [row for row in rows if row.excluded is None and row.outcome != "unknown" and row.id in words]

    def group(state: JudgementState) -> tuple[int, int]:
        members = [row for row in known if words[row.id].state == state]
        return sum(row.outcome == "failed" for row in members), len(members)

    return compare(Counts(*group("flagged"), *group("unflagged")))


def _estimate_fields(path: str) -> dict[str, str]:
    return {
        path: f"{path}.value",
        f"{path}_low": f"{path}.interval.low",
        f"{path}_high": f"{path}.interval.high",
    }


def _gap_fields(path: str) -> dict[str, str]:
    return {
        f"{path}_flagged_fail": f"{path}.counts.risky_fail",
        f"{path}_flagged_n": f"{path}.counts.risky_n",
        f"{path}_unflagged_fail": f"{path}.counts.safe_fail",
        f"{path}_unflagged_n": f"{path}.counts.safe_n",
        f"{path}_gap": f"{path}.gap",
        f"{path}_gap_low": f"{path}.interval.low",
        f"{path}_gap_high": f"{path}.interval.high",
    }


FIELDS: Final[dict[str, str]] = {
    "dataset": "dataset",
    "judge": "judge",
    "samples": "samples",
    "n": "n",
    **proportion_fields("unanimous", "unanimous_count", "unanimous"),
    **_estimate_fields("flip_rate"),
    "flip_rate_interval": "flip_rate.interval.method",
    "resamples": "flip_rate.interval.resamples",
    "seed": "flip_rate.interval.seed",
    **_estimate_fields("ac1"),
    "alpha": "alpha.value",
    "alpha_reason": "alpha.reason",
    **_gap_fields("majority"),
    **_gap_fields("single"),
    "n_unjudged": "unjudged",
    "n_without_thoughts": "without_thoughts",
    "simulated": "simulated",
}

_COLUMNS: Final[dict[str, Callable[[Repeats], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Judge": lambda row: row.judge,
    "Samples": lambda row: str(row.samples),
    "n": lambda row: wording.count(row.n),
    "Unanimous": lambda row: wording.proportion(row.unanimous),
    "Flip rate": lambda row: estimate_text(row.flip_rate),
    "AC1": lambda row: estimate_text(row.ac1),
    "Alpha": lambda row: estimate_text(row.alpha),
    "Gap by majority": lambda row: wording.gap(row.majority),
    "Gap by first sample": lambda row: wording.gap(row.single),
    "Left out": lambda row: wording.left_out(
        with_fewer_than_two_judged_samples=row.unjudged, without_thoughts=row.without_thoughts
    ),
}


def table(rows: Sequence[Repeats], settings: EvaluationSettings) -> Table:
    """Return `repeats`: a row a judge that was asked more than once."""
    draws = f"{settings.bootstrap.resamples:,} resamples, seed {settings.bootstrap.seed}"
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="repeats",
        title="Agreement of repeated judgements",
        caption=(
            "n: trajectories with at least two judged samples. Unanimous: count/n (share in %; "
            f"{LEVEL_TEXT} {CLOPPER_PEARSON} interval). Flip rate: how often two samples of a trajectory "
            f"differ; AC1: Gwet's ({LEVEL_TEXT} {ITEM_BOOTSTRAP}, {draws}). Alpha: Krippendorff's, nominal. "
            "Elsewhere the majority of the judged samples counts, a tie as unflagged. Gap: failure rate "
            f"of flagged less unflagged in percentage points ({LEVEL_TEXT} {NEWCOMBE} interval), by "
            "majority and by the first sample alone."
        ),
    )
