"""Judges taken together: flagged by any, by all, or by more than half of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final, Literal

from coherence.evaluation import wording
from coherence.evaluation.agreement import exact_share
from coherence.evaluation.cross_judge import flags_of, peers
from coherence.evaluation.failure_rates import counts_of, with_outcome
from coherence.evaluation.groups import Split
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table, proportion_fields
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, by_dataset
from coherence.records import Record
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.proportions import CLOPPER_PEARSON, WILSON, Proportion, proportion
from coherence.stats.tables import FISHER, NEWCOMBE, Comparison, compare

Rule = Literal["alone", "union", "intersection", "majority"]


class Ensemble(Record, frozen=True):
    """Some judges read as one by a rule; `reference` is the first outside it that was run, or "".

    `precision` is the share of its flags that the reference flags too, `recall` the share of the reference's
    flags it finds, both on what the ensemble and the reference judged. `without_thoughts` counts those it
    judged in which a member had no thought to read: it calls them unflagged, as the paper does.
    """

    dataset: str
    rule: Rule
    judges: str
    flagged: Proportion
    comparison: Comparison
    unjudged: int
    unknown_outcome: int
    excluded: int
    without_thoughts: int = 0
    reference: str = ""
    precision: Proportion | None = None
    recall: Proportion | None = None
    simulated: str = ""


def together(rule: Rule, said: Sequence[bool | None]) -> bool | None:
    """Return what the judges say together of one trajectory, None where one of them did not judge it.

    One flag would settle a union, but what it is compared with would then be judged by all: the trajectories
    that are left would be chosen by their flags.
    """
    words = [word for word in said if word is not None]
    if len(words) < len(said):
        return None
    if rule == "union":
        return any(words)
    return all(words) if rule == "intersection" else 2 * sum(words) > len(words)


def ensembles(rows: Iterable[Row], settings: EvaluationSettings) -> Iterator[Ensemble]:
    """Yield each judge alone, each two, and all where they are more, for each dataset.

    A judge that was not run is shown alone, and is no member of any ensemble.
    """
    for members in by_dataset(rows).values():
        divided = peers(members, settings)
        silent = {judge for judge, split in divided.items() if not flags_of(split)}
        words = {judge: {} if judge in silent else _words(split) for judge, split in divided.items()}
        if len(words) > 1:
            for judge in words:
                yield _ensemble(members, "alone", (judge,), words, settings)
        for rule, judges in _groups([judge for judge in words if judge not in silent]):
            yield _ensemble(members, rule, judges, words, settings)


def _groups(judges: Sequence[str]) -> Iterator[tuple[Rule, tuple[str, ...]]]:
    for pair in combinations(judges, 2):
        yield from (("union", pair), ("intersection", pair))
    if len(judges) > 2:
        everyone = tuple(judges)
        yield from (("union", everyone), ("intersection", everyone), ("majority", everyone))


def _words(split: Split) -> dict[str, bool]:
    return {row.id: True for row in split.risky} | {row.id: False for row in split.safe}


def _ensemble(
    rows: Sequence[Row],
    rule: Rule,
    judges: tuple[str, ...],
    words: Mapping[str, Mapping[str, bool]],
    settings: EvaluationSettings,
) -> Ensemble:
    included = [row for row in rows if row.excluded is None]
    said = {row.id: together(rule, [words[judge].get(row.id) for judge in judges]) for row in included}
    risky = [row for row in included if said[row.id] is True]
    safe = [row for row in included if said[row.id] is False]
    known = with_outcome(risky), with_outcome(safe)
    reference = next((name for name in settings.references if words.get(name) and name not in judges), "")
    precision, recall = _against(said, words[reference]) if reference else (None, None)
    return Ensemble(
        dataset=rows[0].dataset,
        rule=rule,
        judges=" + ".join(judges),
        flagged=proportion(len(risky), len(risky) + len(safe)),
        comparison=compare(counts_of(*known)),
        unjudged=len(included) - len(risky) - len(safe),
        unknown_outcome=len(risky) + len(safe) - len(known[0]) - len(known[1]),
        excluded=len(rows) - len(included),
        without_thoughts=sum(_thoughtless(row, judges) for row in (*risky, *safe)),
        reference=reference,
        precision=precision,
        recall=recall,
        simulated=settings.simulated.get(rows[0].dataset, ""),
    )


def _thoughtless(row: Row, judges: Sequence[str]) -> bool:
    return any(judge in row.verdicts and row.verdicts[judge].substrate == "none" for judge in judges)


def _against(said: Mapping[str, bool | None], reference: Mapping[str, bool]) -> tuple[Proportion, Proportion]:
    pairs = [(word, reference[name]) for name, word in said.items() if word is not None and name in reference]
    both = pairs.count((True, True))
    ours, theirs = both + pairs.count((True, False)), both + pairs.count((False, True))
    return exact_share(both, ours), exact_share(both, theirs)


FIELDS: Final[dict[str, str]] = {
    "dataset": "dataset",
    "rule": "rule",
    "judges": "judges",
    **proportion_fields("flagged", "flagged_count", "flagged"),
    "risky_fail": "comparison.counts.risky_fail",
    "risky_n": "comparison.counts.risky_n",
    "safe_fail": "comparison.counts.safe_fail",
    "safe_n": "comparison.counts.safe_n",
    "gap": "comparison.gap",
    "gap_low": "comparison.interval.low",
    "gap_high": "comparison.interval.high",
    "fisher_p": "comparison.fisher_p",
    "reference": "reference",
    **proportion_fields("precision", "precision_count", "precision"),
    **proportion_fields("recall", "recall_count", "recall"),
    "n_without_thoughts": "without_thoughts",
    "n_unknown_outcome": "unknown_outcome",
    "n_unjudged": "unjudged",
    "n_excluded": "excluded",
    "simulated": "simulated",
}


def _share(share: Proportion | None) -> str:
    return wording.NONE if share is None else wording.proportion(share)


_COLUMNS: Final[dict[str, Callable[[Ensemble], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Rule": lambda row: row.rule,
    "Judges": lambda row: row.judges,
    "Flagged": lambda row: wording.proportion(row.flagged),
    "No thoughts": lambda row: wording.count(row.without_thoughts),
    "Failed / n": lambda row: wording.counts(row.comparison.counts),
    "Gap": lambda row: wording.gap(row.comparison),
    "p": lambda row: wording.p_value(row.comparison.fisher_p),
    "Reference": lambda row: row.reference or wording.NONE,
    "Precision": lambda row: _share(row.precision),
    "Recall": lambda row: _share(row.recall),
    "Left out": lambda row: wording.left_out(
        unknown_outcome=row.unknown_outcome, not_judged_by_all=row.unjudged, excluded=row.excluded
    ),
}


def table(rows: Sequence[Ensemble]) -> Table:
    """Return `ensembles`."""
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="ensembles",
        title="Judges taken together",
        caption=(
            "Union: flagged by any of the judges; intersection: by all; majority: by more than half. Only "
            f"trajectories all of them judged. Flagged: count/n (share in %; {LEVEL_TEXT} {WILSON} "
            "interval). No thoughts: those in which one of the judges had no thought to read, unflagged as "
            "in the paper; the agreement of judges leaves them out. Gap: flagged less unflagged failure rate "
            "in percentage points "
            f"({LEVEL_TEXT} {NEWCOMBE} interval); p: {FISHER}. Precision and recall: against a reference "
            f"that is no member ({LEVEL_TEXT} {CLOPPER_PEARSON} interval); it too is a judgement."
        ),
    )
