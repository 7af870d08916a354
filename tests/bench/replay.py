"""Judges many trajectories from a full reply store, offline: the time it takes and what it needs of memory.

`make bench-faults` runs it: two stores, one a quarter of the other, so that memory that grows with the number
of replies shows. Ends with status 1 where a figure is not what is wanted.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from fault_run import Cost, prepare, run, stored_replies, write_cases

from messages_process import server_process

MOST_SECONDS = 10.0  # for the full number
FLAT = 15.0  # MB that the peak may grow from a quarter to the full number


def replay(number: int) -> tuple[Cost, bool]:
    """Fill a store, judge from it again; return the cost and whether the bytes are the same."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with server_process() as url:
            config = write_cases(folder, number, base_url=url, concurrency=16, timeout_seconds=60)
            prepare(folder)
            filled = run(folder, "judge")
        print(f"{number}: {filled.wall:.1f} s to fill the store, {filled.memory:.0f} MB", flush=True)
        assert stored_replies(folder) == number
        judged = folder / "results/small/shards/judge-detector-0.jsonl"
        first = judged.read_bytes()
        settings = json.loads(config.read_text())
        settings["judges"]["detector"]["offline"] = True
        config.write_text(json.dumps(settings))
        cost = run(folder, "judge")
        return cost, cost.code == 0 and judged.read_bytes() == first


def main() -> None:
    """Run both and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replies", type=int, default=10_000)
    args = parser.parse_args()
    small, same_small = replay(args.replies // 4)
    full, same_full = replay(args.replies)
    grown = full.memory - small.memory
    for cost, number in ((small, args.replies // 4), (full, args.replies)):
        print(f"{number}: {cost.wall:.1f} s wall, {cost.cpu:.1f} s CPU, {cost.memory:.0f} MB peak")
    good = {
        f"{full.wall:.1f} s, wanted <= {MOST_SECONDS:.0f}": full.wall <= MOST_SECONDS,
        f"memory grew by {grown:.0f} MB, wanted <= {FLAT:.0f}": grown <= FLAT,
        "same bytes without network": same_small and same_full,
    }
    for text, is_good in good.items():
        print(f"  {text}: {'ok' if is_good else 'NOT OK'}")
    sys.exit(0 if all(good.values()) else 1)


if __name__ == "__main__":
    main()
