"""What pairing by environment does: size of the tests, widths by environment and by task, coverage of shares.

Two groups with the same chance of failing each task, in environments half, all or none of which they have in
common. With chance sqrt(share) an attempt comes out as its environment says (the same for both groups), else
by a draw of its own, so that both groups share that part of their variance. Under this null hypothesis prints
how often the tests of error and incoherence call the groups different at 5 %, mean widths of the intervals of
the difference in error, and how often the interval of the shared part holds it.
"""

import argparse
import time

import numpy as np

from coherence.incoherence.paired import Permutations, paired
from coherence.incoherence.parts import Floats, Ints, Parts
from coherence.incoherence.shared_environments import (
    Entries,
    Environments,
    Side,
    covariance_in,
    parts_in,
    shared,
)
from coherence.incoherence.squares import answer_spread, squared
from coherence.incoherence.tallies import tally

COMMON = 5  # environments a task


def side(wrong: Ints) -> Side:
    """Attempts of a row a task and a column an environment."""
    given = wrong.ravel()
    n = len(given)
    return Side(np.arange(n), 2 * given.astype(float), Entries(np.arange(n), given, np.ones(n)), scale=0.5)


def by_task(wrong: Ints) -> Parts:
    """The parts of the same attempts without regard to environments."""
    tasks, attempts = wrong.shape
    counts = tally(np.repeat(np.arange(tasks), attempts), wrong.ravel(), np.zeros(tasks, np.int64))
    return squared(answer_spread(counts))


def outcomes(random: np.random.Generator, tasks: int, own: int, share: float) -> tuple[Ints, Ints]:
    """Whether attempts fail: the first `COMMON` columns are common environments, then come `own` ones."""
    chance = random.uniform(0.1, 0.9, (tasks, 1))
    luck = random.random((tasks, COMMON))
    sides = []
    for _ in range(2):
        drawn = random.random((tasks, COMMON + own))
        same = random.random((tasks, COMMON)) < share**0.5
        drawn[:, :COMMON] = np.where(same, luck, drawn[:, :COMMON])
        sides.append((drawn < chance).astype(np.int64))
    return sides[0], sides[1]


def measured(random: np.random.Generator, tasks: int, own: int, share: float) -> Floats:
    """Both rejections, widths by environment and by task, whether the interval held the share."""
    first, second = outcomes(random, tasks, own, share)
    common = Environments(np.repeat(np.arange(tasks), COMMON), np.arange(tasks * COMMON))
    sides = side(first[:, :COMMON]), side(second[:, :COMMON])
    parts = parts_in(sides[0], common), parts_in(sides[1], common)
    found = paired(*parts, Permutations(199))
    without = paired(by_task(first), by_task(second), Permutations(1))
    part = shared(covariance_in(*sides, common), *parts).first_interval
    assert found.error is not None and found.incoherence is not None and without.error is not None
    one, other = found.error.interval, without.error.interval
    assert one is not None and other is not None and part is not None
    return np.array(
        [
            found.error.p <= 0.05,
            found.incoherence.p <= 0.05,
            one.high - one.low,
            other.high - other.low,
            part.low <= share <= part.high,
        ]
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=2000)
    args = parser.parse_args()
    start = time.perf_counter()
    print(f"{args.runs:,} runs, {COMMON} common environments a task")
    print("tasks  others  share  size error  size incoherence  width by seed  by task  coverage of share")
    for tasks, own, share in (
        *((tasks, 5, share) for tasks in (20, 50) for share in (0.0, 0.5, 0.75, 0.95)),
        *((50, 0, share) for share in (0.0, 0.75)),
    ):
        runs = [
            measured(np.random.default_rng([tasks, own, run]), tasks, own, share) for run in range(args.runs)
        ]
        error, ratio, seed, task, held = np.mean(runs, axis=0)
        print(
            f"{tasks:5} {own:7} {share:6.2f} {100 * error:11.1f} {100 * ratio:17.1f}"
            f"{seed:15.3f} {task:8.3f} {100 * held:18.1f}",
            flush=True,
        )
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
