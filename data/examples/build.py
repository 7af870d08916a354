"""Write the example jobs, their verdicts and the README's table from the YAML files in `source/`.

`python data/examples/build.py`: the same source gives the same bytes. A trajectory is a list of turns; a turn
holds any of think, say, one call (bash, create, edit or finish), out, and the marks parallel, times, empty,
copied and source.
"""

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from coherence.files import digest, encode, write_bytes

HERE = Path(__file__).resolve().parent
SOURCE = "coherence-examples"
ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
CALLS = "bash", "create", "edit", "finish"
TABLE_HEAD = "| trial | steps | outcome | verdict | exercises |", "|---|---|---|---|---|"
SYSTEM = (
    "You are an agent in a Linux container. Solve the user's task with the tools terminal, file_editor and "
    "task_tracker; use think to reason and finish to end the run. Nobody answers questions."
)
PARAMETERS = {
    "terminal": ("command", "is_input", "timeout", "reset"),
    "file_editor": ("command", "path", "file_text", "old_str", "new_str", "insert_line", "view_range"),
    "task_tracker": ("command", "task_list"),
    "finish": ("message",),
    "think": ("thought",),
}

Json = dict[str, Any]


def source(name: str) -> Any:
    """Return what a source file says."""
    return yaml.safe_load((HERE / "source" / name).read_text(encoding="utf-8"))


def trials() -> Iterator[Json]:
    """Yield every trial of the source, named and joined with its task and job, in the order of jobs."""
    jobs = {job["name"]: job for job in source("jobs.yaml")}
    attempts: Counter[tuple[str, str]] = Counter()
    found = []
    for path in sorted((HERE / "source").glob("*.yaml")):
        task = {} if path.name == "jobs.yaml" else source(path.name)
        for trial in task.get("trials", ()):
            place = trial["job"], task["task"]
            seed = digest(*place, str(attempts[place]))
            attempts[place] += 1
            name = f"{task['task'][:32]}__{letters(seed, 7)}"
            found.append(
                trial
                | {
                    "job": jobs[trial["job"]],
                    "task": task["task"],
                    "instruction": task["instruction"],
                    "name": name,
                    "seed": seed,
                }
            )
    order = list(jobs)
    return iter(sorted(found, key=lambda trial: order.index(trial["job"]["name"])))


def letters(seed: str, length: int) -> str:
    """Return a suffix as Harbor's short UUIDs look."""
    number = int(seed, 16)
    return "".join(ALPHABET[number // len(ALPHABET) ** place % len(ALPHABET)] for place in range(length))


def uuid(*parts: str) -> str:
    """Return a stable identifier in the form of a UUID."""
    seed = digest(*parts)
    return f"{seed[:8]}-{seed[8:12]}-4{seed[13:16]}-a{seed[17:20]}-{seed[20:32]}"


def observed(turn: Json, empty: str) -> str:
    """Return what a call shows: as written, generated from `repeat`, or what the tool says by itself."""
    out = turn.get("out")
    if isinstance(out, dict):
        picks = out["pick"].items()
        rows = ({name: values[n % len(values)] for name, values in picks} for n in range(out["repeat"]))
        return "\n".join(out["line"].format(n=n % 60, **row) for n, row in enumerate(rows))
    if out is not None:
        return str(out)
    if "create" in turn:
        return f"File created successfully at: {turn['create']}"
    return f"The file {turn['edit']} has been edited." if "edit" in turn else str(turn.get("finish", empty))


def openhands_call(turn: Json) -> tuple[str, Json]:
    """Return the OpenHands tool and arguments of a turn's call."""
    if "bash" in turn:
        return "terminal", {"command": turn["bash"], "is_input": False, "reset": False}
    if "create" in turn:
        return "file_editor", {"command": "create", "path": turn["create"], "file_text": turn["text"]}
    if "edit" in turn:
        edit = {"old_str": turn["old"], "new_str": turn["new"]}
        return "file_editor", {"command": "str_replace", "path": turn["edit"], **edit}
    return "finish", {"message": turn["finish"]}


def openhands_steps(turn: Json, number: int) -> Iterator[Json]:
    """Yield a turn's steps as OpenHands' runner writes them: one a call, the last with the observation."""
    if "think" in turn:
        yield called(f"call_{number}_t", "think", {"thought": turn["think"]}, "Your thought has been logged.")
    calls = turn.get("parallel") or [turn] * any(name in turn for name in CALLS)
    for index, call in enumerate(calls):
        step = called(f"call_{number}_{index}", *openhands_call(call), observed(turn, ""))
        if index < len(calls) - 1:
            del step["observation"]
        yield step
    if "say" in turn:
        yield {"message": turn["say"]}
    if turn.get("empty"):
        yield {}


def claude_call(turn: Json) -> tuple[str, Json]:
    """Return the Claude Code tool and arguments of a turn's call."""
    if "bash" in turn:
        return "Bash", {"command": turn["bash"]}
    if "create" in turn:
        return "Write", {"file_path": turn["create"], "content": turn["text"]}
    edit = {"old_string": turn["old"], "new_string": turn["new"]}
    return "Edit", {"replace_all": False, "file_path": turn["edit"], **edit}


def claude_steps(turn: Json, number: int) -> Iterator[Json]:
    """Yield a turn's one step as Claude Code is converted: reasoning, message, calls and results together."""
    step: Json = {"source": turn.get("source", "agent"), "message": turn.get("say", "")}
    if "think" in turn:
        step["reasoning_content"] = turn["think"]
    if any(name in turn for name in CALLS):
        identity = "toolu_" + letters(digest(str(number), turn.get("bash", "")), 22)
        step |= called(identity, *claude_call(turn), observed(turn, "(no output)"))
    if turn.get("copied"):
        step["is_copied_context"] = True
    yield step


def called(identity: str, name: str, arguments: Json, content: str) -> Json:
    """Return the part of a step that holds one call and its result."""
    return {
        "tool_calls": [{"tool_call_id": identity, "function_name": name, "arguments": arguments}],
        "observation": {"results": [{"source_call_id": identity, "content": content}]},
    }


def steps(trial: Json, start: datetime) -> list[Json]:
    """Return the trial's steps, numbered and dated; the time between two follows from the trial's seed."""
    sdk = trial["job"]["agent"] == "openhands-sdk"
    turns = [turn for turn in trial["steps"] for _ in range(turn.get("times", 1))]
    make = openhands_steps if sdk else claude_steps
    opening = [{"source": "system", "message": SYSTEM}] * sdk + [
        {"source": "user", "message": trial["instruction"]}
    ]
    bodies = [*opening, *(step for number, turn in enumerate(turns) for step in make(turn, number))]
    numbered = []
    for number, body in enumerate(bodies, 1):
        start += timedelta(milliseconds=int(digest(trial["seed"], str(number))[:4], 16) // 2 + 1500)
        head = {"step_id": number, "timestamp": stamp(start, naive=sdk)}
        agent = {"source": "agent", "message": "", "model_name": trial["job"]["model"]}
        numbered.append(head | (body if body.get("source", "agent") != "agent" else agent | body))
    return numbered


def stamp(moment: datetime, naive: bool = False) -> str:
    """Return a time as the agents (naive, or UTC) and Harbor write it."""
    return moment.isoformat(timespec="microseconds") if naive else f"{moment:%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"


def usage(numbered: list[Json]) -> Json:
    """Return rough token totals: four characters a token, the whole context sent at each agent step."""
    sizes = [len(json.dumps(step)) // 4 for step in numbered]
    agent = [index for index, step in enumerate(numbered) if step["source"] == "agent"]
    return {
        "total_prompt_tokens": sum(sum(sizes[:index]) for index in agent),
        "total_completion_tokens": sum(sizes[index] for index in agent),
        "total_cached_tokens": sum(sum(sizes[: index - 1]) for index in agent),
        "total_cost_usd": 0.0,
    }


def trajectory(trial: Json, numbered: list[Json]) -> Json:
    """Return the ATIF document of a trial."""
    job = trial["job"]
    if job["agent"] == "openhands-sdk":
        tools = [
            {
                "type": "function",
                "function": {
                    "name": name,
                    "parameters": {"type": "object", "properties": {key: {} for key in keys}},
                },
            }
            for name, keys in PARAMETERS.items()
        ]
        head: Json = {"schema_version": "ATIF-v1.5", "session_id": "harbor-session"}
        agent: Json = {"name": job["agent"], "tool_definitions": tools, "version": job["version"]}
    else:
        head = {"schema_version": "ATIF-v1.7", "session_id": uuid(trial["seed"], "session")}
        agent = {"name": job["agent"], "version": job["version"], "model_name": job["model"]}
    return head | {"agent": agent, "steps": numbered, "final_metrics": usage(numbered)}


def trial_config(trial: Json) -> Json:
    """Return a trial's config.json."""
    job = trial["job"]
    return {
        "task": {"path": f"tasks/{trial['task']}", "git_url": None, "git_commit_id": None, "source": SOURCE},
        "trial_name": trial["name"],
        "trials_dir": f"jobs/{job['name']}",
        "timeout_multiplier": 1.0,
        "agent": {"name": job["agent"], "model_name": job["model"], "kwargs": {}},
        "environment": {"type": "docker", "force_build": False, "delete": True},
        "verifier": {"disable": False},
        "job_id": uuid(job["name"]),
    }


def exception_info(trial: Json, moment: datetime) -> Json | None:
    """Return a trial's exception as Harbor records it."""
    exception = trial.get("exception")
    if exception is None:
        return None
    trace = 'Traceback (most recent call last):\n  File "trial.py", line 1, in run\n'
    return {
        "exception_type": exception["type"],
        "exception_message": exception["message"],
        "exception_traceback": f"{trace}{exception['type']}: {exception['message']}\n",
        "occurred_at": stamp(moment, naive=True),
    }


def trial_result(trial: Json, began: datetime, ended: datetime, tokens: Json | None) -> Json:
    """Return a trial's result.json; `tokens` is None where there is no trajectory to count."""
    job, reward = trial["job"], trial.get("reward")
    started, ready, verified = (
        stamp(began - timedelta(seconds=45)),
        stamp(began - timedelta(seconds=30)),
        stamp(ended + timedelta(seconds=20)),
    )
    counted = tokens or {}
    return {
        "id": uuid(trial["seed"]),
        "task_name": trial["task"],
        "trial_name": trial["name"],
        "trial_uri": f"file:///jobs/{job['name']}/{trial['name']}",
        "task_id": {"path": f"tasks/{trial['task']}"},
        "source": SOURCE,
        "task_checksum": digest(trial["task"], trial["instruction"]),
        "config": trial_config(trial),
        "agent_info": {
            "name": job["agent"],
            "version": job["version"],
            "model_info": {"name": job["model"], "provider": "example"},
        },
        "agent_result": {
            "n_input_tokens": counted.get("total_prompt_tokens"),
            "n_cache_tokens": counted.get("total_cached_tokens"),
            "n_output_tokens": counted.get("total_completion_tokens"),
            "cost_usd": None,
            "rollout_details": None,
            "metadata": None,
        },
        "verifier_result": None if reward is None else {"rewards": {"reward": float(reward)}},
        "exception_info": exception_info(trial, ended),
        "started_at": started,
        "finished_at": verified,
        "environment_setup": {"started_at": started, "finished_at": ready},
        "agent_setup": {"started_at": ready, "finished_at": stamp(began)},
        "agent_execution": {"started_at": stamp(began), "finished_at": stamp(ended)},
        "verifier": None if tokens is None else {"started_at": stamp(ended), "finished_at": verified},
    }


def ctrf(tests: dict[str, str]) -> Json:
    """Return a verifier's test report."""
    counts = Counter(tests.values())
    listed = [{"name": f"test_outputs.py::test_{name}", "status": status} for name, status in tests.items()]
    summary = {"tests": len(tests)} | {name: counts[name] for name in ("passed", "failed", "skipped")}
    return {"results": {"tool": {"name": "pytest"}, "summary": summary, "tests": listed}}


def document(value: Json, ascii_only: bool = False) -> bytes:
    """Return a JSON file as Harbor indents it."""
    return (json.dumps(value, indent=2, ensure_ascii=ascii_only) + "\n").encode()


def trial_files(trial: Json, began: datetime, ended: datetime, numbered: list[Json]) -> dict[str, bytes]:
    """Return a trial folder's files by their path."""
    sdk = trial["job"]["agent"] == "openhands-sdk"
    result = trial_result(trial, began, ended, usage(numbered) if numbered else None)
    made = {"config.json": document(trial_config(trial)), "result.json": document(result)}
    if numbered:
        made["agent/trajectory.json"] = document(trajectory(trial, numbered), ascii_only=sdk)
    if result["exception_info"]:
        made["exception.txt"] = result["exception_info"]["exception_traceback"].encode()
    if "reward" in trial:
        made["verifier/reward.txt"] = f"{trial['reward']}\n".encode()
    if "tests" in trial:
        made["verifier/ctrf.json"] = document(ctrf(trial["tests"]))
    return made


def job_files(job: Json, members: list[Json], ended: datetime) -> dict[str, bytes]:
    """Return a job folder's own config.json and result.json."""
    rewards: dict[str, list[str]] = {}
    exceptions: dict[str, list[str]] = {}
    for trial in members:
        if "reward" in trial:
            rewards.setdefault(f"{float(trial['reward'])}", []).append(trial["name"])
        if "exception" in trial:
            exceptions.setdefault(trial["exception"]["type"], []).append(trial["name"])
    errors = sum(map(len, exceptions.values()))
    mean = sum(trial.get("reward", 0) for trial in members) / len(members)
    evaluation = {
        "n_trials": len(members),
        "n_errors": errors,
        "metrics": [{"mean": round(mean, 6)}],
        "reward_stats": {"reward": rewards},
        "exception_stats": exceptions,
    }
    key = f"{job['agent']}__{job['model']}__{SOURCE}"
    stats = {"n_trials": len(members), "n_errors": errors, "evals": {key: evaluation}}
    config = {
        "job_name": job["name"],
        "jobs_dir": "jobs",
        "n_attempts": 1 if job["name"].endswith("-retry") else 3,
        "timeout_multiplier": 1.0,
        "environment": {"type": "docker", "force_build": False, "delete": True},
        "agents": [{"name": job["agent"], "model_name": job["model"]}],
        "datasets": [{"name": SOURCE, "path": "tasks"}],
    }
    result = {
        "id": uuid(job["name"]),
        "started_at": stamp(job["started"]),
        "finished_at": stamp(ended),
        "n_total_trials": len(members),
        "stats": stats,
    }
    return {"config.json": document(config), "result.json": document(result)}


def thought_texts(step: Json) -> Iterator[str]:
    """Yield the visible reasoning of a step."""
    yield step.get("reasoning_content", "")
    yield from (call["arguments"].get("thought", "") for call in step.get("tool_calls", ()))


def action_texts(step: Json) -> Iterator[str]:
    """Yield what a step says or does."""
    yield step["message"] * (step["source"] == "agent")
    for call in step.get("tool_calls", ()):
        yield from (value for value in call["arguments"].values() if isinstance(value, str))


def place(quote: str, texts: Iterable[tuple[int, Iterable[str]]]) -> int:
    """Return the one step whose texts hold the quote; raise ValueError where there is none or a second."""
    found = [number for number, parts in texts if any(quote in part for part in parts)]
    if len(found) != 1:
        raise ValueError(f"quote found in steps {found}: {quote!r}")
    return found[0]


def verdict(trial: Json, numbered: list[Json]) -> Json:
    """Return a trial's verdict line, with each quote put to its step."""
    own = [step for step in numbered if not step.get("is_copied_context")]
    thoughts = [(step["step_id"], list(thought_texts(step))) for step in own]
    actions = [(step["step_id"], list(action_texts(step))) for step in own]
    spans = []
    for number, span in enumerate(trial["verdict"].get("spans", ()), 1):
        acknowledged = place(span["acknowledgment"], thoughts)
        spans.append(
            {
                "span_id": number,
                "start_step": acknowledged,
                "end_step": place(span.get("end", span["action"]), actions),
                "acknowledgment_step": acknowledged,
                "acknowledgment_quote": span["acknowledgment"],
                "action_step": place(span["action"], actions),
                "action_quote": span["action"],
                "conflict_type": span["type"],
                "confidence": span["confidence"],
                "reasoning": span["reasoning"],
            }
        )
    return {
        "dataset": trial["job"]["dataset"],
        "trial": trial["name"],
        "state": "flagged" if spans else "unflagged",
        "summary": trial["verdict"]["summary"],
        "spans": spans,
        "rating": trial["verdict"]["rating"],
    }


def row(trial: Json, numbered: list[Json], judged: Json | None) -> str:
    """Return a trial's line of the README's table."""
    outcome = {1: "passed", 0: "failed", None: "unknown"}[trial.get("reward")]
    error = f" ({trial['exception']['type']})" if "exception" in trial else ""
    state = judged["state"] if judged else "no trajectory"
    cells = f"`{trial['name']}`", len(numbered) or "", outcome + error, state, trial["exercises"]
    return "| " + " | ".join(map(str, cells)) + " |"


def period(trial: Json, clock: datetime) -> tuple[list[Json], datetime, datetime]:
    """Return a trial's steps, and when its agent began and ended, the first a minute after `clock`."""
    began = clock + timedelta(seconds=60)
    numbered = steps(trial, began) if "steps" in trial else []
    if trial.get("exception", {}).get("type") == "AgentTimeoutError":
        return numbered, began, began + timedelta(seconds=900)
    last = datetime.fromisoformat(numbered[-1]["timestamp"].rstrip("Z")) if numbered else began
    return numbered, began, last + timedelta(seconds=20)


def files() -> dict[str, bytes]:
    """Return every built file by its path below this folder."""
    made: dict[str, bytes] = {}
    verdicts: list[Json] = []
    table: list[str] = []
    everything = list(trials())
    for job in source("jobs.yaml"):
        members = [trial for trial in everything if trial["job"] == job]
        folder, clock = f"jobs/{job['name']}", job["started"]
        table += [f"`{folder}`", "", *TABLE_HEAD]
        for trial in members:
            numbered, began, clock = period(trial, clock)
            own = trial_files(trial, began, clock, numbered)
            made |= {f"{folder}/{trial['name']}/{path}": data for path, data in own.items()}
            judged = verdict(trial, numbered) if numbered else None
            verdicts += [judged] if judged else []
            table.append(row(trial, numbered, judged))
        made |= {f"{folder}/{path}": data for path, data in job_files(job, members, clock).items()}
        table.append("")
    made["verdicts.jsonl"] = b"".join(encode(line) + b"\n" for line in verdicts)
    made["README.md"] = readme("\n".join(table))
    return made


def readme(table: str) -> bytes:
    """Return the README with its table of trials replaced."""
    head, mark, _ = (HERE / "README.md").read_text(encoding="utf-8").partition("<!-- trials -->\n")
    if not mark:
        raise ValueError("README.md: no line '<!-- trials -->' to put the table below")
    return f"{head}{mark}{table}".encode()


def main() -> None:
    """Write everything, leaving nothing of an earlier build."""
    made = files()
    shutil.rmtree(HERE / "jobs", ignore_errors=True)
    for path, data in made.items():
        write_bytes(HERE / path, data)


if __name__ == "__main__":
    main()
