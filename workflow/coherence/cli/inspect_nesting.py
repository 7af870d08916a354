"""What attempts of an outcome file have in common, as `coherence inspect` tells of it, a line each."""

from collections.abc import Iterator
from itertools import combinations
from typing import Final

import numpy as np
import pandas as pd

from coherence.incoherence.verifications import Together, has_verifications

MOST_PAIRS: Final = 1000  # pairs of groups looked at; of more it takes too long for a glance
CELL: Final = ["group", "task"]


def nesting(rows: pd.DataFrame, several: Together | None, known: pd.DataFrame) -> dict[str, str]:
    """Return what is said of verifications, contexts and environments, each only where there are any.

    `rows` are those of the file, `known` the attempts with an outcome.
    """
    told = {}
    if has_verifications(rows):
        told["verifications"] = _verifications(rows, several)
    if rows["context"].notna().any():
        told["contexts"] = _contexts(rows)
    if rows["seed"].notna().any():
        told["environments"] = _environments(known)
    return told


def _verifications(rows: pd.DataFrame, several: Together | None) -> str:
    named = f"{int(rows['verification'].notna().sum()):,} rows name one"
    if several is None:
        return f"{named}; no attempt has two"
    disagree = int(several.disagree.sum())
    return (
        f"{named}, of {len(several.frame):,} attempts, each of which counts once; those of {disagree:,} "
        f"attempt{'s' if disagree != 1 else ''} disagree"
    )


def _contexts(rows: pd.DataFrame) -> str:
    named = rows[rows["context"].notna()]
    sizes = named.groupby(CELL, observed=True)["context"].nunique()
    return (
        f"{named['context'].nunique():,}; within a task of a group {_range(sizes)}: only attempts of "
        "different contexts show scatter"
    )


def _range(sizes: "pd.Series[int]") -> str:
    low, high = int(sizes.min()), int(sizes.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _environments(known: pd.DataFrame) -> str:
    """Return how many environments groups share, and if there are enough to pair them by."""
    seeded = known[known["seed"].notna()]
    groups = [frame for _, frame in seeded.groupby("group", observed=True)]
    number = len(seeded[["task", "seed"]].drop_duplicates())
    said = f"{number:,} (a `seed` of a task)"
    if len(groups) < 2:
        return f"{said}, of one group: there is no other to pair it with by them"
    shared = seeded.groupby(["task", "seed"], observed=True)["group"].nunique()
    said += f", {int((shared > 1).sum()):,} of them common to groups"
    if len(groups) * (len(groups) - 1) // 2 > MOST_PAIRS:
        return f"{said}: pairs of groups with enough in common are compared within them"
    chosen = list(_pairable(groups))
    if not any(chosen):
        return f"{said}: no two groups have two of them in each of two tasks, so all are paired by task"
    return (
        f"{said}: {sum(chosen):,} of {len(chosen):,} pairs of groups are paired by them (two in "
        "common in each of two tasks or more), others by task"
    )


def _pairable(groups: list[pd.DataFrame]) -> Iterator[bool]:
    """Yield of each pair of groups whether `environment_pairs` can pair it by environment."""
    contexts = [frame["context"].notna().any() for frame in groups]
    for one, other in combinations(range(len(groups)), 2):
        keys = ["task", "seed", *(["context"] if contexts[one] and contexts[other] else [])]
        sets = [groups[side][keys].dropna().drop_duplicates().astype(object) for side in (one, other)]
        common = sets[0].merge(sets[1], on=keys)
        yield bool(np.sum(common.groupby("task").size() >= 2) >= 2)
