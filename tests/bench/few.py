"""How often the jackknife-t interval of incoherence holds the truth where few tasks were ever wrong.

Pass or fail in five attempts, chances to fail Beta(1/2, 1/2) (most tasks nearly always pass or fail) and
uniform; samples are drawn until so many tasks were ever wrong. Prints coverage in % of nominal 95 %
intervals, one without width holding nothing, how many have no width, and the mean width.
"""

import argparse

import numpy as np

from coherence.incoherence.aggregates import jackknife_t
from coherence.incoherence.parts import Floats

ATTEMPTS = 5
ENDLESS = 1_000_000  # tasks that stand for endless ones


def wrong(random: np.random.Generator, shape: float, tasks: int) -> Floats:
    """The failure rates of tasks that were ever wrong."""
    failed = random.binomial(ATTEMPTS, random.beta(shape, shape, 20 * tasks))
    return np.asarray(failed[failed > 0][:tasks] / ATTEMPTS)


def covered(shape: float, tasks: int, runs: int) -> tuple[float, float, float]:
    """Coverage, share without width, mean width."""
    chances = np.random.default_rng(0).beta(shape, shape, ENDLESS)
    true = float((chances * (1 - chances)).sum() / chances.sum())
    held, wide = 0, []
    for run in range(runs):
        rates = wrong(np.random.default_rng([tasks, run]), shape, tasks)
        found = jackknife_t(rates * (1 - rates) * ATTEMPTS / (ATTEMPTS - 1), rates, least=2)
        if found is not None:
            held += found.low <= true <= found.high
            wide.append(found.high - found.low)
    return held / runs, 1 - len(wide) / runs, float(np.mean(wide))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5000)
    args = parser.parse_args()
    print("chances        tasks  coverage  without width  mean width")
    for name, shape in (("Beta(1/2, 1/2)", 0.5), ("uniform", 1.0)):
        for tasks in (2, 3, 4, 5, 6, 8, 10, 20):
            coverage, none, width = covered(shape, tasks, args.runs)
            print(f"{name:14} {tasks:5} {100 * coverage:9.1f} {100 * none:14.1f} {width:11.2f}", flush=True)


if __name__ == "__main__":
    main()
