"""How often the trend test of all groups together finds a trend that is not there, at 5 %.

Tasks have answer chances (Dirichlet with weights 2, 1, .5, .5, the first is right) that their groups share,
and five attempts in each. Nothing divides them that has to do with the chances: a length, of which half the
variance is the task's, or the difficulty for the other groups where each group has chances of its own. Beside
it Kendall's test over all items as if they were independent.
"""

import argparse
import time

import numpy as np

from coherence.incoherence.parts import Floats, Ints, Parts
from coherence.incoherence.squares import answer_spread, squared
from coherence.incoherence.strata import difficulty_for_others
from coherence.incoherence.tallies import tally
from coherence.incoherence.trends import Ranked, pooled_trend, trend

WEIGHTS = np.array([2.0, 1.0, 0.5, 0.5])
ATTEMPTS = 5
LEVEL = 0.05


def parts_of(random: np.random.Generator, chances: Floats) -> Parts:
    """The unbiased Kohavi-Wolpert parts of attempts at tasks of these chances."""
    tasks = len(chances)
    edges = chances.cumsum(axis=1)
    answers = (random.random((tasks, ATTEMPTS, 1)) > edges[:, None, :3]).sum(axis=2)
    item = np.repeat(np.arange(tasks), ATTEMPTS)
    return squared(answer_spread(tally(item, answers.ravel(), np.zeros(tasks, np.int64))), "unbiased")


def by_length(random: np.random.Generator, tasks: int, groups: int) -> list[Ranked]:
    """Groups that share the chances of tasks and half of what makes them long."""
    chances, common = random.dirichlet(WEIGHTS, tasks), random.normal(size=tasks)
    numbers = np.arange(tasks)
    return [
        Ranked(numbers, common + random.normal(size=tasks), parts_of(random, chances).incoherence)
        for _ in range(groups)
    ]


def by_difficulty(random: np.random.Generator, tasks: int, groups: int) -> list[Ranked]:
    """Groups that have nothing in common, divided by the failures of each other."""
    parts = [parts_of(random, random.dirichlet(WEIGHTS, tasks)) for _ in range(groups)]
    numbers: list[Ints] = [np.arange(tasks)] * groups
    others = difficulty_for_others(numbers, [each.error for each in parts])
    return [
        Ranked(number, value, each.incoherence)
        for number, value, each in zip(numbers, others, parts, strict=True)
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=1000)
    args = parser.parse_args()
    start = time.perf_counter()
    print("by          groups  tasks  all groups  as if independent")
    for make in (by_length, by_difficulty):
        for groups, tasks in ((2, 10), (2, 20), (2, 50), (6, 20), (6, 50), (12, 80)):
            rejected = np.zeros(2)
            for run in range(args.runs):
                ranked = make(np.random.default_rng([groups, tasks, run]), tasks, groups)
                naive = trend(
                    np.concatenate([each.by for each in ranked]), np.concatenate([each.of for each in ranked])
                )
                for place, found in enumerate((pooled_trend(ranked), naive)):
                    rejected[place] += found.p is not None and found.p <= LEVEL
            shares = 100 * rejected / args.runs
            name = make.__name__.removeprefix("by_")
            print(f"{name:10} {groups:7} {tasks:6} {shares[0]:11.1f} {shares[1]:18.1f}", flush=True)
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
