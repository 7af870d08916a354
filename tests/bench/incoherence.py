"""Measures the analysis of repeated outcomes: seconds and peak memory, with every interval and table.

`--attempts N` makes N answers in some groups at tasks with 5 attempts each; without it 33,000 in 67 groups
and 1,000,000 in 20 are measured, each in a process of its own, against what is promised.
"""

import argparse
import resource
import subprocess
import sys
import time

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.incoherence_tables import evaluate_outcomes, incoherence_tables

PROMISES = ((33_000, 67, 20, 1000), (1_000_000, 20, 120, 1000))  # attempts, groups, seconds, MB
REPEATS = 5
UNKNOWN = ("verification", "context", "seed", "probabilities", "stop_reason", "trajectory")
NUMBERS = (
    *("reward", "number", "target_number", "lint_failures", "assertion_failures", "rubric"),
    *("reasoning_tokens", "steps", "calls", "cost_usd"),
)


def outcomes(attempts: int, groups: int) -> pd.DataFrame:
    """Answers out of four with test vectors and lengths, of tasks that all groups try."""
    random = np.random.default_rng(1)
    tasks = attempts // (groups * REPEATS)
    n = tasks * groups * REPEATS
    group, task, attempt = np.unravel_index(np.arange(n), (groups, tasks, REPEATS))
    hard = random.dirichlet([2.0, 1.0, 0.5, 0.5], tasks).cumsum(axis=1)
    answer = (random.random(n)[:, None] > hard[task, :3]).sum(axis=1)
    passed = answer == 0
    tests = np.where(passed, "11111111", np.where(answer == 1, "11110000", "1-000000"))
    columns = {
        "dataset": _texts(np.zeros(n, int), ["bench"]),
        "group": _texts(group, [f"group {number}" for number in range(groups)]),
        "scaffold": _texts(group % 8, [f"scaffold {number}" for number in range(8)]),
        "backbone": _texts(group // 8, [f"backbone {number}" for number in range(groups)]),
        "task": _texts(task, [f"task {number}" for number in range(tasks)]),
        "attempt": _texts(attempt, list("12345")),
        "answer": _texts(answer, list("ABCD")),
        "target": _texts(np.zeros(n, int), list("ABCD")),
        "tests": pd.Categorical(tests),
        "passed": pd.array(passed, dtype="boolean"),
        "output_tokens": pd.array(random.lognormal(8, 1, n).round(), dtype="Float64"),
        "seconds": pd.array(random.lognormal(5, 1, n), dtype="Float64"),
        **{name: _texts(np.full(n, -1), ["-"]) for name in UNKNOWN},
        **{name: pd.array(np.full(n, np.nan), dtype="Float64") for name in NUMBERS},
    }
    return pd.DataFrame(columns)


def _texts(codes: NDArray[np.int64], names: list[str]) -> "pd.Categorical[str]":
    return pd.Categorical.from_codes(codes, pd.Index(names))


def measure(attempts: int, groups: int) -> None:
    """Print what one analysis takes."""
    frame = outcomes(attempts, groups)
    before, start, cpu = _peak(), time.perf_counter(), time.process_time()
    evaluation = evaluate_outcomes(frame, IncoherenceSettings())
    tables = incoherence_tables(evaluation)
    seconds, used = time.perf_counter() - start, time.process_time() - cpu
    print(
        f"{len(frame):,} attempts, {groups} groups, {sum(len(table.rows) for table in tables):,} table rows: "
        f"{seconds:.1f} s wall, {used:.1f} s CPU, {_peak():.0f} MB peak ({before:.0f} MB before)",
        flush=True,
    )


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Measure one size, or all that is promised."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--attempts", type=int)
    parser.add_argument("--groups", type=int, default=20)
    args = parser.parse_args()
    if args.attempts:
        measure(args.attempts, args.groups)
        return
    kept = True
    for attempts, groups, seconds, megabytes in PROMISES:
        command = [sys.executable, __file__, "--attempts", str(attempts), "--groups", str(groups)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        wall, peak = (
            float(said.split(": ")[1].split(" s wall")[0]),
            float(said.split(", ")[-1].split(" MB")[0]),
        )
        kept = kept and wall <= seconds and peak <= megabytes
        print(f"{said}; promised {seconds} s and {megabytes} MB", flush=True)
    sys.exit(not kept)


if __name__ == "__main__":
    main()
