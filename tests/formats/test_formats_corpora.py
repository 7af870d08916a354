"""Real runs, counted a second time straight from their raw files."""

import csv
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from format_samples import read_all

from coherence.files import encode
from coherence.formats import Reading, load
from coherence.records import Step

Readings = dict[str, Reading]


def by_key(name: str, root: Path) -> Readings:
    return {reading.trial.key: reading for reading in read_all(name, root)}


@pytest.fixture(scope="module")
def corpora(shared: Path) -> Path:
    return shared / "corpora"


@pytest.fixture(scope="module")
def kimi(corpora: Path) -> Readings:
    return by_key("harbor", corpora / "harbor" / "claude-code-kimi" / "kimi_k2.5")


@pytest.fixture(scope="module")
def mini(corpora: Path) -> Readings:
    return by_key("mini-swe-agent", corpora / "mini_swe_agent")


@pytest.fixture(scope="module")
def atif_runs(corpora: Path) -> Readings:
    return by_key("atif", corpora / "atif")


def raw(path: Path) -> Any:
    return json.loads(path.read_bytes())


def test_kimi_outcomes_are_those_of_the_verifier(corpora: Path, kimi: Readings) -> None:
    root = corpora / "harbor" / "claude-code-kimi" / "kimi_k2.5"
    for folder in (path for path in root.iterdir() if path.is_dir()):
        reward = float((folder / "verifier" / "reward.txt").read_text())
        trial = kimi[folder.name].trial
        info = raw(folder / "result.json")["exception_info"]
        assert (trial.outcome.reward, trial.outcome.status == "passed") == (reward, reward == 1.0)
        assert trial.outcome.exception == (info and info["exception_type"])
        assert trial.task == raw(folder / "result.json")["task_name"]
        assert (trial.status == "ok") == (folder / "agent" / "trajectory.json").is_file()


def test_kimi_counts(kimi: Readings) -> None:
    trials = [reading.trial for reading in kimi.values()]
    assert len(trials) == len({trial.id for trial in trials}) == 61
    assert Counter(trial.outcome.status for trial in trials) == {"failed": 57, "passed": 4}
    assert Counter(trial.status for trial in trials) == {"ok": 55, "no_trajectory": 6}
    assert Counter(trial.outcome.exception for trial in trials) == {
        None: 56,
        "AgentTimeoutError": 4,
        "VerifierTimeoutError": 1,
    }


def test_kimi_thoughts_are_the_distinct_reasoning_of_each_turn(corpora: Path, kimi: Readings) -> None:
    root = corpora / "harbor" / "claude-code-kimi" / "kimi_k2.5"
    for key, reading in kimi.items():
        if reading.trajectory is None:
            continue
        turns = {
            (step["timestamp"], re.sub(r"^None(?:\s{2,}|(?=[A-Z][a-z']*\s))", "", step["reasoning_content"]))
            for step in raw(root / key / "agent" / "trajectory.json")["steps"]
            if step.get("reasoning_content", "None").strip() not in ("", "None", "null")
        }
        thoughts = [thought.text for step in reading.trajectory.steps for thought in step.thoughts]
        assert Counter(thoughts) == Counter(text for _, text in turns)
        assert not [step for step in reading.trajectory.steps if step.message.startswith("Executed ")]


def test_only_the_reward_that_the_result_lost_is_from_disk(kimi: Readings) -> None:
    found = [key for key, r in kimi.items() if any(d.code == "reward_from_disk" for d in r.deviations)]
    assert found == ["query-optimize__xcBWV57"]


def test_mini_swe_agent_outcomes_are_those_of_the_summary(corpora: Path, mini: Readings) -> None:
    entries = raw(corpora / "mini_swe_agent" / "results_summary.json")["instances"]
    resolved = {entry["instance_id"]: entry["resolved"] for entry in entries}
    found = {reading.trial.task: reading.trial.outcome.status for reading in mini.values()}
    assert len(found) == 239
    assert found == {task: "passed" if resolved[task] else "failed" for task in found}
    assert Counter(found.values()) == {"passed": 174, "failed": 65}


def test_mini_swe_agent_steps_hold_each_message_once(corpora: Path, mini: Readings) -> None:
    """Each character but white space, labels and fences of a reply is in a thought, the message or a call."""
    for key, reading in mini.items():
        assert reading.trajectory is not None
        assert reading.deviations == ()
        replies = [m for m in raw(corpora / "mini_swe_agent" / key)["messages"] if m["role"] == "assistant"]
        steps = [step for step in reading.trajectory.steps if step.source == "agent"]
        assert [step.number for step in steps] == list(range(1, len(replies) + 1))
        for step, reply in zip(steps, replies, strict=True):
            fences = reply["content"].replace("```bash", "").count("```") + 1
            lost = len("".join(reply["content"].split())) - len("".join(agent_text(step).split()))
            assert 0 <= lost <= len("THOUGHT:") + fences * len("```bash") + len(step.calls) * len("```")


def agent_text(step: Step) -> str:
    arguments = (str(value) for call in step.calls for value in call.arguments.values())
    return "\n".join([step.message, *(thought.text for thought in step.thoughts), *arguments])


def test_every_labelled_quote_stands_in_the_text_of_its_step(
    shared: Path, corpora: Path, mini: Readings, kimi: Readings
) -> None:
    runs = {f"mini_swe_agent/{key}": reading for key, reading in mini.items()}
    for key, reading in kimi.items():
        runs[f"harbor/claude-code-kimi/kimi_k2.5/{key}/agent/trajectory.json"] = reading
    checked = 0
    for line in (shared / "labels" / "spans.jsonl").read_text().splitlines():
        label = json.loads(line)
        trajectory = runs[label["file"]].trajectory
        assert trajectory is not None
        steps = {step.number: step for step in trajectory.steps}
        for number, quote in quotes_of(label):
            checked += 1
            step = steps[number]
            as_read = (f"[call] {call.name} {json.dumps(call.arguments)}" for call in step.calls)
            assert quote in "\n".join([agent_text(step), *as_read]), (label["file"], number)
    assert checked > 250


def quotes_of(label: dict[str, Any]) -> list[tuple[int, str]]:
    spans = label["flagged_spans"]
    return [
        *((span["acknowledgment_step"], span["acknowledgment_quote"]) for span in spans),
        *((span["action_step"], span["action_quote"]) for span in spans),
        *((miss["step"], miss["quote"]) for miss in label["near_misses"]),
    ]


def test_every_atif_file_is_read_exactly_once(corpora: Path, atif_runs: Readings) -> None:
    files = {path.relative_to(corpora / "atif").as_posix() for path in (corpora / "atif").rglob("*.json")}
    sources = Counter(source.path for reading in atif_runs.values() for source in reading.trial.sources)
    assert sources == dict.fromkeys(files, 1)


def test_atif_files_that_are_none_are_unreadable(corpora: Path, atif_runs: Readings) -> None:
    lists = {key for key in atif_runs if isinstance(raw(corpora / "atif" / key), list)}
    assert {key for key, r in atif_runs.items() if r.trial.status == "unreadable"} == lists
    assert len(lists) == 11


def test_atif_steps_are_all_there(corpora: Path, atif_runs: Readings) -> None:
    for key, reading in atif_runs.items():
        if reading.trajectory is None:
            continue
        steps = raw(corpora / "atif" / key)["steps"]
        wanted = [step["step_id"] for step in steps if not step.get("is_copied_context")]
        assert [step.number for step in reading.trajectory.steps] == wanted


def test_scripted_thoughts_survive(atif_runs: Readings, corpora: Path) -> None:
    key = "openhands-sdk-scripted/harbor-0.26.0_sdk-1.58.2/think_loop/agent/trajectory.json"
    trajectory = atif_runs[key].trajectory
    assert trajectory is not None
    wanted = [
        call["arguments"]["thought"]
        for step in raw(corpora / "atif" / key)["steps"]
        for call in step.get("tool_calls", [])
        if call["function_name"] == "think" and call["arguments"].get("thought", "").strip()
    ]
    assert [t.text for step in trajectory.steps for t in step.thoughts] == wanted


def test_readings_can_be_written_and_are_the_same_again(corpora: Path, atif_runs: Readings) -> None:
    again = by_key("atif", corpora / "atif")
    assert [encode(reading) for reading in again.values()] == [encode(r) for r in atif_runs.values()]


def test_wolfbench_outcomes_are_those_of_the_table(corpora: Path) -> None:
    with (corpora / "wolfbench" / "all_trials.tsv").open(newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    table = {(row["group"], row["job"], row["trial_name"]): row for row in rows}
    readings = by_key("harbor", corpora / "wolfbench")
    assert len(readings) == 270
    for key, reading in readings.items():
        group, job, name = key.split("/")
        row = table[group, job, name]
        reward = float(row["reward"]) if row["reward"] else None
        outcome = reading.trial.outcome
        assert (outcome.reward, outcome.exception or "") == (reward, row["exception_type"])
        assert (outcome.status == "unknown") == (reward is None)
        assert reading.trial.task == row["task_name"]


def test_the_replication_is_a_table(shared: Path) -> None:
    columns = {"id": "instance", "passed": "resolved", "weight": "sampling_weight"}
    verdict = {"reader": {"flagged": "flagged"}, "second": {"flagged": "second_reader_flagged"}}
    path = shared / "replication" / "mini_swe_agent_gemini3.csv"
    readings = list(read_all("table", path, columns=columns, verdict_columns=verdict))
    outcomes = Counter((r.judgements[0].state, r.trial.outcome.status) for r in readings)
    assert outcomes == {
        ("flagged", "failed"): 26,
        ("flagged", "passed"): 15,
        ("unflagged", "failed"): 38,
        ("unflagged", "passed"): 49,
    }
    assert Counter(r.judgements[1].state for r in readings)["unjudged"] == 104


def test_tau_bench_is_four_trials_of_fifty_tasks(corpora: Path) -> None:
    raws = raw(corpora / "tau_bench" / "historical_trajectories" / "gpt-4o-airline.json")
    readings = list(read_all("tau-bench", corpora / "tau_bench"))
    assert [(r.trial.task.split("-")[0], r.trial.attempt) for r in readings] == [
        (str(result["task_id"]), str(result["trial"])) for result in raws
    ]
    attempts = Counter(reading.trial.task for reading in readings)
    assert (len(readings), len(attempts), set(attempts.values())) == (200, 50, {4})
    assert [reading.trial.outcome.reward for reading in readings] == [result["reward"] for result in raws]
    assert Counter(r.trial.outcome.status for r in readings) == {"failed": 116, "passed": 84}
    assert {reading.deviations for reading in readings} == {()}


def test_tau_bench_steps_hold_each_message_once(corpora: Path) -> None:
    raws = raw(corpora / "tau_bench" / "historical_trajectories" / "gpt-4o-airline.json")
    for reading, result in zip(read_all("tau-bench", corpora / "tau_bench"), raws, strict=True):
        assert reading.trajectory is not None
        steps = reading.trajectory.steps
        own = [message for message in result["traj"] if message["role"] != "tool"]
        assert len(steps) == len(own)
        for step, message in zip(steps, own, strict=True):
            texts = [step.message, *(t.text for t in step.thoughts if t.source != "think_call")]
            assert "".join(texts) == (message["content"] or "")
            names = [call["function"]["name"] for call in message.get("tool_calls", ())]
            thinks = ["think" for thought in step.thoughts if thought.source == "think_call"]
            assert Counter([*thinks, *(call.name for call in step.calls)]) == Counter(names)
        seen = [result.text for step in steps for result in step.observations]
        told = [m["content"] for m in result["traj"] if m["role"] == "tool" and m["name"] != "think"]
        assert seen == told


@pytest.mark.parametrize("folder", ["mini_swe_agent", "swe_agent", "openhands", "inspect_logs", "tau_bench"])
def test_another_formats_files_are_refused_not_crashed_on(folder: str, corpora: Path) -> None:
    if not (corpora / folder).is_dir():
        pytest.skip(f"needs {folder}")
    statuses = {reading.trial.status for reading in read_all("atif", corpora / folder)}
    assert statuses <= {"unreadable"}
    assert list(load("harbor").discover(corpora / folder)) == []


def test_kimi_tests_are_those_of_the_verifiers_summary(corpora: Path, kimi: Readings) -> None:
    root = corpora / "harbor" / "claude-code-kimi" / "kimi_k2.5"
    found = {}
    for folder in (path for path in root.iterdir() if (path / "verifier" / "ctrf.json").is_file()):
        summary = raw(folder / "verifier" / "ctrf.json")["results"]["summary"]
        found[folder.name] = (summary["passed"], summary["failed"])
    read = {key: r.trial.outcome.tests for key, r in kimi.items() if r.trial.outcome.tests is not None}
    assert {key: (tests.passed, tests.failed) for key, tests in read.items()} == found
    assert (len(found), sum(tests.no_result for tests in read.values())) == (41, 0)
    assert not [key for key, reading in kimi.items() if reading.trial.outcome.contradicted]


def test_mini_swe_agent_tests_decide_as_the_reports_say(mini: Readings) -> None:
    outcomes = [reading.trial.outcome for reading in mini.values()]
    tests = [outcome.tests for outcome in outcomes if outcome.tests is not None]
    assert (len(tests), sum(t.passed for t in tests), sum(t.failed for t in tests)) == (239, 27256, 256)
    assert max(t.known for t in tests) == 2400
    assert not [outcome for outcome in outcomes if outcome.contradicted]
