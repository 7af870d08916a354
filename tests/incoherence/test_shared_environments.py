"""Parts and covariance over common environments, against worked examples, every pair and every sample."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from coherence.incoherence.parts import Floats, Parts
from coherence.incoherence.shared_environments import (
    NO_SCATTER,
    TOO_FEW,
    Entries,
    Environments,
    Side,
    covariance_in,
    parts_in,
    shared,
)
from coherence.incoherence.squares import answer_spread, nested, number_spread
from coherence.incoherence.tallies import tally


def side(
    environment: list[int], answer: list[int], target: int = 0, context: list[int] | None = None
) -> Side:
    """Attempts that answer a number each where 0 is right, by Kohavi and Wolpert."""
    given = np.array(answer)
    n = len(given)
    return Side(
        environment=np.array(environment),
        loss=2.0 * (given != 0),
        vectors=Entries(np.arange(n), given, np.ones(n)),
        context=None if context is None else np.array(context),
        scale=0.5,
    )


def one_task(environments: int) -> Environments:
    return Environments(np.zeros(environments, np.int64), np.arange(environments))


def test_a_worked_example() -> None:
    # Wrong in the third environment; wrong in the second and the third.
    first, second = side([0, 1, 2], [0, 0, 1]), side([0, 1, 2], [0, 1, 1])
    one, other = (parts_in(group, one_task(3)) for group in (first, second))
    assert (one.error[0], one.variance[0], one.bias[0]) == pytest.approx((1 / 3, 1 / 3, 0))
    assert (other.error[0], other.variance[0], other.bias[0]) == pytest.approx((2 / 3, 1 / 3, 1 / 3))
    # (-1/3 * -2/3 + -1/3 * 1/3 + 2/3 * 1/3) / 2
    assert covariance_in(first, second, one_task(3)) == pytest.approx([1 / 6])


def test_environments_weigh_the_same_and_attempts_of_one_are_no_pair() -> None:
    found = parts_in(side([0, 0, 1], [0, 1, 1]), one_task(2))
    assert found.error == pytest.approx([(1 / 2 + 1) / 2])  # 2/3 of the attempts
    assert found.variance == pytest.approx([(1 / 2 + 0) / 2])  # one of the two pairs is unlike, each a half
    assert found.n.tolist() == [3]


def test_what_an_environment_does_to_both_cancels_whoever_was_tried_more_often_in_it() -> None:
    first, second = side([0, 0, 0, 1], [1, 1, 1, 0]), side([0, 1, 1, 1], [1, 0, 0, 0])
    one, other = (parts_in(group, one_task(2)) for group in (first, second))
    assert one.error == other.error == 0.5
    assert covariance_in(first, second, one_task(2)) == one.variance == other.variance == 0.5


def test_with_equally_many_attempts_the_parts_are_those_of_nested_sampling() -> None:
    random = np.random.default_rng(3)
    answer, environment = random.integers(3, size=60), np.repeat(np.arange(20), 3)
    task = np.repeat(np.arange(4), 5)
    item = task[environment]
    found = parts_in(side(environment.tolist(), answer.tolist()), Environments(task, np.arange(20)))
    whole, cells = (
        answer_spread(tally(which, answer, np.zeros(number, np.int64)))
        for which, number in ((item, 4), (environment, 20))
    )
    wanted = nested(whole, cells, task).parts
    assert found.error == pytest.approx(wanted.error)
    assert found.variance == pytest.approx(wanted.variance)


@pytest.mark.parametrize("contexts", ["none", "of one", "of both"])
def test_every_pair_that_differs_in_environment_and_context(contexts: str) -> None:
    random = np.random.default_rng(5)
    seed, where = np.divmod(np.arange(12), 3) if contexts == "of both" else (np.arange(12), np.zeros(12, int))
    common = Environments(np.zeros(12, np.int64), seed, where if contexts == "of both" else None)
    environment = np.concatenate([np.arange(12), random.integers(12, size=9)])
    points = random.normal(size=(2, 21, 2))
    context: dict[str, list[Any]] = {
        "none": [None, None],
        "of one": [random.integers(4, size=21), None],
        "of both": [where[environment]] * 2,
    }
    weight = 1 / np.bincount(environment)[environment]
    groups = [
        Side(
            environment,
            (x**2).sum(axis=1),
            Entries(np.repeat(np.arange(21), 2), np.tile([0, 1], 21), x.ravel()),
            c,
        )
        for x, c in zip(points, context[contexts], strict=True)
    ]
    for x, group in zip(points, groups, strict=True):
        apart = seed[environment][:, None] != seed[environment]
        if group.context is not None:
            apart &= group.context[:, None] != group.context
        weights = weight[:, None] * weight * apart
        squares = ((x[:, None] - x) ** 2).sum(axis=2)
        found = parts_in(group, common)
        assert found.variance == pytest.approx([(weights * squares).sum() / weights.sum() / 2])
        assert found.error == pytest.approx([(weight * group.loss).sum() / 12])
    means = [np.array([x[environment == which].mean(axis=0) for which in range(12)]) for x in points]
    apart = seed[:, None] != seed
    if contexts == "of both":
        apart &= where[:, None] != where
    products = ((means[0][:, None] - means[0]) * (means[1][:, None] - means[1])).sum(axis=2)
    assert covariance_in(groups[0], groups[1], common) == pytest.approx([products[apart].mean() / 2])


def test_expectations_are_the_true_values() -> None:
    """Two kinds of environment, equally likely; the first group is tried twice in the first of two."""
    wrong = np.array([[0.2, 0.9], [0.4, 0.7]])  # of each group in each kind
    found = np.zeros(4)
    for kinds in product(range(2), repeat=2):
        for answers in product(range(2), repeat=5):
            chance = 0.25
            owners = [(0, kinds[0]), (0, kinds[0]), (0, kinds[1]), (1, kinds[0]), (1, kinds[1])]
            for answer, (group, kind) in zip(answers, owners, strict=True):
                chance *= wrong[group, kind] if answer else 1 - wrong[group, kind]
            first, second = side([0, 0, 1], list(answers[:3])), side([0, 1], list(answers[3:]))
            parts = parts_in(first, one_task(2))
            both = covariance_in(first, second, one_task(2))
            found += chance * np.array([parts.error[0], parts.bias[0], parts.variance[0], both[0]])
    mean = wrong.mean(axis=1)
    covariance = ((wrong[0] - mean[0]) * (wrong[1] - mean[1])).mean()
    assert found == pytest.approx([mean[0], mean[0] ** 2, mean[0] * (1 - mean[0]), covariance])


def test_one_environment_has_no_scatter_to_see() -> None:
    common = Environments(np.array([0, 1, 1]), np.array([7, 7, 8]))
    first, second = side([0, 0, 0, 1, 2], [0, 1, 2, 0, 1]), side([0, 1, 2], [0, 0, 1])
    one, other = (parts_in(group, common) for group in (first, second))
    assert one.known.tolist() == [False, True]
    both = covariance_in(first, second, common)
    assert shared(both, one, other).items == 1
    alone = np.array([True, False])
    assert shared(both[alone], one.take(alone), other.take(alone)).reason == TOO_FEW


def test_one_context_everywhere_is_no_independent_pair() -> None:
    found = parts_in(side([0, 0, 0, 1, 1, 1, 2], [0, 1, 0, 1, 1, 0, 1], context=[4] * 7), one_task(3))
    assert np.isnan(found.variance).all()
    assert np.isnan(found.error).all()


def test_large_numbers_keep_their_scatter() -> None:
    value = np.array([1e9, 1e9 + 1, 1e9 + 3])
    centred = value - value.mean()
    given = Side(np.arange(3), value**2, Entries(np.arange(3), np.zeros(3, np.int64), centred))
    spread = number_spread(np.zeros(3, np.int64), value, np.zeros(1))
    assert parts_in(given, one_task(3)).variance == pytest.approx(spread.scatter / 2)


def known(variance: Floats) -> Parts:
    return Parts(np.full(len(variance), 4), variance + 0.1, np.full(len(variance), 0.1), variance, "unbiased")


def test_shares_are_ratios_of_sums_with_intervals_over_tasks() -> None:
    both, one = np.array([0.1, 0.0, 0.05] * 2), np.array([0.2, 0.1, 0.1] * 2)
    found = shared(both, known(one), known(2 * one))
    assert found.items == 6
    assert (found.covariance, found.first, found.second) == pytest.approx((0.05, 0.375, 0.1875))
    assert found.first_interval is not None
    # Leaving out each task in turn: .2/.6, .3/.7, .25/.7, twice; t of 5 degrees of freedom.
    without = np.array([2 / 6, 3 / 7, 2.5 / 7] * 2)
    half = 2.570581835636314 * np.sqrt(((without - without.mean()) ** 2).sum() * 5 / 6)
    assert (found.first_interval.low, found.first_interval.high) == pytest.approx(
        (0.375 - half, 0.375 + half)
    )


def test_a_share_of_too_few_tasks_has_no_interval() -> None:
    both, one = np.array([0.1, 0.0, 0.05]), np.array([0.2, 0.1, 0.1])
    found = shared(both, known(one), known(2 * one))
    assert (found.covariance, found.first, found.second) == pytest.approx((0.05, 0.375, 0.1875))
    assert (found.first_interval, found.second_interval) == (None, None)


def test_a_group_without_scatter_shares_an_unknown_part_of_it() -> None:
    nothing = np.zeros(2)
    found = shared(nothing, known(nothing), known(np.array([0.1, 0.2])))
    assert (found.first, found.first_interval, found.second) == (None, None, 0)
    assert found.reason == NO_SCATTER
