"""Write the runs that the plans describe: Harbor jobs with ATIF trajectories, and the planted verdicts.

`python data/reconstruction/generate.py FOLDER` needs nothing but Python. Reconstruction: simulated text,
planted verdicts; checks the arithmetic of the pipeline, is no evidence for the claim. Same plans, same bytes;
a file that is right already is left alone, one that does not belong is deleted.
"""

import csv
import hashlib
import json
import random
import sys
import tomllib
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import accumulate
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
WORDS = tomllib.loads((HERE / "sentences.toml").read_text("utf-8"))
DATASETS = {"qwen": "Qwen3.5-35B-A3B", "gemma": "Gemma4-31B"}
NOTE = "reconstruction: simulated text, planted verdicts"
SYSTEM = "You are an agent in a Linux container. Use the tools; think to reason, finish to end the run."
START = datetime.fromisoformat("2026-01-05T08:00:00")
CHARS_PER_MARKER, CHARS_PER_THOUGHT, CHARS_PER_ACKNOWLEDGMENT = 45, 70, 110  # as in solve.py
PAD = 9  # the least that fills a thought up to its length: "(ref 0)." and the space before it
LONGEST_PAD = 60
RESTATED = (("named", "restated"), ("again", "restated_again"))
LINES = ("detector", "generic", "paraphrase-thoughts", "paraphrase-detector")
OPENING_STEPS = 2  # system and user
ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

Json = dict[str, Any]


class Run:
    """One row of a plan, and what is drawn for it from its name alone."""

    def __init__(self, dataset: str, row: dict[str, str], crashed: bool = False) -> None:
        self.dataset, self.row = dataset, row
        self.job = dataset if crashed else row["job"]
        self.has_trajectory = row["has_trajectory"] == "1" and not crashed
        seed = hashlib.sha256(f"{self.job} {row['task']}".encode()).digest()
        self.draw = random.Random(seed)
        self.name = f"{row['task'][:32]}__{''.join(ALPHABET[b % len(ALPHABET)] for b in seed[:7])}"
        small = self.draw.randint(120, 480)
        self.scene = {**self.draw.choice(WORDS["scene"]), "m": small, "n": small + self.draw.randint(3, 90)}
        self.length = int(row["length"] or 0)
        self.acknowledgments = [int(step) for step in row["acknowledgments"].split(";") if step]
        self.action_step = int(row["action_step"] or 0)
        self.kinds = [kind for kind in row["conflict_types"].split(";") if kind]

    def say(self, sentence: str) -> str:
        """Return a sentence of the run's scene."""
        return sentence.format(**self.scene, k=self.draw.randint(2, 999))

    def named(self, kind: str) -> str:
        """Return the acknowledgment of a conflict."""
        return str(WORDS["conflict"][kind]["named"].format(**self.scene))

    def action(self, kind: str) -> str:
        """Return the command that acts against a conflict."""
        return str(WORDS["conflict"][kind]["action"].format(**self.scene))


def shares(draw: random.Random, total: int, parts: int) -> list[int]:
    """Return whole numbers that add up to a total, drawn unevenly."""
    weights = [draw.random() ** 2 + 0.05 for _ in range(parts)]
    ends = [round(total * end / sum(weights)) for end in accumulate(weights)]
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]


def think_steps(run: Run) -> list[int]:
    """Return the steps that hold a thought: the acknowledgments, and others spread over the run."""
    count = int(run.row["think_calls"])
    first, last = OPENING_STEPS + 1, run.length - 1
    if run.acknowledgments:
        free = set(range(first, last + 1)) - {run.action_step, *run.acknowledgments}
        others = run.draw.sample(sorted(free), count - len(run.acknowledgments))
        return sorted([*run.acknowledgments, *others])
    return [first + place * (last - first) // count for place in range(count)]


def required(run: Run, thinking: list[int]) -> dict[int, list[str]]:
    """Return the sentences on conflicts by step: acknowledged and unsettled, or, unflagged, settled."""
    if run.kinds:
        first, *later = run.acknowledgments
        again = WORDS["conflict"][run.kinds[0]]["again"].format(**run.scene)
        return {first: [run.named(kind) for kind in run.kinds], **{step: [again] for step in later}}
    if run.row["edge_case"] in ("", "markers_only"):
        return {}
    kind = edge_kind(run)
    settled = WORDS["conflict"][kind]["settled"].format(**run.scene)
    return {thinking[0]: [run.named(kind)], thinking[1]: [settled]}


def edge_kind(run: Run) -> str:
    """Return the conflict that an unflagged run names and settles."""
    kinds = {
        "plan_revised": "tool_output_vs_plan",
        "doubt_tested": "unresolved_uncertainty",
        "surprise_explained": "inference_vs_inference",
        "constraint_met": "constraint_vs_derivation",
        "premise_dropped": "environment_vs_premise",
    }
    return kinds[run.row["edge_case"]]


def thoughts(run: Run) -> dict[int, str]:
    """Return the thoughts by step; together they have the planned characters and markers, exactly."""
    steps = think_steps(run)
    if not steps:
        return {}
    must = required(run, steps)
    markers = shares(run.draw, int(run.row["markers"]), len(steps))
    least = [CHARS_PER_THOUGHT + CHARS_PER_ACKNOWLEDGMENT * len(must.get(step, ())) for step in steps]
    least = [chars + CHARS_PER_MARKER * count for chars, count in zip(least, markers, strict=True)]
    spare = shares(run.draw, int(run.row["think_chars"]) - sum(least), len(steps))
    sizes = [low + more for low, more in zip(least, spare, strict=True)]
    return {
        step: thought(run, must.get(step, []), count, size)
        for step, count, size in zip(steps, markers, sizes, strict=True)
    }


def thought(run: Run, must: list[str], markers: int, size: int) -> str:
    """Return one thought of exactly this many characters and markers."""
    said = [*must, *(run.draw.choice(WORDS["marked"]) for _ in range(markers))]
    used = sum(len(sentence) + 1 for sentence in said)
    while size - used > LONGEST_PAD:
        sentence = run.say(run.draw.choice(WORDS["plain"]))
        if size - used - len(sentence) - 1 >= PAD:
            said.append(sentence)
            used += len(sentence) + 1
    run.draw.shuffle(said)
    if size - used < PAD - 1:
        raise ValueError(f"{run.name}: {markers} markers do not fit {size} characters")
    reference = f"(ref {run.draw.randbytes(LONGEST_PAD).hex()[: size - used - 7]})."
    return " ".join([*said, reference])


def called(number: int, name: str, arguments: Json, content: str) -> Json:
    """Return the part of a step that holds one call and its result."""
    identity = f"call_{number}"
    return {
        "tool_calls": [{"tool_call_id": identity, "function_name": name, "arguments": arguments}],
        "observation": {"results": [{"source_call_id": identity, "content": content}]},
    }


def terminal(number: int, command: str, content: str) -> Json:
    """Return a step that runs a command."""
    return called(number, "terminal", {"command": command, "is_input": False, "reset": False}, content)


def steps(run: Run) -> list[Json]:
    """Return the run's steps, numbered and dated."""
    thinking = thoughts(run)
    acting = [n for n in range(OPENING_STEPS + 1, run.length) if n not in thinking]
    can_fail = [number for number in acting if number != run.action_step]
    failing = set(run.draw.sample(can_fail, int(run.row["tool_errors"])))
    settling = check_step(run, acting, thinking, failing)
    bodies = {
        1: {"source": "system", "message": SYSTEM},
        2: {"source": "user", "message": run.say(WORDS["instruction"])},
        run.length: called(run.length, "finish", {"message": run.say("The {unit} are in order.")}, ""),
        **{
            n: called(n, "think", {"thought": t}, "Your thought has been logged.")
            for n, t in thinking.items()
        },
    }
    for number in acting:
        bodies[number] = act(run, number, number in failing, number == settling)
    return [head(run, number) | bodies[number] for number in range(1, run.length + 1)]


def check_step(run: Run, acting: list[int], thinking: dict[int, str], failing: set[int]) -> int:
    """Return the step between doubt and answer in which an unflagged run looks, 0 where it does not."""
    if run.row["edge_case"] in ("", "markers_only"):
        return 0
    doubt, answer = sorted(thinking)[:2]
    return next((n for n in acting if doubt < n < answer and n not in failing), 0)


def act(run: Run, number: int, fails: bool, settles: bool) -> Json:
    """Return a step with a command: the planned action, the look that settles a doubt, or any other."""
    if number == run.action_step:
        return terminal(number, " && ".join(map(run.action, run.kinds)), "done")
    if settles:
        return terminal(number, run.say(WORDS["conflict"][edge_kind(run)]["check"]), run.say("{n} {unit}"))
    command, output = run.draw.choice(WORDS["command"]["broken" if fails else "fine"])
    return terminal(number, run.say(command), run.say(output))


def head(run: Run, number: int) -> Json:
    """Return the number and time of a step, and who speaks."""
    moment = START + timedelta(seconds=11 * number)
    who = {"source": "agent", "message": "", "model_name": DATASETS[run.dataset]}
    return {"step_id": number, "timestamp": moment.isoformat(timespec="microseconds")} | who


def trajectory(run: Run) -> Json:
    """Return the ATIF document of a run."""
    return {
        "schema_version": "ATIF-v1.5",
        "session_id": "harbor-session",
        "agent": {"name": "openhands-sdk", "version": "1.0", "model_name": DATASETS[run.dataset]},
        "steps": steps(run),
        "notes": NOTE,
    }


def result(run: Run) -> Json:
    """Return a trial's result.json."""
    crash = {
        "exception_type": "NonZeroAgentExitCodeError",
        "exception_message": "the agent could not be set up",
        "exception_traceback": "NonZeroAgentExitCodeError: the agent could not be set up\n",
        "occurred_at": START.isoformat(timespec="microseconds"),
    }
    reward = float(run.row["outcome"] == "passed")
    model = {"name": DATASETS[run.dataset], "provider": "reconstruction"}
    return {
        "task_name": run.row["task"],
        "trial_name": run.name,
        "source": "reconstruction",
        "config": {"trial_name": run.name, "trials_dir": f"jobs/{run.job}"},
        "agent_info": {"name": "openhands-sdk", "version": "1.0", "model_info": model},
        "verifier_result": {"rewards": {"reward": reward}} if run.has_trajectory else None,
        "exception_info": None if run.has_trajectory else crash,
        "started_at": f"{START.isoformat()}Z",
        "finished_at": f"{(START + timedelta(seconds=11 * run.length + 60)).isoformat()}Z",
    }


def spans(run: Run) -> list[Json]:
    """Return the planted spans of a run."""
    confidence = run.row["confidence"]
    return [
        {
            "span_id": number,
            "start_step": run.acknowledgments[0],
            "end_step": run.action_step,
            "acknowledgment_step": run.acknowledgments[0],
            "acknowledgment_quote": run.named(kind),
            "action_step": run.action_step,
            "action_quote": run.action(kind),
            "conflict_type": kind,
            "confidence": int(confidence) if confidence else None,
            "reasoning": NOTE,
        }
        for number, kind in enumerate(run.kinds, 1)
    ]


def verdicts(run: Run) -> dict[str, Json]:
    """Return the planted verdict line of each judge."""
    who = {"dataset": run.dataset, "trial": run.name}
    state = "flagged" if run.row["flagged"] == "1" else "unflagged"
    return {
        "detector": {**who, "state": state, "summary": NOTE, "spans": spans(run)},
        "generic": {**who, "summary": NOTE, "rating": int(run.row["rating"])},
    }


def restated(run: Run, text: str) -> str:
    """Return a thought in other words, and without its markers: sentence by sentence."""
    said = dict(zip(WORDS["marked"], WORDS["unmarked"], strict=True))
    for kind in run.kinds:
        words = WORDS["conflict"][kind]
        said |= {words[old].format(**run.scene): words[new].format(**run.scene) for old, new in RESTATED}
    for old, new in said.items():
        text = text.replace(old, new)
    return text


def rewrites(run: Run, document: Json) -> Iterator[Json]:
    """Yield the line of each rewritten thought of a run that was paraphrased."""
    for step in document["steps"]:
        for call in step.get("tool_calls", ()):
            if call["function_name"] == "think":
                who = {"dataset": run.dataset, "trial": run.name, "step": step["step_id"]}
                yield {**who, "text": restated(run, call["arguments"]["thought"])}


def verdict_after(run: Run) -> Json:
    """Return the planted verdict on the rewritten run: as many spans as planned, of the types planned."""
    kept = int(run.row["paraphrase_spans"])
    kinds = list(WORDS["conflict"])
    after = spans(run)[:kept]
    for span in after:
        kind = span["conflict_type"]
        span["acknowledgment_quote"] = WORDS["conflict"][kind]["restated"].format(**run.scene)
        if run.row["paraphrase_same_type"] != "1":
            span["conflict_type"] = kinds[(kinds.index(kind) + 1) % len(kinds)]
    who = {"dataset": run.dataset, "trial": run.name}
    return {**who, "state": "flagged" if after else "unflagged", "summary": NOTE, "spans": after}


def runs() -> Iterator[Run]:
    """Yield every trial of the plans; one that was retried comes twice, crashed first."""
    for dataset in DATASETS:
        with (HERE / f"{dataset}.csv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row["job"] != dataset:
                    yield Run(dataset, row, crashed=True)
                yield Run(dataset, row)


def recorded(run: Run, document: Json) -> Iterator[tuple[str, Json]]:
    """Yield (file, line) of everything that is recorded of a run beside its trajectory."""
    yield from verdicts(run).items()
    if run.row["paraphrase_spans"]:
        yield from (("paraphrase-thoughts", line) for line in rewrites(run, document))
        yield "paraphrase-detector", verdict_after(run)


def files() -> dict[str, bytes]:
    """Return every file by its path below the folder."""
    made: dict[str, bytes] = {}
    lines: dict[str, list[str]] = {name: [] for name in LINES}
    for run in runs():
        folder = f"jobs/{run.job}/{run.name}"
        made[f"{folder}/result.json"] = document(result(run))
        if run.has_trajectory:
            written = trajectory(run)
            made[f"{folder}/agent/trajectory.json"] = document(written)
            for name, line in recorded(run, written):
                lines[name].append(json.dumps(line) + "\n")
    made |= {f"{name}.jsonl": "".join(text).encode() for name, text in lines.items()}
    return made


def document(value: Json) -> bytes:
    """Return a JSON file."""
    return (json.dumps(value, indent=1) + "\n").encode()


def main() -> None:
    """Bring the folder to what the plans say."""
    if len(sys.argv) != 2:
        sys.exit("generate.py: name the folder to write to")
    folder, made = Path(sys.argv[1]), files()
    for path in sorted((folder / "jobs").rglob("*.json")):
        if path.relative_to(folder).as_posix() not in made:
            path.unlink()
            emptied = (p for p in path.parents if p.is_relative_to(folder / "jobs") and not any(p.iterdir()))
            for parent in emptied:
                parent.rmdir()
    for name, data in made.items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(path.name + ".part")
            part.write_bytes(data)
            part.replace(path)


if __name__ == "__main__":
    main()
