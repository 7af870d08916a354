"""What there is of repeated outcomes: a row a dataset, and everything that was left out or is unknown."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import pandas as pd

from coherence.evaluation import wording
from coherence.evaluation.readings import marked, simulation_note, table_of
from coherence.evaluation.render import Table, records, shown
from coherence.incoherence.contract import Counted, Kind
from coherence.incoherence.outcomes import kinds_in, usable
from coherence.incoherence.verifications import DISAGREE, Together, together
from coherence.records import Record

LEFT_OUT_SHOWN: Final = 4  # reasons in a cell to read; all are in the table of exclusions


class OutcomeSet(Record, frozen=True):
    """The attempts of one dataset; a cell is a task within a group.

    `kind` is the outcome that is decomposed, `kinds` how many attempts have each.
    """

    dataset: str
    attempts: int
    tasks: int
    groups: int
    cells: int
    fewest: int | None
    most: int | None
    passed: int
    failed: int
    unknown: int
    kind: Kind | None
    kinds: dict[str, int]
    counted: tuple[Counted, ...] = ()
    simulated: str = ""
    notes: str = ""

    @property
    def kinds_text(self) -> str:
        """The kinds with their counts, the one that is decomposed first."""
        ordered = sorted(self.kinds, key=lambda kind: kind != self.kind)
        return "; ".join(f"{kind} {self.kinds[kind]:,}" for kind in ordered) or wording.NONE

    @property
    def counted_text(self) -> str:
        """Everything counted, in one line."""
        return "; ".join(f"{one.amount}: {one.reason}" for one in self.counted)


def describe(
    dataset: str, frame: pd.DataFrame, counted: Sequence[Counted], kind: Kind | None, told: tuple[str, str]
) -> OutcomeSet:
    """Return what a dataset has; `kind` is the one asked for, `told` what is not real, and notes.

    Several verifications of an attempt are taken together.
    """
    found = together(frame)
    every, frame = frame, frame if found is None else found.frame
    kinds = kinds_in(frame)
    chosen = kind or next(iter(kinds), None)
    sizes = frame.groupby(["group", "task"], observed=True).size()
    passed = frame["passed"]
    return OutcomeSet(
        dataset=dataset,
        attempts=len(frame),
        tasks=frame["task"].nunique(),
        groups=frame["group"].nunique(),
        cells=len(sizes),
        fewest=int(sizes.min()) if len(sizes) else None,
        most=int(sizes.max()) if len(sizes) else None,
        passed=int(passed.sum()),
        failed=int((~passed).sum()),
        unknown=int(passed.isna().sum()),
        kind=chosen,
        kinds={str(name): count for name, count in kinds.items()},
        counted=(*counted, *_verifications(dataset, every, found), *limits(dataset, frame, chosen)),
        simulated=told[0],
        notes=told[1],
    )


def _verifications(dataset: str, frame: pd.DataFrame, found: Together | None) -> Iterable[Counted]:
    if found is None:
        return
    more = len(frame) - len(found.frame)
    yield Counted(dataset, "further verification of an attempt: no attempt of its own (kept)", more)
    if found.disagree.any():
        first = found.frame[found.disagree].iloc[0]
        where = ", ".join(str(first[name]) for name in ("group", "task", "attempt"))
        reason = f"{DISAGREE}: more than half must pass for the attempt to count as passed"
        yield Counted(dataset, reason, int(found.disagree.sum()), "attempts", where)


def limits(dataset: str, frame: pd.DataFrame, kind: Kind | None) -> Iterable[Counted]:
    """Yield what no decomposition can say anything about, though nothing is wrong with it."""
    known = frame[usable(frame, kind or "passed")]
    by_task = known.groupby(["group", "task"], observed=True)
    sizes = by_task.size()
    alone = (sizes > 1) & (by_task["context"].nunique() == 1) & (by_task["context"].count() == sizes)
    for reason, few in (
        ("one attempt with an outcome: no scatter to see", sizes[sizes == 1]),
        ("all attempts share one context: no scatter between contexts to see", sizes[alone]),
    ):
        if len(few):
            yield Counted(dataset, reason, len(few), "cells", ", ".join(map(str, few.index[0])))
    wrong = (frame["passed"] == False).fillna(value=False)  # noqa: E712 - nullable
    judged = frame["passed"].notna()
    by_group = pd.DataFrame({"wrong": wrong, "judged": judged}).groupby(frame["group"], observed=True).sum()
    clean = by_group[(by_group["wrong"] == 0) & (by_group["judged"] > 0)]
    if len(clean):
        reason = "every attempt passed: no error to part, incoherence is undefined"
        yield Counted(dataset, reason, len(clean), "groups", str(clean.index[0]))


FIELDS: Final[dict[str, str]] = {
    "dataset": "dataset",
    "attempts": "attempts",
    "tasks": "tasks",
    "groups": "groups",
    "cells": "cells",
    "attempts_a_cell_min": "fewest",
    "attempts_a_cell_max": "most",
    "passed": "passed",
    "failed": "failed",
    "unknown": "unknown",
    "kind": "kind",
    "kinds": "kinds_text",
    "counted": "counted_text",
    "simulated": "simulated",
    "notes": "notes",
}


def _attempts(row: OutcomeSet) -> str:
    if row.fewest is None:
        return wording.NONE
    return f"{row.fewest}" if row.fewest == row.most else f"{row.fewest} to {row.most}"


def _left_out(row: OutcomeSet) -> str:
    some = [f"{one.amount}: {one.reason}" for one in row.counted[:LEFT_OUT_SHOWN]]
    more = len(row.counted) - len(some)
    return "; ".join([*some, *([f"and {more} more"] if more else [])]) or wording.NONE


_COLUMNS: Final[dict[str, Callable[[OutcomeSet], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Attempts": lambda row: wording.count(row.attempts),
    "Tasks": lambda row: wording.count(row.tasks),
    "Groups": lambda row: wording.count(row.groups),
    "Attempts a task": _attempts,
    "Failed": lambda row: f"{row.failed:,}/{row.passed + row.failed:,}",
    "Unknown": lambda row: wording.count(row.unknown),
    "Outcomes": lambda row: row.kinds_text,
    "Left out or unknown": _left_out,
}


def table(rows: Sequence[OutcomeSet]) -> Table:
    """Return `outcomes`: a row a dataset that could have repeated attempts."""
    nothing = (
        "" if any(row.attempts for row in rows) else "Nothing was attempted twice: there is no row to part. "
    )
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="outcomes",
        title="Repeated outcomes",
        caption=(
            f"{nothing}Attempts a task: within one group (an agent with its model, or a judge), fewest to "
            "most. Failed: of the attempts known to have passed or failed. Outcomes: the attempts that have "
            "one of each kind, the kind that is decomposed first; passed alone makes error incoherence a "
            "function of the pass rates. Judges appear where they were asked more than once. Every reason "
            "is in the table of exclusions."
        ),
    )


_COUNTED_COLUMNS: Final[dict[str, Callable[[Counted], str]]] = {
    "Dataset": lambda row: row.dataset,
    "What": lambda row: row.reason,
    "Count": lambda row: row.amount,
    "First": lambda row: row.where or wording.NONE,
}


def counted_table(rows: Sequence[OutcomeSet]) -> Table:
    """Return `outcome_exclusions`: each reason for which something was left out or is unknown."""
    simulated: Mapping[str, str] = {row.dataset: row.simulated for row in rows}
    counted = [one for row in rows for one in row.counted]
    columns = {**_COUNTED_COLUMNS, "Dataset": lambda one: marked(one.dataset, simulated[one.dataset])}
    fields = {name: name for name in Counted.__struct_fields__}
    return Table(
        name="outcome_exclusions",
        title="What is left out of the repeated outcomes, or unknown",
        caption=(
            "A cell is a task within a group. First: the row of the file (a CSV file's header is row 1), the "
            "columns, or the names. Rows marked (kept) stay in the table; a decomposition uses them only "
            "where they have what it needs."
        ),
        columns=tuple(columns),
        rows=shown(counted, columns),
        fields=tuple(fields),
        records=records(counted, fields),
        note=simulation_note(simulated.items()),
        datasets=tuple(simulated),
    )
