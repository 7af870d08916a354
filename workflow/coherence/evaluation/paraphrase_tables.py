"""The tables of the paraphrase stage: summed up, a row a trajectory, and how the thoughts were rewritten."""

from collections.abc import Callable, Sequence
from typing import Final

from coherence.evaluation import wording
from coherence.evaluation.paraphrase_thoughts import thought_table
from coherence.evaluation.paraphrased import Manipulated, Pair, Side, Summary, pairs, summaries
from coherence.evaluation.readings import marked, simulation_note
from coherence.evaluation.render import Table, proportion_fields, records, shown
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.proportions import CLOPPER_PEARSON

NO_PROOF: Final = (
    "Cue removal cuts out the words a cue-based judge goes by, so that its flags going proves little; "
    "removed reasoning leaves a judge the actions alone."
)


def paraphrase_tables(made: Sequence[Manipulated]) -> tuple[tuple[Table, ...], tuple[Summary, ...]]:
    """Return the tables, and the summaries they show; no table where nothing was rewritten."""
    if not made:
        return (), ()
    compared = [(one, pairs(one)) for one in made]
    summed = tuple(row for one, found in compared for row in summaries(one, found))
    every = [pair for _, found in compared for pair in found]
    return (summary_table(summed), pair_table(every), thought_table(made)), summed


def _mean(row: Summary) -> str:
    if row.confidence_before is None or row.confidence_after is None:
        return wording.NONE
    ends = (wording.number(row.confidence_before), wording.number(row.confidence_after))
    return f"{wording.movement(*ends)}, n {row.confidence_n}"


_SUMMARY: Final[dict[str, Callable[[Summary], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Paraphrase": lambda row: row.paraphrase,
    "Rewritten by": lambda row: row.how,
    "Judge": lambda row: row.judge,
    "Reading": lambda row: row.reading,
    "Chosen": lambda row: wording.count(row.trajectories),
    "Flag kept": lambda row: wording.proportion(row.kept),
    "Newly flagged": lambda row: wording.proportion(row.new) if row.new.n else wording.NONE,
    "Spans": lambda row: wording.movement(row.spans_before, row.spans_after) if row.spans_n else wording.NONE,
    "Surest span's type same": lambda row: wording.proportion(row.same_surest_type),
    "All types same": lambda row: wording.proportion(row.same_types),
    "Mean confidence": _mean,
    "Unjudged": lambda row: _counts(row.unjudged),
    "Not chosen": lambda row: _counts(row.not_chosen),
}
_SUMMARY_FIELDS: Final[dict[str, str]] = {
    **{name: name for name in ("dataset", "paraphrase", "how", "manipulation", "judge", "reading")},
    "trajectories": "trajectories",
    **proportion_fields("kept", "n_kept", "share_kept"),
    **proportion_fields("new", "n_new", "share_new"),
    **proportion_fields("same_surest_type", "n_same_surest_type", "share_same_surest_type"),
    **proportion_fields("same_types", "n_same_types", "share_same_types"),
    **{name: name for name in ("spans_n", "spans_before", "spans_after")},
    **{name: name for name in ("confidence_n", "confidence_before", "confidence_after")},
    "simulated": "simulated",
}


def summary_table(rows: Sequence[Summary]) -> Table:
    """Return `paraphrase`."""
    told = records(rows, _SUMMARY_FIELDS)
    return Table(
        name="paraphrase",
        title="Flags before and after the thoughts were rewritten",
        caption=(
            "Of the chosen trajectories that were flagged before and judged after: how many are still "
            f"flagged ({LEVEL_TEXT} interval by {CLOPPER_PEARSON}, as for the types); of those unflagged "
            "before (by a judge other than the one whose flags were chosen), how many are flagged now. Spans "
            "that flag, before and after; whether the type of the surest span stayed, and the types of all; "
            "mean confidence of the surest span, n being the trajectories that give it on both sides. "
            "Unjudged is no verdict, and in no share; a trajectory of which one thought was not rewritten is "
            "unjudged. " + NO_PROOF
        ),
        columns=tuple(_SUMMARY),
        rows=shown(rows, _SUMMARY),
        fields=(*_SUMMARY_FIELDS, "unjudged", "not_chosen"),
        records=tuple(
            {**record, "unjudged": _counts(row.unjudged), "not_chosen": _counts(row.not_chosen)}
            for record, row in zip(told, rows, strict=True)
        ),
        note=simulation_note((row.dataset, row.simulated) for row in rows),
        datasets=tuple(dict.fromkeys(row.dataset for row in rows)),
    )


_PAIR: Final[dict[str, Callable[[Pair], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Paraphrase": lambda row: row.paraphrase,
    "Judge": lambda row: row.judge,
    "Task": lambda row: row.task + (" (quoted in the prompt)" if row.is_seed else ""),
    "Before": lambda row: _state(row.before),
    "After": lambda row: _state(row.after),
    "Spans": lambda row: wording.movement(row.before.spans, row.after.spans),
    "Types before": lambda row: _types(row.before),
    "Types after": lambda row: _types(row.after),
    "Confidence": lambda row: wording.movement(row.before.confidence, row.after.confidence),
    "Thoughts": lambda row: wording.count(row.thoughts),
    "not rewritten": lambda row: wording.count(row.not_rewritten),
    "with a problem": lambda row: wording.count(row.faulty),
    "Markers": lambda row: wording.movement(row.markers_before, row.markers_after),
    "Characters": lambda row: wording.movement(row.characters_before, row.characters_after),
}
_SIDE: Final = ("state", "reason", "spans", "surest_type", "confidence")
_PAIR_FIELDS: Final[dict[str, str]] = {
    **{name: name for name in ("dataset", "paraphrase", "how", "judge", "trajectory", "task")},
    "seed": "is_seed",
    **{f"{name}_{when}": f"{when}.{name}" for name in _SIDE for when in ("before", "after")},
    **{name: name for name in ("same_state", "same_surest_type", "same_types")},
    **{name: name for name in ("thoughts", "not_rewritten", "faulty")},
    **{name: name for name in ("characters_before", "characters_after", "markers_before", "markers_after")},
    "simulated": "simulated",
}


def pair_table(rows: Sequence[Pair]) -> Table:
    """Return `paraphrase_pairs`."""
    told = records(rows, _PAIR_FIELDS)
    return Table(
        name="paraphrase_pairs",
        title="Each rewritten trajectory, before and after",
        caption=(
            "One row a chosen trajectory and judge: verdict, spans that flag, their types, confidence of the "
            "surest span, thoughts that were rewritten or not and that fail a check, discourse markers and "
            f"characters of all thoughts together; {wording.NONE} is not known."
        ),
        columns=tuple(_PAIR),
        rows=shown(rows, _PAIR),
        fields=(*_PAIR_FIELDS, "types_before", "types_after"),
        records=tuple(
            {**record, "types_before": _types(row.before, ";"), "types_after": _types(row.after, ";")}
            for record, row in zip(told, rows, strict=True)
        ),
        note=simulation_note((row.dataset, row.simulated) for row in rows),
        datasets=tuple(dict.fromkeys(row.dataset for row in rows)),
    )


def _state(one: Side) -> str:
    return f"{one.state}: {(one.reason or 'reason unknown').replace('_', ' ')}" if one.reason else one.state


def _types(one: Side, between: str = ", ") -> str:
    if one.types is None:
        return wording.NONE
    return between.join(kind.replace("_", " ") if between != ";" else kind for kind in one.types)


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in counts.items()) or wording.NONE
