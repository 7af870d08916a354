"""Judges trajectories against a server of fixed latency: the share of the ideal throughput that is reached.

The ideal is number x latency / concurrency, from the first request that arrives to the last reply that
leaves; what the process needs to start is not in it. `make bench-faults`
runs it. Ends with status 1 below the share wanted.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from fault_run import prepare, run, write_cases

from messages_process import fetch, server_process

WANTED = 0.95


def main() -> None:
    """Measure once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trajectories", type=int, default=400)
    parser.add_argument("--latency", type=float, default=0.5, help="seconds")
    parser.add_argument("--concurrency", type=int, default=16)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, server_process("--latency", str(args.latency)) as url:
        folder = Path(name)
        write_cases(folder, args.trajectories, base_url=url, concurrency=args.concurrency, timeout_seconds=60)
        prepare(folder)
        cost = run(folder, "judge")
        lines = [json.loads(line) for line in fetch(f"{url}/log").splitlines()]
    took = max(line["ended"] for line in lines) - min(line["began"] for line in lines)
    share = -(-args.trajectories // args.concurrency) * args.latency / took
    print(f"{len(lines)} requests in {took:.2f} s: {share:.1%} of the ideal, wanted >= {WANTED:.0%}")
    print(f"{cost.wall:.1f} s wall, {cost.cpu:.1f} s CPU, {cost.memory:.0f} MB peak")
    sys.exit(0 if share >= WANTED else 1)


if __name__ == "__main__":
    main()
