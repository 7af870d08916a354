"""Attempts below against at or above their own task's median: length, with the task held fixed."""

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec.structs import replace

from coherence.evaluation.decompositions import decompose
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.main_parts import ALL_GROUPS, MainParts, pooled, summed_by_task
from coherence.evaluation.stratum import HALVES, WITHIN, Stratum, stratum
from coherence.incoherence.paired import SIGN_FLIP, paired
from coherence.incoherence.strata import equal_halves, halves


def own_medians(mains: Sequence[MainParts], settings: IncoherenceSettings) -> Iterator[Stratum]:
    """Yield both halves of each group, then of all groups together, for each length."""
    for column in settings.lengths:
        families: dict[tuple[str, str], list[tuple[MainParts, MainParts]]] = {}
        for main in mains:
            sides = _sides(main, column, settings)
            if sides is not None:
                families.setdefault((main.kind, main.decomposition), []).append(sides)
                yield from _two(main.group.name, column, [sides], settings)
        for members in families.values():
            if len(members) > 1:
                yield from _two(ALL_GROUPS, column, members, settings)


def _sides(main: MainParts, column: str, settings: IncoherenceSettings) -> tuple[MainParts, MainParts] | None:
    attempts, length = main.attempts, main.attempts.values(column)
    if np.isnan(length).all():
        return None
    # Biased estimates depend on the number of attempts: for them both halves are made equal.
    divide = halves if main.parts.estimator == "unbiased" else equal_halves
    half = divide(attempts.item, length, attempts.items)
    below, above = (
        MainParts(some, main.decomposition, decompose(some, main.decomposition, settings))
        for some in (attempts.only(half == side) for side in HALVES)
    )
    return below, above


def _two(
    group: str, column: str, members: Sequence[tuple[MainParts, MainParts]], settings: IncoherenceSettings
) -> Iterator[Stratum]:
    both = [below.parts.known & above.parts.known for below, above in members]
    by_task = [summed_by_task(side, both) for side in zip(*members, strict=True)]
    test = paired(by_task[0], by_task[1], settings.permutations)
    lost = sum(int((~known).sum()) for known in both)
    for place, side in enumerate(zip(*members, strict=True)):
        row = stratum(side[0], group, column + WITHIN, place, pooled(side, both))
        yield replace(
            row,
            stratum=HALVES[place],
            test=SIGN_FLIP,
            n_test=test.items,
            p=None if test.incoherence is None else test.incoherence.p,
            unknown=lost,
        )
