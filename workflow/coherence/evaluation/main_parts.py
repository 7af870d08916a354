"""The one decomposition of each group that strata, pairs, votes and figures rest on."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from msgspec.structs import replace

from coherence.evaluation.decompositions import decompose
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.outcome_kinds import Attempts, attempts_of, kinds_of
from coherence.evaluation.repeated import Group
from coherence.incoherence.aggregates import Aggregate, aggregate, intervals
from coherence.incoherence.parts import Bools, Parts, incomparable, joined, sums
from coherence.records import Record

ALL_GROUPS: Final = "all groups"


class MainParts(Record, frozen=True, eq=False):
    """A group's attempts of one kind with their parts by the main decomposition of that kind."""

    attempts: Attempts
    decomposition: str
    parts: Parts

    @property
    def group(self) -> Group:
        """The group."""
        return self.attempts.group

    @property
    def dataset(self) -> str:
        """The group's dataset."""
        return self.attempts.group.dataset

    @property
    def kind(self) -> str:
        """The kind of outcome."""
        return self.attempts.kind


def main_parts(group: Group, settings: IncoherenceSettings, kind: str | None = None) -> MainParts | None:
    """Return the parts by the most telling kind of outcome, or by the one named; None where there is none."""
    kinds = kinds_of(group, settings)
    if not kinds or (kind is not None and kind not in kinds):
        return None
    found = attempts_of(group, kind or kinds[0])
    name = settings.decompositions_of(found.kind)[0]
    return MainParts(found, name, decompose(found, name, settings))


def by_dataset(groups: Iterable[Group]) -> dict[str, list[Group]]:
    """Return the groups of each dataset, in order."""
    found: dict[str, list[Group]] = {}
    for group in groups:
        found.setdefault(group.dataset, []).append(group)
    return found


def pooled(mains: Sequence[MainParts], chosen: Sequence[Bools]) -> Aggregate:
    """Return the aggregate of some tasks of groups, whose intervals keep the groups of a task together.

    There is no incoherence of groups that must not be pooled.
    """
    parts = joined([main.parts.take(some) for main, some in zip(mains, chosen, strict=True)])
    if incomparable(parts):
        return replace(aggregate(parts), incoherence=None, jackknife=None, delta=None, untold="")
    clusters = summed_by_task(mains, chosen)
    return replace(aggregate(parts), **intervals(clusters.variance, clusters.error))


def summed_by_task(mains: Sequence[MainParts], chosen: Sequence[Bools]) -> Parts:
    """Return the sums over groups of the parts of each task, of those of the chosen that are known."""
    parts = joined([main.parts.take(some) for main, some in zip(mains, chosen, strict=True)])
    task = np.concatenate([main.attempts.tasks[some] for main, some in zip(mains, chosen, strict=True)])
    known = parts.take(parts.known)
    tasks, cluster = np.unique(task[parts.known], return_inverse=True)
    n, error, bias, variance = (
        sums(field, cluster, len(tasks)) for field in (known.n, known.error, known.bias, known.variance)
    )
    return Parts(n.astype(np.int64), error, bias, variance, parts.estimator, parts.adds_up)
