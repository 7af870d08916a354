"""Any number of judges on the same trajectories: how far each two, and all together, say the same."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final

import numpy as np
from msgspec.structs import replace

from coherence.evaluation import wording
from coherence.evaluation.agreement import (
    ASYMPTOTIC,
    Kappa,
    exact_share,
    flagging,
    kappa,
    kappa_text,
    met,
    same_type,
)
from coherence.evaluation.family import is_primary
from coherence.evaluation.groups import Split, splits
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table, proportion_fields
from coherence.evaluation.repeats import estimate_text
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, by_dataset
from coherence.records import Judgement, Record
from coherence.stats.agreement import ITEM_BOOTSTRAP, Estimate, estimate, gwet_ac1, krippendorff_alpha
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.proportions import CLOPPER_PEARSON, Proportion

Words = Mapping[str, Mapping[str, Mapping[str, Judgement]]]  # by dataset, judge and trajectory
Flags = dict[str, bool]  # by trajectory; those without a thought to read are left out


class Spans(Record, frozen=True):
    """Where two judges flag: spans of each that share a step with one of the other, and equal types.

    `types` are the second's spans met whose nearest span of the first has their type.
    """

    first: Proportion
    second: Proportion
    types: Proportion


class JudgePair(Record, frozen=True):
    """Two judges on the trajectories both judged, or all of them where `second` is "".

    Where the second is a reference, `precision` is the share of the first's flags that it flags too and
    `recall` the share of its flags found. Trajectories without a thought, about which nobody is asked, are
    counted and left out.
    """

    dataset: str
    first: str
    second: str
    n: int
    ac1: Estimate
    alpha: Estimate
    agreed: Proportion
    both: int | None = None
    first_only: int | None = None
    second_only: int | None = None
    neither: int | None = None
    kappa: Kappa | None = None
    spans: Spans | None = None
    precision: Proportion | None = None
    recall: Proportion | None = None
    left_out: int = 0
    without_thoughts: int = 0
    simulated: str = ""


def judge_splits_of(rows: Sequence[Row], settings: EvaluationSettings) -> dict[str, Split]:
    """Return one dataset divided by each judge in its primary reading."""
    judges = replace(settings, features=(), confidence_at_least=None)
    return {split.reading.name: split for split in splits(rows, judges) if is_primary(split.reading)}


def peers(rows: Sequence[Row], settings: EvaluationSettings) -> dict[str, Split]:
    """Return one dataset divided by each judge that judges by itself, and not another one's spans."""
    divided = judge_splits_of(rows, settings)
    return {judge: split for judge, split in divided.items() if judge not in settings.second_looks}


def flags_of(split: Split) -> Flags:
    """Return what a judge flags, whatever came of it, of the trajectories it had a thought to read in."""
    judge = split.reading.judge
    sides = [(row, True) for row in split.risky] + [(row, False) for row in split.safe]
    return {row.id: side for row, side in sides if row.verdicts[judge].substrate != "none"}


def cross_judge(rows: Iterable[Row], settings: EvaluationSettings, words: Words) -> Iterator[JudgePair]:
    """Yield each two judges of each dataset, then all together where they are more; a reference is second."""
    for dataset, members in by_dataset(rows).items():
        divided = peers(members, settings)
        flags = {judge: flags_of(split) for judge, split in divided.items()}
        for pair in combinations(flags, 2):
            first, second = sorted(pair, key=lambda judge: judge in settings.references)
            found = _pair(dataset, (first, second), flags, words.get(dataset, {}), settings)
            yield _counted(found, members, {judge: flags[judge] for judge in pair}, settings)
        if len(flags) > 2:
            yield _counted(_all(dataset, flags, settings), members, flags, settings)


def _counted(
    found: JudgePair, rows: Sequence[Row], flags: Mapping[str, Flags], settings: EvaluationSettings
) -> JudgePair:
    """Return the comparison with what it leaves out: what fewer than two of its judges judged."""
    included = [row for row in rows if row.excluded is None]
    outside = [row for row in included if sum(row.id in said for said in flags.values()) < 2]
    silent = sum(
        any(judge in row.verdicts and row.verdicts[judge].substrate == "none" for judge in flags)
        for row in outside
    )
    return replace(
        found,
        left_out=len(outside) - silent,
        without_thoughts=silent,
        simulated=settings.simulated.get(found.dataset, ""),
    )


def _pair(
    dataset: str,
    judges: tuple[str, str],
    flags: Mapping[str, Flags],
    words: Mapping[str, Mapping[str, Judgement]],
    settings: EvaluationSettings,
) -> JudgePair:
    ours, theirs = flags[judges[0]], flags[judges[1]]
    common = [name for name in ours if name in theirs]
    sides = [(ours[name], theirs[name]) for name in common]
    both, first_only, second_only, neither = (
        sides.count(way) for way in ((True, True), (True, False), (False, True), (False, False))
    )
    is_reference = judges[1] in settings.references
    counts = np.array([(2 - sum(pair), sum(pair)) for pair in sides], dtype=np.int64).reshape(-1, 2)
    return JudgePair(
        dataset=dataset,
        first=judges[0],
        second=judges[1],
        n=len(common),
        ac1=estimate(counts, gwet_ac1, settings.bootstrap),
        alpha=krippendorff_alpha(counts),
        agreed=exact_share(both + neither, len(common)),
        both=both,
        first_only=first_only,
        second_only=second_only,
        neither=neither,
        kappa=kappa(both, first_only, second_only, neither),
        spans=_spans(with_spans(common, [words.get(judge, {}) for judge in judges])),
        precision=exact_share(both, both + first_only) if is_reference else None,
        recall=exact_share(both, both + second_only) if is_reference else None,
    )


def with_spans(
    names: Iterable[str], words: Sequence[Mapping[str, Judgement]]
) -> list[tuple[Judgement, Judgement]]:
    """Return two judges' judgements of these trajectories, where both say which spans they rest on.

    None at all where a judge flags and never says where: what it leaves unflagged would be all that is left.
    """
    said = [tuple(judged[name] for judged in words if name in judged) for name in names]
    pairs = [pair for pair in said if len(pair) == 2 and all(word.state != "unjudged" for word in pair)]
    for side in (0, 1):
        flagged = [pair[side] for pair in pairs if pair[side].state == "flagged"]
        if flagged and not any(word.spans_known for word in flagged):
            return []
    return [(one, two) for one, two in pairs if one.spans_known and two.spans_known]


def _spans(pairs: Sequence[tuple[Judgement, Judgement]]) -> Spans | None:
    if not pairs:
        return None
    flagged = [(flagging(one), flagging(two)) for one, two in pairs]
    return Spans(met(flagged), met([(two, one) for one, two in flagged]), same_type(pairs))


def _all(dataset: str, flags: Mapping[str, Flags], settings: EvaluationSettings) -> JudgePair:
    names = list(dict.fromkeys(name for said in flags.values() for name in said))
    ratings = [[said[name] for said in flags.values() if name in said] for name in names]
    pairs = [(len(said) - sum(said), sum(said)) for said in ratings if len(said) > 1]
    counts = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return JudgePair(
        dataset=dataset,
        first=f"all {len(flags)}: {', '.join(flags)}",
        second="",
        n=len(pairs),
        ac1=estimate(counts, gwet_ac1, settings.bootstrap),
        alpha=krippendorff_alpha(counts),
        agreed=exact_share(sum(0 in pair for pair in pairs), len(pairs)),
    )


FIELDS: Final[dict[str, str]] = {
    "dataset": "dataset",
    "first": "first",
    "second": "second",
    "n": "n",
    "both_flag": "both",
    "first_only": "first_only",
    "second_only": "second_only",
    "neither_flags": "neither",
    **proportion_fields("agreed", "agreed_count", "agreed"),
    "kappa": "kappa.value",
    "kappa_low": "kappa.interval.low",
    "kappa_high": "kappa.interval.high",
    "kappa_reason": "kappa.reason",
    "ac1": "ac1.value",
    "ac1_low": "ac1.interval.low",
    "ac1_high": "ac1.interval.high",
    "resamples": "ac1.interval.resamples",
    "seed": "ac1.interval.seed",
    "alpha": "alpha.value",
    "alpha_reason": "alpha.reason",
    **proportion_fields("spans.first", "first_spans_met", "first_spans"),
    **proportion_fields("spans.second", "second_spans_met", "second_spans"),
    **proportion_fields("spans.types", "types_equal", "types"),
    **proportion_fields("precision", "precision_count", "precision"),
    **proportion_fields("recall", "recall_count", "recall"),
    "n_left_out": "left_out",
    "n_without_thoughts": "without_thoughts",
    "simulated": "simulated",
}


def _share(share: Proportion | None) -> str:
    return wording.NONE if share is None else wording.proportion(share)


_COLUMNS: Final[dict[str, Callable[[JudgePair], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "First": lambda row: row.first,
    "Second": lambda row: row.second or wording.NONE,
    "n": lambda row: wording.count(row.n),
    "Both flag": lambda row: wording.count(row.both),
    "First only": lambda row: wording.count(row.first_only),
    "Second only": lambda row: wording.count(row.second_only),
    "Neither": lambda row: wording.count(row.neither),
    "Agreed": lambda row: wording.proportion(row.agreed),
    "Kappa": lambda row: kappa_text(row.kappa) if row.kappa else wording.NONE,
    "AC1": lambda row: estimate_text(row.ac1),
    "Alpha": lambda row: estimate_text(row.alpha),
    "First's spans met": lambda row: _share(row.spans.first if row.spans else None),
    "Second's spans met": lambda row: _share(row.spans.second if row.spans else None),
    "Same type": lambda row: _share(row.spans.types if row.spans else None),
    "Precision": lambda row: _share(row.precision),
    "Recall": lambda row: _share(row.recall),
    "Left out": lambda row: wording.left_out(
        not_judged_by_both=row.left_out if row.second else 0,
        with_fewer_than_two_verdicts=0 if row.second else row.left_out,
        without_thoughts=row.without_thoughts,
    ),
}


def table(rows: Sequence[JudgePair], settings: EvaluationSettings) -> Table:
    """Return `cross_judge`."""
    draws = f"{settings.bootstrap.resamples:,} resamples, seed {settings.bootstrap.seed}"
    references = ", ".join(settings.references) or "none"
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="cross_judge",
        title="Judges compared with each other",
        caption=(
            "n: trajectories that both judges judged, whatever their outcome; of all judges, those with at "
            f"least two verdicts. Shares: count/n (in %; {LEVEL_TEXT} {CLOPPER_PEARSON} interval). Agreed: "
            f"both, or all, say the same. Kappa: Cohen's, {LEVEL_TEXT} interval {ASYMPTOTIC}. AC1: Gwet's "
            f"({LEVEL_TEXT} {ITEM_BOOTSTRAP}, {draws}). Alpha: Krippendorff's, nominal. Spans met: those "
            "that share a step with a span of the other judge, where both say which spans they rest on; "
            "same type: of the second's spans met, with the first's nearest. Precision and recall: of the "
            f"first judge against the second, where that is a reference ({references}); a reference is "
            "itself a judgement, not the truth."
        ),
    )
