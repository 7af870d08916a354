"""The paper's numbers read off a run, where the run has datasets under the paper's names.

The first judge that flags stands for the paper's detector, the first that rates for its generic judge.
"""

from collections.abc import Mapping, Sequence
from statistics import mean, median
from typing import Final

from coherence.evaluation.evaluate import Evaluation
from coherence.evaluation.failure_rates import FailureRate
from coherence.evaluation.lead_time import SHARE
from coherence.evaluation.numbers import Value
from coherence.evaluation.paraphrased import ALL, WITHOUT, Summary, first_paraphrase
from coherence.evaluation.published import DETECTOR, FIRST, SECOND
from coherence.evaluation.readings import FLAGGED, NO_JUDGE, WITHOUT_SEEDS
from coherence.evaluation.recomputed import GENERIC, LEXICAL, Found, Tables, from_tables, percent, value
from coherence.evaluation.table import Row, by_dataset, known
from coherence.stats.tables import Counts
from coherence.stats.tertiles import tertiles

DATASETS: Final = (FIRST, SECOND)
THOUGHTS: Final = "think_chars"
RATED: Final = "rating at most"
K: Final = 16  # 4.4
EXAMPLES: Final = (  # 4.4, in the order of `numbers.csv`
    "protein-assembly",
    "rstan-to-pystan",
    "bn-fit-modify",
    "cobol-modernization",
    "headless-terminal",
)
LEADS: Final[dict[str, tuple[str, str, float]]] = {  # id: measure, statistic, factor
    "median_frac": (SHARE, "median", 100),
    "median_steps": ("steps left", "median", 1),
    "mean_steps": ("steps left", "mean", 1),
}


def from_run(
    evaluation: Evaluation, rows: Sequence[Row], paraphrased: Sequence[Summary] = ()
) -> dict[str, Value]:
    """Return by id what the run's datasets of the paper's names give; nothing where it has none."""
    tables, without_seeds = _tables(evaluation.failure_rates)
    found = from_tables(tables, without_seeds)
    members = by_dataset(row for row in rows if row.excluded is None)
    for dataset in DATASETS:
        if dataset in members and (detector := _detector(evaluation.failure_rates, dataset)):
            found |= dict(_thoughts(dataset, members[dataset], detector))
            found |= dict(_markers(dataset, members[dataset]))
            found |= dict(_leads(evaluation, dataset, detector))
    if FIRST in members and (detector := _detector(evaluation.failure_rates, FIRST)):
        found |= dict(_overlap(evaluation, FIRST, detector))
        found |= dict(_paraphrase(first_paraphrase(paraphrased, FIRST, detector)))
    shares = [found[f"{name}.lead.median_frac"] for name in DATASETS if f"{name}.lead.median_frac" in found]
    if len(shares) == len(DATASETS):
        ends = [share.numbers[0] for share in shares]
        found["lead.range_both_models"] = value(min(ends), max(ends))
    return found


def _detector(rates: Sequence[FailureRate], dataset: str) -> str | None:
    own = (row.reading for row in rates if row.reading.dataset == dataset)
    return next((reading.judge for reading in own if reading.label == FLAGGED), None)


def _tables(rates: Sequence[FailureRate]) -> tuple[Tables, Counts | None]:
    """Return the run's 2x2 tables under the paper's names, and that without the prompt's own tasks."""
    tables: dict[tuple[str, str], Counts] = {}
    without_seeds = None
    for row in rates:
        dataset, label, counts = row.reading.dataset, row.reading.label, row.comparison.counts
        if dataset not in DATASETS:
            continue
        if row.reading.judge == NO_JUDGE:
            tables[dataset, row.reading.name] = counts
        elif row.reading.judge == _detector(rates, dataset) and label == FLAGGED:
            tables[dataset, DETECTOR] = counts
        elif row.reading.judge == _detector(rates, dataset) and label == f"{FLAGGED}{WITHOUT_SEEDS}":
            without_seeds = counts if dataset == FIRST else without_seeds
        elif label.startswith(RATED) and not label.endswith(WITHOUT_SEEDS):
            tables.setdefault((dataset, GENERIC), counts)
    return {key: table for key, table in tables.items() if table.n}, without_seeds


def _known(rows: Sequence[Row], feature: str) -> dict[str, float]:
    """Return a feature's values by trajectory, without those that are not known."""
    return {row.id: value for row in rows if (value := known(row, feature)) is not None}


def _counts(rows: Sequence[Row], detector: str) -> Counts:
    groups: dict[bool, list[bool]] = {True: [], False: []}
    for row in rows:
        if row.outcome != "unknown" and row.verdicts[detector].state != "unjudged":
            groups[row.verdicts[detector].state == "flagged"].append(row.outcome == "failed")
    return Counts(sum(groups[True]), len(groups[True]), sum(groups[False]), len(groups[False]))


def _thoughts(dataset: str, rows: Sequence[Row], detector: str) -> Found:
    """Yield gaps within tertiles of thought characters, their ranges, and trajectories without a thought."""
    compared = {row.id: row for row in rows if row.outcome != "unknown"}
    chars = _known(tuple(compared.values()), THOUGHTS)
    if not chars:
        return
    thirds = tertiles(chars)
    for name, third in zip(("low", "mid", "high"), thirds, strict=True):
        gap = _counts([compared[one] for one in third.members], detector).gap
        if gap is not None:
            yield f"{dataset}.tertile.{name}.gap", value(gap)
    none = [compared[name] for name, number in chars.items() if number == 0]
    failed = sum(row.outcome == "failed" for row in none)
    whole = (len(none),) if dataset == FIRST else (len(none), failed, len(none) - failed)
    yield f"{dataset}.zero_think", value(*whole)
    yield f"{dataset}.with_think", value(len(chars) - len(none), len(chars))
    yield f"{dataset}.think_chars.median", value(median(chars.values()))
    if dataset == FIRST:
        low, middle, high = thirds
        yield f"{dataset}.tertile.ranges_chars", value(low.low, low.high, middle.low, middle.high, high.low)


def _markers(dataset: str, rows: Sequence[Row]) -> Found:
    """Yield summaries of the marker counts, and those of the trajectories named as examples."""
    markers = _known(rows, LEXICAL)
    if not markers:
        return
    yield f"{dataset}.markers.median", value(median(markers.values()))
    yield f"{dataset}.markers.mean", value(mean(markers.values()))
    if dataset == FIRST:
        yield f"{dataset}.markers.max", value(max(markers.values()))
        named = {row.task: markers[row.id] for row in rows if row.id in markers}
        if all(task in named for task in EXAMPLES):
            yield f"{dataset}.examples.markers", value(*(named[task] for task in EXAMPLES))


def _leads(evaluation: Evaluation, dataset: str, detector: str) -> Found:
    """Yield the lead time of flagged failures."""
    for row in evaluation.lead_times:
        if (row.dataset, row.judge, row.of) == (dataset, detector, "failures") and row.summary.n:
            for name, (measure, statistic, factor) in LEADS.items():
                if row.measure == measure:
                    yield f"{dataset}.lead.{name}", value(factor * getattr(row.summary, statistic))


def _overlap(evaluation: Evaluation, dataset: str, detector: str) -> Found:
    """Yield the detector's flags against as many with most markers; nothing where ties leave these open."""
    found = next(
        (
            row
            for row in evaluation.overlaps
            if (row.dataset, row.judge, row.feature, row.k, row.tied) == (dataset, detector, LEXICAL, K, 0)
        ),
        None,
    )
    if found is None:
        return
    sides = {
        "both": found.both,
        "detector_only": found.judge_only,
        "lexical_only": found.feature_only,
        "neither": found.neither,
    }
    for name, side in sides.items():
        yield f"{dataset}.overlap.{name}", value(side.n, side.count)
    medians = {"detector_only": found.judge_only_median, "lexical_only": found.feature_only_median}
    for name, middle in medians.items():
        if middle is not None:
            yield f"{dataset}.overlap.{name}.median_markers", value(middle)
    yield f"{dataset}.k16.lexical_precision", value(percent(found.both.count + found.feature_only.count, K))
    yield f"{dataset}.selectivity.intersection", value(percent(found.both.n, found.n))


def _paraphrase(found: Mapping[str, Summary]) -> Found:
    """Yield the first paraphrase of the detector's flags; without seeds where it has left any out."""
    if ALL not in found:
        return
    whole = found[ALL]
    yield "paraphrase.flag_preserved", value(whole.kept.count, whole.kept.n)
    yield "paraphrase.spans", value(whole.spans_before, whole.spans_after)
    yield "paraphrase.type_identical", value(whole.same_surest_type.count, whole.same_surest_type.n)
    kept = found.get(WITHOUT, whole).kept
    yield "paraphrase.nonseed", value(kept.count, kept.n)
