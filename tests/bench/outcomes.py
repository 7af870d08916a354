"""Measures reading, storing and counting a million attempts; fails where that takes too much."""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from bench import BIN, measure

ATTEMPTS = 1_000_000
MOST_MEMORY = 1024  # MB
MOST_SECONDS = 60  # of CPU, for both commands
CONFIG = """
datasets: {}
judges: {}
outcomes: {many: {path: many.csv}}
"""


def write_attempts(path: Path) -> None:
    """Write attempts of 50 groups at 2,000 tasks, with answers, vectors, lengths and ids."""
    draw = np.random.default_rng(0)
    number = np.arange(ATTEMPTS)
    answers = draw.integers(0, 6, ATTEMPTS)
    frame = pd.DataFrame(
        {
            "group": pd.Series(number // 20_000).map("group {}".format),
            "task": pd.Series(number % 2000).map("task {}".format),
            "answer": answers,
            "target": 1,
            "passed": (answers == 1).astype(int),
            "tests": pd.Series(draw.integers(0, 256, ATTEMPTS)).map("{:08b}".format),
            "output_tokens": draw.integers(10, 100_000, ATTEMPTS),
            "seconds": draw.random(ATTEMPTS).round(3),
            "trajectory": pd.Series(number).map("run-{}-abcdef".format),
        }
    )
    frame.to_csv(path, index=False)


def main() -> None:
    """Print CPU seconds and peak memory of each command."""
    total, failed = 0.0, False
    with tempfile.TemporaryDirectory() as folder:
        write_attempts(Path(folder, "many.csv"))
        Path(folder, "config.yaml").write_text(CONFIG)
        for command in ("outcomes", "incoherence"):
            cpu, wall, memory = measure(
                [str(BIN / "coherence"), command, "--config", "config.yaml"], Path(folder)
            )
            print(f"{ATTEMPTS:,} attempts, {command}: {cpu:.1f} s CPU, {wall:.1f} s, {memory:.0f} MB")
            total += cpu
            failed |= memory > MOST_MEMORY
    if failed or total > MOST_SECONDS:
        sys.exit(f"wanted: at most {MOST_MEMORY} MB and {MOST_SECONDS} s CPU in all")


if __name__ == "__main__":
    main()
