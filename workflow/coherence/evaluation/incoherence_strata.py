"""Incoherence within strata: of length, of difficulty for the others, below and above a task's own median."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from msgspec.structs import replace

from coherence.evaluation import wording
from coherence.evaluation.decompositions import decompose
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.main_parts import MainParts, error_of_tasks, main_parts, pooled
from coherence.evaluation.repeated import Group
from coherence.incoherence.aggregates import Aggregate, aggregate
from coherence.incoherence.paired import SIGN_FLIP, paired
from coherence.incoherence.parts import Floats, Ints, divided, sums
from coherence.incoherence.strata import (
    AT_OR_ABOVE,
    BELOW,
    difficulty_for_others,
    equal_buckets,
    equal_halves,
    halves,
)
from coherence.incoherence.trends import KENDALL, Trend, trend
from coherence.records import Record

ALL_GROUPS: Final = "all groups"
DIFFICULTY: Final = "difficulty for the other groups"
WITHIN: Final = ", within the task"
HALVES: Final = {BELOW: "below its median", AT_OR_ABOVE: "at or above its median"}


class Stratum(Record, frozen=True):
    """One stratum of one group, or of all groups of a dataset together.

    `by` is what divides, `place` the stratum's number from 0, `low` and `high` the values in it, `centre`
    is their mean. `tau` and `p` are those of the whole division, by `test`, over `n_test` tasks; `unknown`
    counts the tasks without a value.
    """

    dataset: str
    group: str
    kind: str
    decomposition: str
    by: str
    stratum: str
    place: int
    found: Aggregate
    low: float | None = None
    high: float | None = None
    centre: float | None = None
    test: str = ""
    n_test: int = 0
    tau: float | None = None
    p: float | None = None
    unknown: int = 0
    simulated: str = ""


class Divided(Record, frozen=True, eq=False):
    """A group's tasks divided by a value of each: `bucket` -1 where it is unknown."""

    main: MainParts
    by: str
    value: Floats
    bucket: Ints


def strata(groups: Sequence[Group], settings: IncoherenceSettings) -> Iterator[Stratum]:
    """Yield the strata of the groups of one dataset, then those of all groups together."""
    mains = [main for group in groups if (main := main_parts(group, settings)) is not None]
    divided_by = [each for main in mains for each in _by_length(main, settings)]
    divided_by += list(_by_difficulty(mains, groups, settings))
    for each in divided_by:
        yield from _rows(each, settings)
    for main in mains:
        for column in settings.lengths:
            yield from _own_median(main, column, settings)
    if len(mains) > 1:
        yield from _together(divided_by, settings)
        yield from _by_name(mains)


def _by_length(main: MainParts, settings: IncoherenceSettings) -> Iterator[Divided]:
    for column in settings.lengths:
        length, item = main.outcomes.values(column), main.outcomes.item
        known = ~np.isnan(length)
        if known.any():
            n = np.bincount(item[known], minlength=main.outcomes.items)
            mean = divided(sums(length[known], item[known], main.outcomes.items), n.astype(float))
            yield _divided(main, column, mean, settings)


def _by_difficulty(
    mains: Sequence[MainParts], groups: Sequence[Group], settings: IncoherenceSettings
) -> Iterator[Divided]:
    """Divide by the failure rate of the other groups: of passes where all have them, else by the error."""
    if len(mains) < 2:
        return
    passes = [main_parts(main.group, settings, "passed") for main in mains]
    known = [found for found in passes if found is not None]
    used = known if len(known) == len(mains) else mains
    difficulty = difficulty_for_others(np.stack([error_of_tasks(main) for main in used]))
    for main, row in zip(mains, difficulty, strict=True):
        yield _divided(main, DIFFICULTY, row[main.outcomes.tasks], settings)


def _divided(main: MainParts, by: str, value: Floats, settings: IncoherenceSettings) -> Divided:
    value = np.where(main.parts.known, value, np.nan)
    return Divided(main, by, value, equal_buckets(value, settings.bins))


def _rows(each: Divided, settings: IncoherenceSettings) -> Iterator[Stratum]:
    main, parts = each.main, each.main.parts
    found = trend(each.value, parts.incoherence)
    unknown = int((parts.known & np.isnan(each.value)).sum())
    for place in range(settings.bins):
        chosen = each.bucket == place
        if chosen.any():
            row = _stratum(main, main.group.name, each.by, place, aggregate(parts.take(chosen)))
            yield _with_test(_with_values(row, each.value[chosen]), found, unknown)


def _stratum(main: MainParts, group: str, by: str, place: int, found: Aggregate) -> Stratum:
    return Stratum(
        dataset=main.dataset,
        group=group,
        kind=main.kind,
        decomposition=main.decomposition,
        by=by,
        stratum=f"{place + 1}",
        place=place,
        found=found,
        simulated=main.group.simulated,
    )


def _with_values(row: Stratum, values: Floats) -> Stratum:
    low, high, centre = float(values.min()), float(values.max()), float(values.mean())
    name = f"{row.place + 1}: {wording.value(low)} to {wording.value(high)}"
    return replace(row, stratum=name, low=low, high=high, centre=centre)


def _with_test(row: Stratum, found: Trend, unknown: int) -> Stratum:
    return replace(row, test=KENDALL, n_test=found.n, tau=found.tau, p=found.p, unknown=unknown)


def _own_median(main: MainParts, column: str, settings: IncoherenceSettings) -> Iterator[Stratum]:
    outcomes, length = main.outcomes, main.outcomes.values(column)
    if np.isnan(length).all():
        return
    # Biased estimates depend on the number of attempts: for them both halves are made equal.
    divide = halves if main.parts.estimator == "unbiased" else equal_halves
    half = divide(outcomes.item, length, outcomes.items)
    sides = [decompose(outcomes.only(half == side), main.decomposition, settings) for side in HALVES]
    both = sides[0].known & sides[1].known
    found = paired(sides[0], sides[1], settings.permutations)
    p = None if found.incoherence is None else found.incoherence.p
    for side, name in HALVES.items():
        row = _stratum(main, main.group.name, column + WITHIN, side, aggregate(sides[side].take(both)))
        lost = int((main.parts.known & ~both).sum())
        yield replace(row, stratum=name, test=SIGN_FLIP, n_test=found.items, p=p, unknown=lost)


def _together(divided_by: Sequence[Divided], settings: IncoherenceSettings) -> Iterator[Stratum]:
    """Yield the strata of all groups together, by what divides them and how they are decomposed."""
    families: dict[tuple[str, str, str], list[Divided]] = {}
    for each in divided_by:
        families.setdefault((each.by, each.main.kind, each.main.decomposition), []).append(each)
    for (by, _, _), members in families.items():
        if len(members) > 1:
            for place in range(settings.bins):
                chosen = [each.bucket == place for each in members]
                found = pooled([each.main for each in members], chosen)
                values = np.concatenate([e.value[c] for e, c in zip(members, chosen, strict=True)])
                if len(values):
                    yield _with_values(_stratum(members[0].main, ALL_GROUPS, by, place, found), values)


def _by_name(mains: Sequence[MainParts]) -> Iterator[Stratum]:
    """Yield the groups together by scaffold and by backbone, where there are several."""
    for by in ("scaffold", "backbone"):
        families: dict[tuple[str, str, str], list[MainParts]] = {}
        for main in mains:
            name = getattr(main.group, by)
            if name is not None:
                families.setdefault((main.kind, main.decomposition, name), []).append(main)
        if len(families) > 1:
            for place, ((_, _, name), members) in enumerate(families.items()):
                found = pooled(members, [main.parts.known for main in members])
                yield replace(_stratum(members[0], ALL_GROUPS, by, place, found), stratum=name)
