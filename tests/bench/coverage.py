"""How often intervals of error incoherence hold the true value, for made-up tasks of known answer chances.

Four answers a task; their chances are Dirichlet with weights 2, 1, .5, .5, the target is the first. The truth
is the ratio of expected sums over endless tasks. Prints coverage in % of nominal 95 % intervals, and how
often the permutation test calls two groups of equal incoherence and unequal error different at 5 %. Then the
coverage of the jackknife-t interval of the share of scaffolds in the error, of pass or fail whose log odds
are normal: standard deviation 3 between tasks, 1 between the scaffolds of a task.
"""

import argparse
import time

import numpy as np
from scipy.sparse import csr_array

from coherence.incoherence.aggregates import delta_t, jackknife_t
from coherence.incoherence.levels import Points
from coherence.incoherence.nesting import Units, components
from coherence.incoherence.paired import Permutations, paired
from coherence.incoherence.parts import Estimator, Floats, Ints, Parts
from coherence.incoherence.squares import answer_spread, squared
from coherence.incoherence.tallies import tally

WEIGHTS = np.array([2.0, 1.0, 0.5, 0.5])
ENDLESS = 1_000_000  # tasks that stand for endless ones


def truth(random: np.random.Generator) -> float:
    """The ratio of expected sums over tasks."""
    chances = random.dirichlet(WEIGHTS, ENDLESS)
    return float(((1 - (chances**2).sum(axis=1)) / 2).sum() / (1 - chances[:, 0]).sum())


def sample(random: np.random.Generator, tasks: int, attempts: int) -> Ints:
    """The answers of each attempt, a row a task."""
    edges = random.dirichlet(WEIGHTS, tasks).cumsum(axis=1)
    return np.asarray((random.random((tasks, attempts, 1)) > edges[:, None, :3]).sum(axis=2))


def parts_of(answers: Ints, estimator: Estimator) -> Parts:
    """The Kohavi-Wolpert parts of the answers."""
    tasks, attempts = answers.shape
    counts = tally(np.repeat(np.arange(tasks), attempts), answers.ravel(), np.zeros(tasks, np.int64))
    return squared(answer_spread(counts), estimator)


def percentile(parts: Parts, random: np.random.Generator, resamples: int) -> tuple[float, float]:
    """The percentile bootstrap of tasks."""
    drawn = random.integers(len(parts.n), size=(resamples, len(parts.n)))
    ratios = parts.variance[drawn].sum(axis=1) / parts.error[drawn].sum(axis=1)
    low, high = np.percentile(ratios, [2.5, 97.5])
    return float(low), float(high)


def covered(tasks: int, attempts: int, runs: int, resamples: int, true: float) -> Floats:
    """The coverage of each kind of interval."""
    held = np.zeros(4)
    for run in range(runs):
        random = np.random.default_rng([tasks, attempts, run])
        answers = sample(random, tasks, attempts)
        plugged, unbiased = parts_of(answers, "plug-in"), parts_of(answers, "unbiased")
        bounds = [percentile(plugged, random, resamples), percentile(unbiased, random, resamples)]
        for interval in (
            jackknife_t(unbiased.variance, unbiased.error),
            delta_t(unbiased.variance, unbiased.error),
        ):
            assert interval is not None
            bounds.append((interval.low, interval.high))
        held += [low <= true <= high for low, high in bounds]
    return held / runs


def size(tasks: int, attempts: int, runs: int) -> float:
    """How often the test rejects where the second group fails half as often and scatters by the same share.

    It passes half of the tasks for sure and answers the others as the first group does.
    """
    rejected = 0
    for run in range(runs):
        random = np.random.default_rng([tasks, attempts, run, 1])
        sides = [sample(random, tasks, attempts) for _ in range(2)]
        sides[1][random.random(tasks) < 0.5] = 0
        first, second = (parts_of(side, "unbiased") for side in sides)
        found = paired(first, second, Permutations(399)).incoherence
        rejected += found is not None and found.p <= 0.05
    return rejected / runs


def odds(random: np.random.Generator, tasks: int, scaffolds: int) -> Floats:
    """The chance to fail of each scaffold, a row a task."""
    log_odds = random.normal(0, 3, (tasks, 1)) + random.normal(0, 1, (tasks, scaffolds))
    return np.asarray(1 / (1 + np.exp(-log_odds)))


def covered_share(tasks: int, scaffolds: int, attempts: int, runs: int) -> float:
    """The coverage of the interval of the share between scaffolds."""
    chances = odds(np.random.default_rng(0), ENDLESS, 2)
    true = float(chances.var(axis=1, ddof=1).sum() / chances.mean(axis=1).sum())
    item, scaffold, attempt = (place.ravel() for place in np.indices((tasks, scaffolds, attempts)))
    units, held = Units(scaffold, scaffold, attempt, attempt), 0
    for run in range(runs):
        random = np.random.default_rng([tasks, scaffolds, attempts, run])
        failed = random.random((tasks, scaffolds, attempts)) < odds(random, tasks, scaffolds)[..., None]
        away = csr_array(failed.astype(float).reshape(-1, 1))
        found = components(Points(item, away, np.ones(tasks)), units, by_scaffold=True)
        interval = jackknife_t(found.parts["scaffold"], found.error)
        assert interval is not None
        held += interval.low <= true <= interval.high
    return held / runs


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--resamples", type=int, default=1000)
    args = parser.parse_args()
    start = time.perf_counter()
    true = truth(np.random.default_rng(0))
    print(f"true incoherence {true:.4f}; {args.runs:,} runs, bootstrap of {args.resamples:,} resamples")
    print("tasks attempts  plug-in percentile  unbiased percentile  jackknife-t  delta-t  permutation size")
    for tasks, attempts in ((20, 5), (50, 5), (100, 5), (100, 3), (50, 30)):
        shares = 100 * covered(tasks, attempts, args.runs, args.resamples, true)
        rejected = 100 * size(tasks, attempts, args.runs // 4)
        plugged, unbiased, jackknife, delta = shares
        print(
            f"{tasks:5} {attempts:8} {plugged:19.1f} {unbiased:20.1f} {jackknife:12.1f} {delta:8.1f} "
            f"{rejected:17.1f}",
            flush=True,
        )
    print("tasks scaffolds attempts  jackknife-t of the share of scaffolds")
    for tasks, scaffolds, attempts in ((20, 2, 5), (89, 2, 3), (89, 2, 5), (89, 4, 5)):
        share = 100 * covered_share(tasks, scaffolds, attempts, args.runs)
        print(f"{tasks:5} {scaffolds:9} {attempts:8} {share:37.1f}", flush=True)
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
