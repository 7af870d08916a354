"""Two groups matched by environment: what they do in those both have, and which attempts have no partner."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from coherence.evaluation.decompositions import SQUARES
from coherence.evaluation.main_parts import MainParts
from coherence.evaluation.outcome_entries import entries, scale_of
from coherence.evaluation.repeated import Group
from coherence.incoherence.parts import Bools, Ints, Parts
from coherence.incoherence.shared_environments import (
    Environments,
    Shared,
    Side,
    covariance_in,
    parts_in,
    shared,
)
from coherence.records import Record

BY_TASK: Final = "task"
BY_SEED: Final = "task and seed"
BY_CONTEXT: Final = "task, context and seed"
NO_SEED: Final = "without a seed"
NO_CONTEXT: Final = "without a context"
NOT_SHARED: Final = "in environments the other has not"
ALONE: Final = "in tasks with fewer than two common environments"
NO_SEEDS: Final = "no seeds"
NOT_BOTH: Final = "only one group has seeds"
NO_ESTIMATE: Final = "seeds: only unbiased estimates by squared distance can be paired by environment"
NONE_COMMON: Final = "seeds: no environment in common"
TOO_FEW: Final = "seeds: fewer than two tasks with two common environments"


class Marks(Record, frozen=True, eq=False):
    """The seed and context of each of a group's attempts as codes of its dataset, -1 where unknown.

    `context` is None where no attempt has one.
    """

    seed: Ints
    context: Ints | None


class Matched(Record, frozen=True, eq=False):
    """The parts of two groups on the same tasks in the same order; `by` says what makes partners of attempts.

    By environments these are attempts in `environments` that both groups have, and all parts are known.
    `left_out` counts the other attempts of each by reason; by task there are none, and `by_task` says why
    it is not by environment.
    """

    parts: tuple[Parts, Parts]
    by: str
    by_task: str = ""
    environments: int | None = None
    shared: Shared = Shared()
    left_out: tuple[dict[str, int], dict[str, int]] = ({}, {})


def marks_of(groups: Sequence[Group]) -> dict[str, Marks]:
    """Return the marks of each group of one dataset that has any seed."""
    seeded = [group for group in groups if group.known("seed").any()]
    if not seeded:
        return {}
    seeds, contexts = (_codes(seeded, column) for column in ("seed", "context"))
    return {
        group.name: Marks(seed, context if (context >= 0).any() else None)
        for group, seed, context in zip(seeded, seeds, contexts, strict=True)
    }


def _codes(groups: Sequence[Group], column: str) -> list[Ints]:
    texts = pd.concat([group.frame[column].astype(object) for group in groups])
    bounds = np.cumsum([len(group.frame) for group in groups])[:-1]
    return np.split(np.asarray(pd.factorize(texts)[0], dtype=np.int64), bounds)


def matched(first: MainParts, second: MainParts, marks: dict[str, Marks]) -> Matched:
    """Return the groups matched by environment where they can be, else by task.

    An environment is a seed of a task; where both groups have contexts, a seed in a context.
    """
    found = _by_environment(first, second, marks)
    if isinstance(found, Matched):
        return found
    _, one, other = np.intersect1d(first.attempts.tasks, second.attempts.tasks, return_indices=True)
    parts = first.parts.take(one), second.parts.take(other)
    return Matched(parts, BY_TASK, found, shared=Shared(reason=found))


def _by_environment(first: MainParts, second: MainParts, marks: dict[str, Marks]) -> Matched | str:
    one, other = (marks.get(side.group.name) for side in (first, second))
    if one is None or other is None:
        return NO_SEEDS if one is other else NOT_BOTH
    if first.decomposition not in SQUARES or first.parts.estimator != "unbiased":
        return NO_ESTIMATE
    with_context = one.context is not None and other.context is not None
    return _matched(
        (
            _Marked(first, one, with_context=with_context),
            _Marked(second, other, with_context=with_context),
        ),
        with_context=with_context,
    )


class _Marked:
    """A group's attempts with their seeds and contexts; `known` are those that name an environment."""

    def __init__(self, main: MainParts, marks: Marks, *, with_context: bool) -> None:
        rows = main.attempts.rows
        self.main = main
        self.task = main.attempts.tasks[main.attempts.item]
        self.seed = marks.seed[rows]
        self.context = None if marks.context is None else marks.context[rows]
        self.left_out: dict[str, int] = {}
        self.known = self.without(self.seed >= 0, NO_SEED)
        if with_context and self.context is not None:
            self.known = self.without(self.context >= 0, NO_CONTEXT, self.known)

    def without(self, good: Bools, reason: str, among: Bools | None = None) -> Bools:
        """Return those that are good, and count the others."""
        lost = ~good if among is None else among & ~good
        if lost.any():
            self.left_out[reason] = int(lost.sum())
        return good if among is None else among & good


def _matched(sides: tuple[_Marked, _Marked], *, with_context: bool) -> Matched | str:
    numbered = _numbered(sides, with_context=with_context)
    common = np.intersect1d(numbered[0][sides[0].known], numbered[1][sides[1].known])
    if not len(common):
        return NONE_COMMON
    chosen = [
        side.without(np.isin(keys, common), NOT_SHARED, side.known)
        for side, keys in zip(sides, numbered, strict=True)
    ]
    built = entries((sides[0].main.attempts, chosen[0]), (sides[1].main.attempts, chosen[1]))
    scale = scale_of(sides[0].main.decomposition)
    made = [
        Side(np.searchsorted(common, keys[some]), *given, _contexts(side, some), scale)
        for side, keys, some, given in zip(sides, numbered, chosen, built, strict=True)
    ]
    # Any attempt tells an environment's task, seed and context.
    first = np.flatnonzero(chosen[0])[np.unique(made[0].environment, return_index=True)[1]]
    one = sides[0]
    common_context = one.context[first] if with_context and one.context is not None else None
    environments = Environments(
        np.unique(one.task[first], return_inverse=True)[1], one.seed[first], common_context
    )
    return _compared(sides, environments, (made[0], made[1]))


def _numbered(sides: tuple[_Marked, _Marked], *, with_context: bool) -> list[Ints]:
    """Return a number for the environment of each attempt, which rises with the task."""
    seeds = 1 + max(int(side.seed.max(initial=0)) for side in sides)
    keys = [side.task for side in sides]
    if with_context:
        contexts = [side.context if side.context is not None else side.seed for side in sides]
        most = 1 + max(int(context.max(initial=0)) for context in contexts)
        keys = [key * most + context for key, context in zip(keys, contexts, strict=True)]
    return [key * seeds + side.seed for key, side in zip(keys, sides, strict=True)]


def _contexts(side: _Marked, chosen: Bools) -> Ints | None:
    """Return the contexts of the attempts; one of unknown context shares nothing that is known."""
    if side.context is None:
        return None
    context = side.context[chosen]
    unknown = context < 0
    return np.where(unknown, context.max(initial=0) + np.cumsum(unknown), context)


def _compared(
    marked: tuple[_Marked, _Marked], common: Environments, sides: tuple[Side, Side]
) -> Matched | str:
    first, second = (parts_in(side, common) for side in sides)
    known = first.known & second.known
    if known.sum() < 2:
        return TOO_FEW
    for group, parts in zip(marked, (first, second), strict=True):
        if not known.all():
            group.left_out[ALONE] = int(parts.n[~known].sum())
    covariance = covariance_in(*sides, common)[known]
    first, second = first.take(known), second.take(known)
    return Matched(
        (first, second),
        BY_SEED if common.context is None else BY_CONTEXT,
        environments=int(known[common.task].sum()),
        shared=shared(covariance, first, second),
        left_out=(marked[0].left_out, marked[1].left_out),
    )
