"""How much of each group's error is scatter: a row a dataset, group, outcome and decomposition."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from coherence.evaluation import wording
from coherence.evaluation.decompositions import (
    BINARY,
    LABELS,
    UNEQUAL,
    decompose,
    nested_parts,
    note_of,
    plain,
)
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.outcome_kinds import Outcomes, kinds_of, outcomes
from coherence.evaluation.readings import marked, simulation_note
from coherence.evaluation.render import Table, records, shown
from coherence.evaluation.repeated import Group
from coherence.incoherence.aggregates import DELTA_T, JACKKNIFE_T, Aggregate, aggregate, ratio_of_sums
from coherence.incoherence.parts import Parts, incomparable
from coherence.incoherence.squares import Nested
from coherence.records import Record
from coherence.stats.intervals import LEVEL_TEXT, Interval

NEVER_WRONG: Final = "never wrong"


class Incoherence(Record, frozen=True):
    """The parts of the error of one group by one decomposition; `main` marks the group's headline row.

    `plug_in` is the plug-in incoherence. `sampling` and `context` are the mean variances within contexts and
    what contexts add. `contrary` counts attempts whose answer and whose pass or fail disagree.
    """

    dataset: str
    group: str
    kind: str
    decomposition: str
    found: Aggregate
    estimator: str
    main: bool = False
    scaffold: str | None = None
    backbone: str | None = None
    plug_in: float | None = None
    sampling: float | None = None
    context: float | None = None
    left_out: dict[str, int] = {}
    contrary: int = 0
    note: str = ""
    simulated: str = ""

    @property
    def left_out_text(self) -> str:
        """What was left out and why."""
        few = {"too few attempts (tasks)": self.found.too_few}
        return wording.left_out(**self.left_out, **few)


def incoherence(group: Group, settings: IncoherenceSettings) -> Iterator[Incoherence]:
    """Yield the rows of a group, its main one first: pass or fail only where nothing else is known."""
    kinds = kinds_of(group, settings)
    if not kinds:
        yield _without_outcomes(group, settings)
    for place, kind in enumerate(kinds):
        usable = outcomes(group, kind)
        for number, name in enumerate(settings.decompositions_of(kind)):
            yield _row(usable, name, settings, main=place == 0 and number == 0)


def _without_outcomes(group: Group, settings: IncoherenceSettings) -> Incoherence:
    return Incoherence(
        dataset=group.dataset,
        group=group.name,
        kind=wording.NONE,
        decomposition=wording.NONE,
        found=Aggregate(0),
        estimator=settings.estimator,
        main=True,
        scaffold=group.scaffold,
        backbone=group.backbone,
        left_out={**group.left_out, "no outcome": len(group.frame)},
        simulated=group.simulated,
    )


def _row(usable: Outcomes, name: str, settings: IncoherenceSettings, *, main: bool) -> Incoherence:
    group, kind = usable.group, usable.kind
    parts = decompose(usable, name, settings)
    plug_in = plain(usable, name, "plug-in", settings.delta)
    known = plug_in.take(parts.known)
    adds = name != "domingos"
    found = aggregate(parts)
    row = Incoherence(
        dataset=group.dataset,
        group=group.name,
        kind=kind,
        decomposition=name,
        found=found if adds else replace(found, incoherence=None, jackknife=None, delta=None),
        estimator=parts.estimator,
        main=main,
        scaffold=group.scaffold,
        backbone=group.backbone,
        plug_in=ratio_of_sums(known.variance, known.error) if adds else None,
        left_out=usable.left_out,
        contrary=_contrary(usable),
        note="; ".join(said for said in (note_of(kind, name), _never_wrong(found), _unequal(parts)) if said),
        simulated=group.simulated,
    )
    inside = nested_parts(usable, name, settings)
    return row if inside is None else replace(row, **_within(inside, parts))


def _never_wrong(found: Aggregate) -> str:
    return NEVER_WRONG if found.items and found.error == 0 else ""


def _unequal(parts: Parts) -> str:
    return UNEQUAL if parts.known.any() and incomparable(parts) else ""


def _within(inside: Nested, parts: Parts) -> dict[str, float | None]:
    """Return the mean variances within contexts and between them, over tasks in which both are known."""
    both = parts.known & (inside.sampling == inside.sampling)
    if not both.any():
        return {}
    return {"sampling": float(inside.sampling[both].mean()), "context": float(inside.context[both].mean())}


def _contrary(usable: Outcomes) -> int:
    if usable.kind != "answer":
        return 0
    passed = usable.group.frame["passed"].iloc[usable.rows]
    right = usable.answer == usable.target[usable.item]
    known = passed.notna().to_numpy(dtype=bool)
    return int((passed[known].to_numpy(dtype=bool) != right[known]).sum())


def interval_fields(path: str, name: str) -> dict[str, str]:
    """Return the fields of an interval."""
    return {f"{name}_low": f"{path}.low", f"{name}_high": f"{path}.high"}


FIELDS: Final[dict[str, str]] = {
    **{name: name for name in ("dataset", "group", "scaffold", "backbone")},
    "outcome": "kind",
    "decomposition": "decomposition",
    "main": "main",
    "estimator": "estimator",
    "tasks": "found.items",
    "attempts": "found.attempts",
    "attempts_a_task_min": "found.fewest",
    "attempts_a_task_max": "found.most",
    **{name: f"found.{name}" for name in ("error", "bias", "variance", "incoherence")},
    **interval_fields("found.jackknife", "jackknife_t"),
    **interval_fields("found.delta", "delta_t"),
    "incoherence_plug_in": "plug_in",
    "variance_within_contexts": "sampling",
    "variance_of_contexts": "context",
    "tasks_never_wrong": "found.never_wrong",
    "tasks_with_too_few_attempts": "found.too_few",
    "left_out": "left_out_text",
    "n_answer_and_pass_disagree": "contrary",
    "note": "note",
    "simulated": "simulated",
}


def share(value: float | None, interval: Interval | None = None) -> str:
    """Return a value with three decimals and its bounds."""
    return wording.estimate(value, interval, 3)


def span(fewest: int | None, most: int | None) -> str:
    """Return "5" or "3 to 5"."""
    if fewest is None:
        return wording.NONE
    return f"{fewest}" if fewest == most else f"{fewest} to {most}"


_COLUMNS: Final[dict[str, Callable[[Incoherence], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Group": lambda row: row.group,
    "Outcome": lambda row: row.kind,
    "Decomposition": lambda row: LABELS[row.decomposition],
    "Tasks": lambda row: wording.count(row.found.items),
    "Attempts a task": lambda row: span(row.found.fewest, row.found.most),
    "Error": lambda row: share(row.found.error),
    "Bias": lambda row: share(row.found.bias),
    "Variance": lambda row: share(row.found.variance),
    "Incoherence": lambda row: share(row.found.incoherence, row.found.jackknife),
    "Delta-t": lambda row: _bounds(row.found.delta),
    "Left out": lambda row: row.left_out_text,
    "Note": lambda row: row.note or wording.NONE,
}


def _bounds(interval: Interval | None) -> str:
    return wording.NONE if interval is None else share(interval.low) + " to " + share(interval.high)


def table(rows: Sequence[Incoherence], settings: IncoherenceSettings) -> Table:
    """Return `incoherence`."""
    return Table(
        name="incoherence",
        title="Error incoherence of repeated attempts",
        caption=(
            "Error = bias + variance, means over tasks with enough attempts; incoherence: sum of variances "
            f"/ sum of errors ({LEVEL_TEXT} {JACKKNIFE_T} interval over tasks; beside it {DELTA_T}). "
            f"Estimator: {settings.estimator}; KL and modal margin have no unbiased one and are "
            "jackknifed over attempts: groups with unequal attempts a task are not to be compared by them. "
            "Unbiased parts of few tasks may lie outside 0 to 1. Tasks that were never wrong add nothing to "
            f'either sum. A row marked "{BINARY}" tells nothing that the pass rates do not. '
            "Incoherent is not harmless."
        ),
        columns=tuple(_COLUMNS),
        rows=shown(rows, _COLUMNS),
        fields=tuple(FIELDS),
        records=records(rows, FIELDS),
        note=simulation_note((row.dataset, row.simulated) for row in rows),
        datasets=tuple(dict.fromkeys(row.dataset for row in rows)),
    )
