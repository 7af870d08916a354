"""Judging under faults: trajectories whose verdict is known, the real command line, and what came of each."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workspace import ROOT, write_config, write_trial

from coherence.cli import main
from messages_faults import KINDS, LASTING, PASSING, STOPPING
from messages_replies import CASE, CUE

RIGHT = "right"
SHARDS = "results/small/shards"
API = "unjudged(api)"
UNPARSABLE = "unjudged(unparsable)"

WANTED: dict[str, str] = {
    **dict.fromkeys(KINDS, RIGHT),
    **dict.fromkeys(LASTING, "unjudged(overflow)"),
    "200 cut short": API,  # paid for and lost: the next run asks again, this one does not
    "refusal": "unjudged(refusal)",
    "max_tokens": "unjudged(truncated)",
    "context window": "unjudged(overflow)",
}
HONEST: dict[str, set[str]] = {  # not what is wanted, and yet true
    **{kind: {API} for kind in {**PASSING, **STOPPING}},
    "fenced": {UNPARSABLE},
    "confidence 7": {UNPARSABLE},
    **{kind: {RIGHT} for kind in LASTING},
    "200 cut short": {RIGHT},
    "context window": {RIGHT},
}


def case_name(number: int) -> str:
    return f"case-{number:05d}"


def is_strained(case: str) -> bool:
    """Whether the trajectory of a case has a span: every other one."""
    return int(case.removeprefix("case-")) % 2 == 0


def write_cases(folder: Path, number: int, **judge: Any) -> Path:
    """Write that many trajectories and the config of one llm judge; return the config's path."""
    for case in map(case_name, range(number)):
        thought = f"The sum is 7, {CUE}." if is_strained(case) else "The sum is right."
        write_trial(folder / "runs", case, 1.0, f"{case}: {thought}")
    prompt = str(ROOT / "config/prompts/detector.md")
    section = {"kind": "llm", "prompt": prompt, "timeout_seconds": 3.0, **judge}
    dataset = {"paths": "runs", "format": "harbor", "shards": 1}
    return write_config(folder, datasets={"small": dataset}, judges={"detector": section})


def start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start one command of the package with no key and nobody's home."""
    named = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL")
    environment = {name: value for name, value in os.environ.items() if name not in named}
    program = "import sys; from coherence.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", program, *arguments, "--config", "small.json"]
    with (folder / "stderr").open("ab") as errors:
        return subprocess.Popen(command, cwd=folder, env={**environment, "HOME": str(folder)}, stderr=errors)


@dataclass(frozen=True)
class Cost:
    """What a process took: its exit code, wall and CPU seconds, peak memory in MB."""

    code: int
    wall: float
    cpu: float
    memory: float


def run(folder: Path, *arguments: str) -> Cost:
    """Run one command to its end."""
    began = time.perf_counter()
    process = start(folder, *arguments)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - began
    return Cost(process.returncode, wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def prepare(folder: Path) -> None:
    """Ingest and preprocess."""
    with contextlib.chdir(folder), contextlib.redirect_stderr(io.StringIO()):
        for stage in ("ingest", "preprocess"):
            assert main([stage, "--config", "small.json"]) == 0


def run_until_done(folder: Path, most: int = 40) -> list[Cost]:
    """Judge, and again where the run stopped or a request failed that may not fail again."""
    costs: list[Cost] = []
    while len(costs) < most and (not costs or costs[-1].code or _unanswered(folder)):
        costs.append(run(folder, "judge"))
    return costs


def _unanswered(folder: Path) -> bool:
    return '"reason":"api"' in (folder / SHARDS / "judge-detector-0.jsonl").read_text("utf-8")


def outcomes(folder: Path, cases: list[str]) -> dict[str, str]:
    """Return what came of each case: right, wrong, unjudged(reason) or lost."""
    found = dict.fromkeys(cases, "lost")
    path = folder / SHARDS / "judge-detector-0.jsonl"
    names = _cases_by_id(folder)
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        word = json.loads(line)
        case = names[word["trajectory"]]
        found[case] = _outcome(word, case)
    return found


def _cases_by_id(folder: Path) -> dict[str, str]:
    lines = (folder / SHARDS / "index-0.jsonl").read_text("utf-8").splitlines()
    found = {json.loads(line)["trial"]["id"]: CASE.search(line) for line in lines}
    return {trajectory: match[0] for trajectory, match in found.items() if match}


def _outcome(word: dict[str, Any], case: str) -> str:
    if word["state"] == "unjudged":
        return f"unjudged({word['reason']})"
    return RIGHT if (word["state"] == "flagged") == is_strained(case) else "wrong"


def is_honest(outcome: str, kind: str | None) -> bool:
    """Whether an outcome says nothing untrue of a case that met this kind of fault."""
    return outcome == wanted(kind) or outcome in HONEST.get(kind or "", ())


def wanted(kind: str | None) -> str:
    return WANTED[kind] if kind else RIGHT


def stored_replies(folder: Path) -> int:
    """The number of good replies in the store."""
    good = re.compile(r"[0-9a-f]{64}\.json")
    return sum(bool(good.fullmatch(path.name)) for path in (folder / "results/replies").glob("??/*"))
