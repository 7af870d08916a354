"""The outcomes table, divided into the groups within which attempts at a task are repeats of each other."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pandas as pd
from msgspec.structs import replace

from coherence.errors import InputError
from coherence.incoherence.contract import VALUES
from coherence.incoherence.parts import Bools, Floats, Ints
from coherence.incoherence.verifications import has_verifications, together
from coherence.records import Record

LARGEST: Final = 1e70  # numbers whose squared errors can still be squared and added up
NO_TASK: Final = "no task"
REPEATED: Final = "attempt repeated"
CONTRARY: Final = "attempt given twice with different values"
_KEY: Final = ["task", "context", "attempt", "verification"]
_COMPARED: Final = ("seed", *VALUES)


class Group(Record, frozen=True, eq=False):
    """The attempts of one group of one dataset that have a task; `left_out` counts the others by reason.

    `task` numbers the tasks of the dataset, so that groups of one dataset can be paired; `tasks` names them.
    Several verifications of an attempt are taken together in `frame`, and stand apart in `verified`.
    """

    dataset: str
    name: str
    frame: pd.DataFrame
    task: Ints
    tasks: "pd.Index[Any]"
    left_out: dict[str, int]
    scaffold: str | None = None
    backbone: str | None = None
    simulated: str = ""
    verified: "Verified | None" = None

    def numbers(self, column: str) -> Floats:
        """Return a column as numbers, NaN where it is unknown, not finite or too large to work with."""
        values = self.frame[column].to_numpy(dtype=float, na_value=np.nan)
        return np.where(np.abs(values) < LARGEST, values, np.nan)

    def known(self, column: str) -> Bools:
        """Return whether a column is known."""
        return self.frame[column].notna().to_numpy(dtype=bool)


class Verified(Record, frozen=True, eq=False):
    """The `group` with a row a verification, the row of each `attempt`, and how many attempts disagree."""

    group: Group
    attempt: Ints
    disagree: int


def groups(frame: pd.DataFrame, simulated: dict[str, str] | None = None) -> Iterator[Group]:
    """Yield the groups: datasets in order of appearance, their groups by name.

    Raise InputError where an attempt has no dataset or no group.
    """
    for column in ("dataset", "group"):
        lost = int(frame[column].isna().sum())
        if lost:
            raise InputError(
                f"outcomes: {lost:,} attempts have no `{column}`; give each attempt its {column}"
            )
    for dataset, rows in frame.groupby("dataset", observed=True, sort=False):
        tasks = pd.Index(sorted(rows["task"].dropna().unique()))
        for name, members in rows.groupby("group", observed=True, sort=True):
            yield _group((str(dataset), str(name)), members, tasks, (simulated or {}).get(str(dataset), ""))


def _group(names: tuple[str, str], members: pd.DataFrame, tasks: "pd.Index[Any]", simulated: str) -> Group:
    left_out: dict[str, int] = {}
    named = _without(members, members["task"].isna().to_numpy(dtype=bool), NO_TASK, left_out)
    frame = _without_repetitions(named, left_out).reset_index(drop=True)
    task = pd.Categorical(frame["task"].astype(object), categories=tasks).codes.astype(np.int64)
    order = np.argsort(task, kind="stable")
    return _taken_together(
        Group(
            dataset=names[0],
            name=names[1],
            frame=frame.iloc[order].reset_index(drop=True),
            task=task[order],
            tasks=tasks,
            left_out=left_out,
            scaffold=only_name(members["scaffold"]),
            backbone=only_name(members["backbone"]),
            simulated=simulated,
        )
    )


def _taken_together(group: Group) -> Group:
    found = together(group.frame)
    if found is None:
        return group
    task = np.zeros(len(found.frame), np.int64)
    task[found.attempt] = group.task
    verified = Verified(group, found.attempt, int(found.disagree.sum()))
    return replace(group, frame=found.frame, task=task, verified=verified)


def _without(frame: pd.DataFrame, wrong: Bools, reason: str, left_out: dict[str, int]) -> pd.DataFrame:
    if not wrong.any():
        return frame
    left_out[reason] = left_out.get(reason, 0) + int(wrong.sum())
    return frame[~wrong]


def _without_repetitions(frame: pd.DataFrame, left_out: dict[str, int]) -> pd.DataFrame:
    """Keep one of equal copies of an attempt, and none where copies differ: nobody knows which is right."""
    named = frame["attempt"].notna()
    key = [name for name in _KEY if name != "verification" or has_verifications(frame)]
    twice = (named & frame.duplicated(key, keep=False)).to_numpy(dtype=bool)
    if not twice.any():
        return frame
    copies = frame.loc[twice, [*key, *_COMPARED]]
    first = ~copies.duplicated()
    versions = first.groupby([copies[name] for name in key], observed=True, dropna=False).transform("sum")
    contrary, again = np.zeros(len(frame), np.bool_), np.zeros(len(frame), np.bool_)
    contrary[twice] = (versions > 1).to_numpy(dtype=bool)
    again[twice] = (~first & (versions == 1)).to_numpy(dtype=bool)
    kept = _without(frame, again, REPEATED, left_out)
    return _without(kept, contrary[~again], CONTRARY, left_out)


def only_name(names: "pd.Series[Any]") -> str | None:
    """Return the one name there is, None where it is unknown or there are several."""
    found = names.dropna().unique()
    return str(found[0]) if len(found) == 1 else None
