"""Sampling from the test server: sums to ask, a server that adds them up, and what was written."""

import csv
import json
import os
import re
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

from coherence.cli import main
from messages_server import Received, Response, message

SUM = re.compile(r"What is (\d+) \+ (\d+)\?")
CHOICE = re.compile(r"^\[(?P<marker>[0-9a-f]+) CHOICE (?P<label>[^\]]+)\]\n(?P<text>[^\n]*)", re.MULTILINE)
DATASET = "sums"


def sums(number: int) -> list[dict[str, Any]]:
    """Items whose right answer the server can work out; every third is one of choices."""
    made = []
    for n in range(number):
        item: dict[str, Any] = {"id": f"case-{n:05d}", "prompt": f"case-{n:05d}: What is {n} + 7?"}
        choices = [str(n + 6), str(n + 7), str(n + 8)]
        made.append({**item, **({"target": "B", "choices": choices} if n % 3 == 0 else {"target": n + 7})})
    return made


class Adder:
    """Answers sums: right, but every `wrong`-th time the same item is asked by 1 too much."""

    def __init__(self, wrong: int = 3) -> None:
        self.asked: Counter[str] = Counter()
        self.wrong = wrong
        self._lock = threading.Lock()

    def __call__(self, _: int, received: Received) -> Response | None:
        text = "\n".join(received.texts)
        numbers = SUM.search(text)
        if numbers is None:
            return None
        with self._lock:
            self.asked[received.case] += 1
            off = int(self.asked[received.case] % self.wrong == 0)
        total = str(int(numbers[1]) + int(numbers[2]) + off)
        labels = {found["text"]: found["label"] for found in CHOICE.finditer(text)}
        return self.reply(received, labels.get(total, total), labels.values())

    def reply(self, received: Received, answer: str, labels: Any) -> Response:
        body = received.body
        if "output_config" in body:
            said = {"reasoning": "I add.", "answer": answer if labels else int(answer)}
            return message(json.dumps(said), model=body["model"])
        return message(f"I add them up.\n\nANSWER: {answer}", model=body["model"])


def write_items(folder: Path, items: list[dict[str, Any]]) -> None:
    lines = (json.dumps(item) for item in items)
    (folder / "items.jsonl").write_text("".join(f"{line}\n" for line in lines))


def write_config(folder: Path, items: list[dict[str, Any]], **changes: Any) -> None:
    """Write `sample.yaml` and its items into the folder."""
    write_items(folder, items)
    settings = {"name": DATASET, "items": "items.jsonl", "samples": 3, **changes}
    (folder / "sample.yaml").write_text(yaml.safe_dump(settings))


def model(url: str, **fields: Any) -> dict[str, Any]:
    return {"model": "claude-sonnet-4-6", "base_url": url, "timeout_seconds": 3.0, **fields}


def sample(*arguments: str) -> int:
    return main(["sample", "--config", "sample.yaml", *arguments])


def start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start the command in a process of its own."""
    code = "import sys; from coherence.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "sample", "--config", "sample.yaml", *arguments]
    with (folder / "stderr").open("ab") as errors, (folder / "stdout").open("ab") as out:
        return subprocess.Popen(command, cwd=folder, env={**os.environ}, stderr=errors, stdout=out)


def outcomes(folder: Path) -> list[dict[str, str]]:
    path = folder / "results/samples" / DATASET / "outcomes.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    (path,) = (folder / "results/samples" / DATASET).glob(f"*/{name}.jsonl")
    text = path.read_text("utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def files(folder: Path) -> dict[str, bytes]:
    """What was written, by name."""
    made = (path for path in (folder / "results/samples" / DATASET).rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in made}


def stored(folder: Path) -> int:
    """The number of good replies in the store."""
    good = re.compile(r"[0-9a-f]{64}\.json")
    return sum(bool(good.fullmatch(path.name)) for path in (folder / "results/replies").glob("??/*"))
