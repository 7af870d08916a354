"""Judges many trajectories against a server that fails: what is lost, misjudged or paid for twice.

`make bench-faults` runs it: 1,000 trajectories of which a fifth meet a fault of some kind; a run that is
killed 20 times (kill -9 at random times) and resumed until it is done; and one that meets what no new try can
help (bad key, no credit, no such model), run again until it is done. Ends with status 1 where a figure is not
what is wanted.
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path

from fault_run import (
    Cost,
    case_name,
    is_honest,
    outcomes,
    prepare,
    run,
    run_until_done,
    start,
    stored_replies,
    wanted,
    write_cases,
)

from messages_faults import MIXED, STOPPING, Chance
from messages_process import server_process, stats


class Check:
    """Prints figures and remembers which were not as wanted."""

    def __init__(self) -> None:
        self.failed = 0

    def __call__(self, name: str, value: object, good: bool, want: str) -> None:
        self.failed += not good
        print(f"  {name}: {value} ({'ok' if good else 'NOT OK'}, wanted: {want})")


def show_outcomes(found: dict[str, str], chance: Chance, check: Check) -> None:
    """Print what came of the cases, by the kind of fault where it was not what is wanted."""
    states = Counter(found.values())
    print(f"  outcomes: {dict(sorted(states.items()))}")
    kinds = {case: chance.kind(case) for case in found}
    missed = Counter((kinds[case], got) for case, got in found.items() if got != wanted(kinds[case]))
    for (kind, got), number in sorted(missed.items(), key=str):
        print(f"    {kind or 'no fault'}: {number} x {got}, wanted {wanted(kind)}")
    untrue = sum(not is_honest(got, kinds[case]) for case, got in found.items())
    check("lost", states["lost"], states["lost"] == 0, "0")
    check("judged wrongly, or unjudged for a wrong reason", untrue, untrue == 0, "0")
    check("not what is wanted", sum(missed.values()), not missed, "0")


def double_billed(url: str, folder: Path) -> int:
    """Billed calls beyond the replies stored; a reply that the server broke off was never there to store."""
    counted = stats(url)
    stored = stored_replies(folder)
    print(f"  server: {counted}; {stored} replies stored")
    return int(counted["billed"]) - int(counted["billed_and_broken_off"]) - stored


def stops(args: argparse.Namespace, check: Check) -> None:
    """Runs that meet what may well stop them."""
    print(f"{args.stopped} trajectories, {args.faults:.0%} of them meet one of {', '.join(STOPPING)}:")
    with tempfile.TemporaryDirectory() as name, server(args, args.faults, STOPPING) as url:
        folder = Path(name)
        write_cases(folder, args.stopped, base_url=url, concurrency=args.concurrency)
        prepare(folder)
        costs = run_until_done(folder)
        print(f"  {len(costs)} runs, {sum(bool(cost.code) for cost in costs)} of them stopped")
        found = outcomes(folder, [case_name(number) for number in range(args.stopped)])
        show_outcomes(found, Chance(args.faults, args.seed, STOPPING), check)
        twice = double_billed(url, folder)
        check("billed and not stored", twice, twice == 0, "0")


def show_cost(cost: Cost) -> None:
    print(f"  {cost.wall:.1f} s wall, {cost.cpu:.1f} s CPU, {cost.memory:.0f} MB peak, exit code {cost.code}")


def faults(args: argparse.Namespace, check: Check) -> None:
    """A run with faults of all kinds."""
    print(f"{args.trajectories} trajectories, {args.faults:.0%} of them meet a fault:")
    with tempfile.TemporaryDirectory() as name, server(args, args.faults, MIXED) as url:
        folder = Path(name)
        write_cases(folder, args.trajectories, base_url=url, concurrency=args.concurrency)
        prepare(folder)
        show_cost(run(folder, "judge"))
        found = outcomes(folder, [case_name(number) for number in range(args.trajectories)])
        show_outcomes(found, Chance(args.faults, args.seed, MIXED), check)
        twice = double_billed(url, folder)
        check("billed and not stored", twice, twice == 0, "0")


def killed_at(folder: Path, url: str, seconds: float) -> bool:
    """Start judging, kill it so long after its first request, and return whether it was still at work."""
    before = stats(url)["requests"]
    process = start(folder, "judge")
    while process.poll() is None and stats(url)["requests"] == before:
        time.sleep(0.02)
    time.sleep(seconds)
    working = process.poll() is None
    process.kill()
    process.wait()
    return working


def kills(args: argparse.Namespace, check: Check) -> None:
    """A run that is killed again and again."""
    print(f"{args.killed} trajectories, kill -9 {args.kills} times:")
    draw = random.Random(args.seed)
    longest = 2.0 * args.killed * args.latency / args.concurrency / max(1, args.kills)
    with tempfile.TemporaryDirectory() as name, server(args, args.faults, MIXED) as url:
        folder = Path(name)
        write_cases(folder, args.killed, base_url=url, concurrency=args.concurrency)
        prepare(folder)
        hit = sum(killed_at(folder, url, draw.uniform(0, longest)) for _ in range(args.kills))
        time.sleep(2 * args.latency)
        in_flight = double_billed(url, folder)
        bound = hit * args.concurrency
        check(f"billed and not stored after {hit} kills", in_flight, in_flight <= bound, f"at most {bound}")
        show_cost(run(folder, "judge"))
        found = outcomes(folder, [case_name(number) for number in range(args.killed)])
        show_outcomes(found, Chance(args.faults, args.seed, MIXED), check)
        twice = double_billed(url, folder)
        check("billed and not stored in the end", twice, twice == in_flight, "no more than at the kills")
        litter = [path for path in (folder / "results/replies").rglob(".*") if path.is_file()]
        print(f"  half-written files left in the store: {len(litter)}")


def server(args: argparse.Namespace, share: float, kinds: Iterable[str]) -> AbstractContextManager[str]:
    """The test server as a process."""
    options = {"--latency": args.latency, "--faults": share, "--seed": args.seed}
    words = [str(word) for option in options.items() for word in option]
    return server_process(*words, "--kinds", *kinds)


def main() -> None:
    """Run all three."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trajectories", type=int, default=1000)
    parser.add_argument("--faults", type=float, default=0.2, help="share of the trajectories")
    parser.add_argument("--killed", type=int, default=300, help="trajectories of the run that is killed")
    parser.add_argument("--stopped", type=int, default=60, help="trajectories of the last run")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--latency", type=float, default=0.1, help="seconds")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    check = Check()
    faults(args, check)
    kills(args, check)
    stops(args, check)
    sys.exit(1 if check.failed else 0)


if __name__ == "__main__":
    main()
