"""Measures judging against a server of fixed latency: the ideal, N x latency / concurrency, over the time.

The server is a process of its own. Importing the SDK (about 2 s) is not counted; store, ledger, prompt and
quotes are at work as in a real run.

    python tests/bench/throughput.py --n 320 --latency 0.5 --concurrency 8
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from coherence.judges.llm import LlmJudge, LlmSettings
from coherence.llm.account import Account
from coherence.llm.ledger import read_ledger
from coherence.records import Call, Observation, Step, Thought, Transcript

ROOT = Path(__file__).parents[2]


def transcript(number: int, characters: int) -> Transcript:
    steps = tuple(
        Step(
            step,
            "agent",
            thoughts=(Thought(f"Run {number}, step {step}: it looks odd, I go on. " * 4, "reasoning"),),
            calls=(Call("bash", {"command": f"make {step}"}),),
            observations=(Observation("o" * 1000),),
        )
        for step in range(max(1, characters // 1250))
    )
    return Transcript(f"run-{number}", steps)


def measure(folder: Path, url: str, n: int, concurrency: int, characters: int) -> float:
    """Return the seconds that n judgements took."""
    import anthropic  # noqa: F401, PLC0415 - so that its import is not counted

    settings = LlmSettings(
        str(ROOT / "config/prompts/detector.md"),
        base_url=url,
        concurrency=concurrency,
        cache="none",
        ask_again=False,
    )
    judge = LlmJudge(
        "detector", settings, folder / "replies", Account(folder / "ledger.csv", "bench/detector")
    )
    judge.request(transcript(0, characters))  # the secret scanner's start is not counted either
    begun = time.perf_counter()
    words = list(judge.judge(transcript(number, characters) for number in range(n)))
    taken = time.perf_counter() - begun
    assert len(words) == len(read_ledger(folder / "ledger.csv")) == n
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=320, help="judgements")
    parser.add_argument("--latency", type=float, default=0.5, help="seconds each answer takes")
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--characters", type=int, default=20_000, help="size of a transcript")
    args = parser.parse_args()
    command = [sys.executable, str(Path(__file__).with_name("fixed_latency.py")), str(args.latency)]
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{int(server.stdout.readline())}"
        try:
            taken = measure(Path(folder), url, args.n, args.concurrency, args.characters)
        finally:
            server.kill()
    ideal = args.n * args.latency / args.concurrency
    print(
        f"throughput: {args.n} judgements, {args.latency} s each, {args.concurrency} at once: "
        f"{taken:.2f} s, ideal {ideal:.2f} s: {ideal / taken:.1%}"
    )


if __name__ == "__main__":
    main()
