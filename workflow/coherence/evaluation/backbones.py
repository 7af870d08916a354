"""Groups of one backbone as one: runs nested in scaffolds, of which a group is one setting."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from msgspec.structs import replace

from coherence.evaluation.outcome_kinds import Attempts
from coherence.evaluation.outcome_vectors import NO_RESULT
from coherence.evaluation.repeated import Group
from coherence.incoherence.contract import KEY, VALUES
from coherence.incoherence.nesting import Units
from coherence.incoherence.outcomes import same
from coherence.incoherence.parts import Bools, Ints
from coherence.incoherence.verifications import numbered_attempts

NEEDED: Final = (*KEY, *VALUES, "target", "target_number")  # a million whole rows are large
OTHER_TESTS: Final = "groups with results of different tests"


def joined(groups: Sequence[Group], name: str) -> Group:
    """Return the groups, of one dataset, as one, with a row a verification where there are any.

    The scaffold of each row is its group's, also where the row itself does not say.
    """
    every = [group if group.verified is None else group.verified.group for group in groups]
    task = np.concatenate([group.task for group in every])
    order = np.argsort(task, kind="stable")
    frame = pd.concat(
        [
            group.frame[list(NEEDED)].assign(scaffold=same(group.scaffold, len(group.frame)))
            for group in every
        ],
        ignore_index=True,
    )
    left_out: dict[str, int] = {}
    for group in every:
        for reason, count in group.left_out.items():
            left_out[reason] = left_out.get(reason, 0) + count
    return Group(
        dataset=groups[0].dataset,
        name=name,
        frame=frame.iloc[order].reset_index(drop=True),
        task=task[order],
        tasks=groups[0].tasks,
        left_out=left_out,
        simulated=groups[0].simulated,
    )


def units_of(found: Attempts) -> Units:
    """Return the scaffold, group, context and attempt of each outcome."""
    frame = found.group.frame.iloc[found.rows]
    attempt = numbered_attempts(frame)
    contexts = found.contexts(attempt)
    scaffold, setting = (_codes(frame[name]) for name in ("scaffold", "group"))
    return Units(scaffold, setting, attempt if contexts is None else contexts, attempt)


def _codes(names: "pd.Series[Any]") -> Ints:
    """Return the names as numbers; what has no name is one more."""
    return np.asarray(pd.factorize(names, use_na_sentinel=False)[0], np.int64)


def with_same_tests(group: Group) -> tuple[Group, int]:
    """Return the joined groups without the tasks of which they have results of different tests, and how many.

    Vectors of different tests are no repeats of each other: their distance would show the tests.
    """
    differ = _other_tests(group)
    keep = ~differ[group.task]
    if keep.all():
        return group, 0
    frame = group.frame[keep].reset_index(drop=True)
    return replace(group, frame=frame, task=group.task[keep]), int(differ.sum())


def _other_tests(group: Group) -> Bools:
    """Return of each task whether some test has results in one of the groups and none in another."""
    known = group.frame["tests"].notna().to_numpy(dtype=bool)
    given = pd.DataFrame({"task": group.task, "group": _codes(group.frame["group"])})
    given = given.assign(tests=group.frame["tests"].astype(object))[known].drop_duplicates()
    length = given["tests"].str.len().to_numpy(dtype=np.int64)
    cells = np.frombuffer("".join(given["tests"]).encode("ascii", "replace"), dtype=np.uint8)
    row = np.repeat(np.arange(len(given)), length)
    place = np.arange(len(cells)) - np.repeat(np.cumsum(length) - length, length)
    ran = cells != NO_RESULT
    results = pd.DataFrame({"task": given["task"].to_numpy()[row], "place": place})
    results = results.assign(group=given["group"].to_numpy()[row])[ran].drop_duplicates()
    groups = results.drop_duplicates(["task", "group"]).groupby("task").size()
    having = results.groupby(["task", "place"]).size().reset_index(name="n")
    differ = np.zeros(len(group.tasks), np.bool_)
    lacking = having["n"].to_numpy() < groups.reindex(having["task"]).to_numpy()
    differ[having["task"].to_numpy()[lacking]] = True
    return differ
