"""The groups whose attempts are set against each other: sizes, failures, and how many tasks go both ways."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import pandas as pd
from msgspec.structs import replace

from coherence.evaluation import wording
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table, proportion_fields
from coherence.evaluation.repeated import only_name
from coherence.incoherence.contract import KEY
from coherence.incoherence.outcomes import datasets_in
from coherence.incoherence.verifications import together
from coherence.records import Record
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.proportions import WILSON, Proportion, proportion, wilson

NEEDS: Final = (*KEY, "dataset", "scaffold", "backbone", "passed")


class OutcomeGroup(Record, frozen=True):
    """One group of one dataset.

    `mixed` is the share of tasks that have both outcomes, of those with two known ones. Attempts at one task
    are no independent draws, so failures come without an interval. Verifications of an attempt are taken
    together; `disagree` counts the attempts whose verifications disagree.
    """

    dataset: str
    group: str
    scaffold: str | None
    backbone: str | None
    attempts: int
    tasks: int
    fewest: int
    most: int
    passed: int
    failed: int
    unknown: int
    mixed: Proportion
    disagree: int = 0
    simulated: str = ""


def groups(frame: pd.DataFrame, simulated: Mapping[str, str]) -> Iterator[OutcomeGroup]:
    """Yield the groups of every dataset, in order of appearance; the columns `NEEDS` are enough."""
    for dataset, rows in datasets_in(frame):
        for name, members in rows.groupby("group", observed=True, sort=False):
            found = together(members)
            if found is None:
                yield _group(dataset, str(name), members, simulated.get(dataset, ""))
            else:
                row = _group(dataset, str(name), found.frame, simulated.get(dataset, ""))
                yield replace(row, disagree=int(found.disagree.sum()))


def _group(dataset: str, name: str, members: pd.DataFrame, simulated: str) -> OutcomeGroup:
    sizes = members.groupby("task", observed=True).size()
    known = members[members["passed"].notna()]
    by_task = known.groupby("task", observed=True)["passed"].agg(["sum", "size"])
    repeated = by_task[by_task["size"] > 1]
    mixed = (repeated["sum"] > 0) & (repeated["sum"] < repeated["size"])
    return OutcomeGroup(
        dataset=dataset,
        group=name,
        scaffold=only_name(members["scaffold"]),
        backbone=only_name(members["backbone"]),
        attempts=len(members),
        tasks=members["task"].nunique(),
        fewest=int(sizes.min()),
        most=int(sizes.max()),
        passed=int(known["passed"].sum()),
        failed=int((~known["passed"]).sum()),
        unknown=len(members) - len(known),
        mixed=proportion(int(mixed.sum()), len(repeated), wilson),
        simulated=simulated,
    )


FIELDS: Final[dict[str, str]] = {
    **{name: name for name in ("dataset", "group", "scaffold", "backbone", "attempts", "tasks")},
    "attempts_a_task_min": "fewest",
    "attempts_a_task_max": "most",
    **{name: name for name in ("passed", "failed", "unknown")},
    **proportion_fields("mixed", "mixed_count", "mixed_share"),
    "verifications_disagree": "disagree",
    "simulated": "simulated",
}


def _attempts(row: OutcomeGroup) -> str:
    return f"{row.fewest}" if row.fewest == row.most else f"{row.fewest} to {row.most}"


_COLUMNS: Final[dict[str, Callable[[OutcomeGroup], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Group": lambda row: row.group,
    "Attempts": lambda row: wording.count(row.attempts),
    "Tasks": lambda row: wording.count(row.tasks),
    "Attempts a task": _attempts,
    "Failed": lambda row: f"{row.failed:,}/{row.passed + row.failed:,}",
    "Unknown": lambda row: wording.count(row.unknown),
    "Tasks both ways": lambda row: wording.proportion(row.mixed),
    "Verifications disagree": lambda row: wording.count(row.disagree),
}


def table(rows: Sequence[OutcomeGroup]) -> Table:
    """Return `outcome_groups`: a row a group."""
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="outcome_groups",
        title="Groups of repeated outcomes",
        caption=(
            "Failed: of the attempts known to have passed or failed. Tasks both ways: those with a passed "
            f"and a failed attempt, of those with two known ones: count/n (share in %; {LEVEL_TEXT} {WILSON} "
            "interval). An attempt with several verifications counts once, as passed where more than half of "
            "them passed (in the error, each verification counts for its part); the attempts whose "
            "verifications disagree are counted beside."
        ),
    )
