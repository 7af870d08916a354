"""Measures the figures the project promises, one line each; run it with `make bench`.

Times are of whole processes, as the operating system accounts for them. They depend on the machine: compare
two versions by their ratio within one run.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from corpus import write_runs

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent


def measure(command: Sequence[str], folder: Path) -> tuple[float, float, float]:
    """Run a command; return its CPU seconds, wall seconds and peak memory in MB (largest process)."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status):
        sys.exit(f"{' '.join(command)} failed:\n{errors.decode(errors='replace')[-4000:]}")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - start, usage.ru_maxrss / 1024


def config(folder: Path, shards: int) -> Path:
    """Write the config of a measurement."""
    settings = {
        "datasets": {"bench": {"paths": "runs", "format": "harbor", "shards": shards}},
        "judges": {"rules": {"kind": "rules"}},
    }
    path = folder / "config.json"
    path.write_text(json.dumps(settings))
    return path


def workspace(folder: Path) -> None:
    """Lay out what `snakemake` needs, without results or data."""
    for name in ("Snakefile", "workflow", "config", "profiles", "environment.yml"):
        (folder / name).symlink_to(ROOT / name)


def stages(folder: Path, runs: int) -> None:
    """500 large runs through ingest, preprocess and features."""
    size = write_runs(folder / "runs", runs, messages=101, characters=1560)
    path = config(folder, 1)
    total, peak = 0.0, 0.0
    for stage in ("ingest", "preprocess", "features"):
        cpu, _, memory = measure([str(BIN / "coherence"), stage, "--config", str(path)], folder)
        print(f"{stage}: {cpu:.2f} s CPU, {memory:.0f} MB peak")
        total, peak = total + cpu, max(peak, memory)
    print(f"{runs} runs of 101 messages ({size / 1e6:.0f} MB): {total:.2f} s CPU in all, {peak:.0f} MB peak")


def whole(folder: Path, runs: int) -> None:
    """10,000 small runs through everything, then nothing to do, then one run more."""
    write_runs(folder / "runs", runs, messages=9, characters=400)
    workspace(folder)
    command = [
        str(BIN / "snakemake"),
        "--cores",
        "2",
        "--quiet",
        "all",
        "--configfile",
        str(config(folder, 40)),
    ]
    for label in ("first run", "no-op"):
        cpu, wall, memory = measure(command, folder)
        print(f"{runs} runs, {label}: {wall:.1f} s wall, {cpu:.1f} s CPU, {memory:.0f} MB peak")
    write_runs(folder / "more", 1, messages=9, characters=400)
    shutil.move(folder / "more" / "task-00000__bench", folder / "runs" / "task-added__bench")
    start = time.time()
    cpu, wall, memory = measure(command, folder)
    print(f"{runs} runs, one added: {wall:.1f} s wall, {cpu:.1f} s CPU, {memory:.0f} MB peak")
    for path in sorted((folder / "results/logs").rglob("*.log")):
        if path.stat().st_mtime >= start:
            print("   ", path.read_text().strip().replace("\n", "; "))


def main() -> None:
    """Run the measurements asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", type=int, default=500, help="number of large runs")
    parser.add_argument("--small", type=int, default=10_000, help="number of small runs")
    args = parser.parse_args()
    for action, runs in ((stages, args.large), (whole, args.small)):
        with tempfile.TemporaryDirectory() as folder:
            action(Path(folder), runs)
    cpu, wall, _ = measure([str(BIN / "coherence"), "--help"], ROOT)
    print(f"coherence --help: {wall:.2f} s wall, {cpu:.2f} s CPU")


if __name__ == "__main__":
    main()
