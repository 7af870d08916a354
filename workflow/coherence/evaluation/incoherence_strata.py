"""Incoherence within strata: of length, of difficulty for the others, below and above a task's own median."""

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec.structs import replace

from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.main_parts import ALL_GROUPS, MainParts, main_parts, pooled
from coherence.evaluation.own_medians import own_medians
from coherence.evaluation.repeated import Group
from coherence.evaluation.stratum import DIFFICULTY, Stratum, stratum, with_values
from coherence.incoherence.aggregates import aggregate
from coherence.incoherence.parts import Floats, Ints, divided, sums
from coherence.incoherence.strata import difficulty_for_others, equal_buckets
from coherence.incoherence.trends import KENDALL, POOLED_KENDALL, Ranked, Trend, pooled_trend, trend
from coherence.records import Record


class Divided(Record, frozen=True, eq=False):
    """A group's tasks divided by a value of each: `bucket` -1 where it is unknown."""

    main: MainParts
    by: str
    value: Floats
    bucket: Ints

    @property
    def ranked(self) -> Ranked:
        """The values of the tasks beside their own incoherence."""
        return Ranked(self.main.attempts.tasks, self.value, self.main.parts.incoherence)

    @property
    def unknown(self) -> int:
        """How many tasks with known parts have no value."""
        return int((self.main.parts.known & np.isnan(self.value)).sum())


def strata(groups: Sequence[Group], settings: IncoherenceSettings) -> Iterator[Stratum]:
    """Yield the strata of the groups of one dataset, then those of all groups together."""
    mains = [main for group in groups if (main := main_parts(group, settings)) is not None]
    divided_by = [each for main in mains for each in _by_length(main, settings)]
    divided_by += list(_by_difficulty(mains, groups, settings))
    for each in divided_by:
        yield from _rows(each, settings)
    yield from own_medians(mains, settings)
    if len(mains) > 1:
        yield from _together(divided_by, mains, settings)
        yield from _by_name(mains)


def _by_length(main: MainParts, settings: IncoherenceSettings) -> Iterator[Divided]:
    for column in settings.lengths:
        length, item = main.attempts.values(column), main.attempts.item
        known = ~np.isnan(length)
        if known.any():
            n = np.bincount(item[known], minlength=main.attempts.items)
            mean = divided(sums(length[known], item[known], main.attempts.items), n.astype(float))
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
    size = len(mains[0].group.tasks)
    difficulty = difficulty_for_others(
        [main.attempts.tasks for main in used], [main.parts.error for main in used]
    )
    for main, other, values in zip(mains, used, difficulty, strict=True):
        by_task = np.full(size, np.nan)
        by_task[other.attempts.tasks] = values
        yield _divided(main, DIFFICULTY, by_task[main.attempts.tasks], settings)


def _divided(main: MainParts, by: str, value: Floats, settings: IncoherenceSettings) -> Divided:
    value = np.where(main.parts.known, value, np.nan)
    return Divided(main, by, value, equal_buckets(value, settings.bins))


def _rows(each: Divided, settings: IncoherenceSettings) -> Iterator[Stratum]:
    main, parts = each.main, each.main.parts
    found = trend(each.value, parts.incoherence)
    for place in range(settings.bins):
        chosen = each.bucket == place
        if chosen.any():
            row = stratum(main, main.group.name, each.by, place, aggregate(parts.take(chosen)))
            yield _with_test(with_values(row, each.value[chosen]), found, each.unknown)


def _with_test(row: Stratum, found: Trend, unknown: int, test: str = KENDALL) -> Stratum:
    return replace(row, test=test, n_test=found.n, tau=found.tau, p=found.p, unknown=unknown)


def _together(
    divided_by: Sequence[Divided], mains: Sequence[MainParts], settings: IncoherenceSettings
) -> Iterator[Stratum]:
    """Yield the strata of all groups together, by what divides them and how they are decomposed.

    The tasks of a group without any value count as unknown too.
    """
    families: dict[tuple[str, str, str], list[Divided]] = {}
    for each in divided_by:
        families.setdefault((each.by, each.main.kind, each.main.decomposition), []).append(each)
    for (by, kind, decomposition), members in families.items():
        if len(members) > 1:
            there = {id(each.main) for each in members}
            alike = [main for main in mains if (main.kind, main.decomposition) == (kind, decomposition)]
            unknown = sum(each.unknown for each in members)
            unknown += sum(int(main.parts.known.sum()) for main in alike if id(main) not in there)
            test = pooled_trend([each.ranked for each in members])
            for place in range(settings.bins):
                chosen = [each.bucket == place for each in members]
                found = pooled([each.main for each in members], chosen)
                values = np.concatenate([e.value[c] for e, c in zip(members, chosen, strict=True)])
                if len(values):
                    row = stratum(members[0].main, ALL_GROUPS, by, place, found)
                    yield _with_test(with_values(row, values), test, unknown, POOLED_KENDALL)


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
                yield replace(stratum(members[0], ALL_GROUPS, by, place, found), stratum=name)
