"""How much each attempt of a group lost by each measure of failure, and which attempts can be weighed."""

from collections.abc import Iterable, Sequence

import numpy as np

from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.outcome_kinds import TARGETS, attempts_of
from coherence.evaluation.repeated import Group
from coherence.incoherence.contract import LOSSES
from coherence.incoherence.parts import Bools, Floats, Ints
from coherence.records import Record


class Measured(Record, frozen=True, eq=False):
    """A group with the losses of its attempts by name, NaN where unknown."""

    group: Group
    losses: dict[str, Floats]

    @property
    def known(self) -> list[str]:
        """The losses that some attempt has."""
        return [name for name, loss in self.losses.items() if not np.isnan(loss).all()]


def measured_losses(groups: Sequence[Group], settings: IncoherenceSettings) -> list[Measured]:
    """Return the groups of one dataset with every loss that their attempts have.

    Rewards of 0 and 1 are pass or fail over again, unless another group of the dataset has some between: a
    group that happens to have none is not to be left out of what all have.
    """
    has_between = any(map(_has_between, groups))
    names = [name for name in LOSSES if name != "reward" or has_between]
    return [
        Measured(group, {name: loss for name in names if (loss := _loss(group, name, settings)) is not None})
        for group in groups
    ]


def _has_between(group: Group) -> bool:
    rewards = group.numbers("reward")
    return bool((~np.isin(rewards[~np.isnan(rewards)], (0.0, 1.0))).any())


def _loss(group: Group, name: str, settings: IncoherenceSettings) -> Floats | None:
    """Return the loss of each attempt, NaN where it is unknown; None where the group has no such values."""
    if not group.known(name).any():
        return None
    if name == "tests":
        return failed_tests(group)
    values = group.numbers(name)
    if name == "number":
        return np.asarray(np.abs(values - group.numbers(TARGETS["number"])))
    best = {"reward": 1.0, "rubric": settings.rubric_best}.get(name)
    return values if best is None else _below(best, values)


def _below(best: float, values: Floats) -> Floats:
    """Return how far below the best values are; unknown of all where one is above it: it is not the best."""
    return np.full(len(values), np.nan) if (values > best).any() else best - values


def failed_tests(group: Group) -> Floats:
    """Return the share of its task's tests that each attempt failed, NaN where it has no result."""
    loss = np.full(len(group.frame), np.nan)
    attempts = attempts_of(group, "tests")
    if attempts.vectors is not None:
        width = attempts.vectors.width[attempts.item]
        passed = np.bincount(
            np.repeat(np.arange(len(width)), width),
            weights=attempts.vectors.values,
            minlength=len(width),
        )
        loss[attempts.rows] = 1 - passed / width
    return loss


class Used(Record, frozen=True, eq=False):
    """The attempts of a group of which outcome and losses are known; `tasks` numbers each item's task."""

    item: Ints
    tasks: Ints
    failed: Bools
    losses: dict[str, Floats]
    no_outcome: int
    no_loss: int


def used_attempts(measured: Measured, names: Iterable[str]) -> Used:
    """Return the attempts of known outcome that have all of some losses; a group may have none of them."""
    group = measured.group
    unknown = np.full(len(group.frame), np.nan)
    losses = {name: measured.losses.get(name, unknown) for name in names}
    known_outcome = group.known("passed")
    known_loss = ~np.isnan(np.stack([*losses.values()])).any(axis=0)
    used = known_outcome & known_loss
    tasks, item = np.unique(group.task[used], return_inverse=True)
    return Used(
        item=item,
        tasks=tasks,
        failed=~group.frame["passed"].to_numpy(dtype=bool, na_value=True)[used],
        losses={name: loss[used] for name, loss in losses.items()},
        no_outcome=int((~known_outcome).sum()),
        no_loss=int((known_outcome & ~known_loss).sum()),
    )
