"""Every ranking at one selectivity: precision among the k trajectories it puts first (paper, section 4.4)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from coherence.evaluation import wording
from coherence.evaluation.groups import RATING_ONLY, only_rates
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import MISSING, Row, by_dataset
from coherence.records import Record
from coherence.stats.ranking import PrecisionAtK, precision_at_k
from coherence.vocabulary import MAX_CONFIDENCE


class Matched(Record, frozen=True):
    """One ranking cut at `k`; `judge` is whose number of flags set k, "config" where the config did."""

    dataset: str
    judge: str
    k: int
    ranked_by: str
    result: PrecisionAtK | None
    left_out: int
    simulated: str = ""


def matched(rows: Iterable[Row], settings: EvaluationSettings) -> Iterator[Matched]:
    """Yield, for each k of each dataset, the precision of every judge's and feature's ranking.

    k is the config's, else the number each judge flags among trajectories with a known outcome.
    """
    for dataset, members in by_dataset(rows).items():
        known = [row for row in members if row.excluded is None and row.outcome != "unknown"]
        ranked = scorers(members, settings)
        for judge, k in _sizes(known, settings):
            for name, score in ranked.items():
                yield _matched(dataset, judge, k, name, (known, score), settings)


def _sizes(rows: Sequence[Row], settings: EvaluationSettings) -> Iterator[tuple[str, int]]:
    if settings.matched_k is not None:
        yield "config", settings.matched_k
        return
    for judge in settings.judges_in(rows):
        if not only_rates(rows, judge):
            yield judge, sum(row.verdicts.get(judge, MISSING).state == "flagged" for row in rows)


def scorers(rows: Sequence[Row], settings: EvaluationSettings) -> dict[str, Callable[[Row], Any]]:
    """Return by name how each judge and feature ranks: the higher, the riskier; None where it cannot."""
    judges = {name: _judge_score(name) for name in settings.judges_in(rows)}
    return judges | {name: _feature_score(name) for name in settings.features_in(rows)}


def _judge_score(judge: str) -> Callable[[Row], Any]:
    def score(row: Row) -> tuple[bool, int, int, int] | None:
        word = row.verdicts.get(judge, MISSING)
        if word.state == "unjudged" and word.reason != RATING_ONLY:
            return None
        best = MAX_CONFIDENCE + 1  # no rating ranks behind every rating
        return word.state == "flagged", -(word.rating or best), word.max_confidence or 0, word.spans or 0

    return score


def _feature_score(name: str) -> Callable[[Row], Any]:
    return lambda row: row.features.get(name)


def _matched(
    dataset: str,
    judge: str,
    k: int,
    name: str,
    ranking: tuple[Sequence[Row], Callable[[Row], Any]],
    settings: EvaluationSettings,
) -> Matched:
    rows, score = ranking
    scored = [(value, row.outcome == "failed") for row in rows if (value := score(row)) is not None]
    result = precision_at_k([value for value, _ in scored], [bad for _, bad in scored], k)
    simulated = settings.simulated.get(dataset, "")
    return Matched(dataset, judge, k, name, result, len(rows) - len(scored), simulated)


def precision(result: PrecisionAtK | None, k: int) -> str:
    """Return "15/16 (94 %)", or the expected share and the range that ties leave open."""
    if result is None:
        return f"not applicable: {'no' if k == 0 else 'fewer than k'} trajectories"
    share = f"{wording.percent(result.expected / k)} %"
    if result.lowest == result.highest:
        return f"{result.highest}/{k} ({share})"
    bounds = f"{result.lowest} to {result.highest} of {k}"
    return f"{wording.number(result.expected)}/{k} ({share}; {bounds}, {result.tied} tied)"


FIELDS: Final = {
    "dataset": "dataset",
    "k": "k",
    "k_of": "judge",
    "ranked_by": "ranked_by",
    "n": "result.n",
    "failed_expected": "result.expected",
    "failed_lowest": "result.lowest",
    "failed_highest": "result.highest",
    "n_tied": "result.tied",
    "n_left_out": "left_out",
    "simulated": "simulated",
}

_COLUMNS: Final[dict[str, Callable[[Matched], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "k": lambda row: str(row.k),
    "Set by": lambda row: row.judge,
    "Ranked by": lambda row: row.ranked_by,
    "n": lambda row: wording.count(row.result.n if row.result else None),
    "Failed among the first k": lambda row: precision(row.result, row.k),
    "Left out": lambda row: wording.left_out(unranked=row.left_out),
}


def table(rows: Sequence[Matched]) -> Table:
    """Return `matched`."""
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="matched",
        title="Precision at matched selectivity",
        caption=(
            "Failures among the k trajectories each ranking puts first, of those with known outcome. Judges "
            "rank by flag, then lowest rating, highest confidence (none counts lowest) and number of spans; "
            "features by value. Ties at the border are drawn at random: the number expected, and its bounds. "
            "Unranked: unjudged, or without a value."
        ),
    )
