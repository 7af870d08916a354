import json
from pathlib import Path
from typing import Any

import pytest
from format_samples import codes, put, read_all, read_one

from coherence.errors import InputError
from coherence.formats import load
from coherence.records import Call, Observation, Outcome, Step, Thought, Verified, VerifierTests

MINI = load("mini-swe-agent")
ID = "astropy__astropy-1"
SYSTEM = {"role": "system", "content": "Be good."}
TASK = {"role": "user", "content": "Fix it."}


def reply(content: Any = "THOUGHT: Look.\n\n```bash\nls\n```", **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "extra": {"response": {}}, **fields}


def back(content: Any = "<returncode>0</returncode>", **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **fields}


def run(*messages: Any, **fields: Any) -> dict[str, Any]:
    info = {"exit_status": "Submitted", "config": {"model": {"model_name": "provider/m"}}}
    return {
        "info": info,
        "messages": [SYSTEM, TASK, *messages],
        "trajectory_format": "mini-swe-agent-1",
        "instance_id": ID,
        **fields,
    }


def steps_of(root: Path, *messages: Any) -> tuple[Step, ...]:
    put(root / f"{ID}.traj.json", run(*messages))
    trajectory = read_one("mini-swe-agent", root).trajectory
    assert trajectory is not None
    return trajectory.steps


def test_step_n_is_the_nth_assistant_message(tmp_path: Path) -> None:
    steps = steps_of(
        tmp_path, reply(), back("a.py"), reply("THOUGHT: Done.\n```bash\necho DONE\n```"), back("x")
    )
    assert steps == (
        Step(-1, "system", "Be good."),
        Step(0, "user", "Fix it."),
        Step(
            1,
            "agent",
            "",
            (Thought("Look.", "scaffold"),),
            (Call("bash", {"command": "ls"}),),
            (Observation("a.py"),),
        ),
        Step(
            2,
            "agent",
            "",
            (Thought("Done.", "scaffold"),),
            (Call("bash", {"command": "echo DONE"}),),
            (Observation("x"),),
        ),
    )


def test_a_run_is_a_trial(tmp_path: Path) -> None:
    put(tmp_path / "trajs" / ID / f"{ID}.traj.json", run(reply(), back()))
    trial = read_one("mini-swe-agent", tmp_path).trial
    assert trial.id.startswith(f"{ID}-")
    assert (trial.task, trial.attempt) == (ID, f"trajs/{ID}/{ID}.traj.json")
    assert (trial.backbone, trial.scaffold) == ("provider/m", "mini-swe-agent")


def tool(name: str = "bash", arguments: Any = '{"command": "ls"}', call_id: str = "c1") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def answer(content: Any = "a.py", call_id: str = "c1") -> dict[str, Any]:
    return {"role": "tool", "content": content, "tool_call_id": call_id}


@pytest.mark.parametrize(
    ("message", "thoughts", "calls"),
    [
        (
            reply("I look.", tool_calls=[tool()]),
            (Thought("I look.", "scaffold"),),
            (Call("bash", {"command": "ls"}, "c1"),),
        ),
        (
            reply("THOUGHT: I look.", tool_calls=[tool(arguments={"command": "ls"})]),
            (Thought("I look.", "scaffold"),),
            (Call("bash", {"command": "ls"}, "c1"),),
        ),
        (
            reply(None, tool_calls=[tool()], reasoning_content="Hm."),
            (Thought("Hm.", "reasoning"),),
            (Call("bash", {"command": "ls"}, "c1"),),
        ),
        (
            reply("", tool_calls=[tool(arguments="{broken")]),
            (),
            (Call("bash", {"raw": "{broken"}, "c1"),),
        ),
        (
            reply([{"type": "text", "text": "I look."}], tool_calls=[tool()]),
            (Thought("I look.", "scaffold"),),
            (Call("bash", {"command": "ls"}, "c1"),),
        ),
    ],
)
def test_the_tool_calling_variant_is_read(
    message: dict[str, Any], thoughts: tuple[Thought, ...], calls: tuple[Call, ...], tmp_path: Path
) -> None:
    step = steps_of(tmp_path, message, answer())[-1]
    assert (step.message, step.thoughts, step.calls) == ("", thoughts, calls)
    assert step.observations == (Observation("a.py", "c1"),)


@pytest.mark.parametrize(
    ("content", "reasoning", "message", "thoughts"),
    [
        ("Just words.", None, "Just words.", []),
        ("Just words.", "Hm.", "Just words.", [("Hm.", "reasoning")]),
        ("Same.", "Same.", "", [("Same.", "reasoning")]),
        ("THOUGHT: Same.", "Same.", "", [("Same.", "reasoning")]),
        ("THOUGHT: Other.", "None", "", [("Other.", "scaffold")]),
    ],
)
def test_provider_reasoning_is_not_counted_twice(
    content: str, reasoning: str | None, message: str, thoughts: list[tuple[str, str]], tmp_path: Path
) -> None:
    step = steps_of(tmp_path, reply(content, reasoning_content=reasoning), back())[-1]
    assert step.message == message
    assert [(thought.text, thought.source) for thought in step.thoughts] == thoughts


@pytest.mark.parametrize(
    ("messages", "observations"),
    [
        ([reply()], []),
        ([reply(), back("a"), back("b")], ["a", "b"]),
        ([reply(), back([{"type": "text", "text": "a"}])], ["a"]),
        ([reply(), {"role": "exit", "content": "diff", "extra": {"submission": "diff"}}], ["diff"]),
        ([reply(), back(None)], [None]),
        ([reply(), back({"output": "a"})], [None]),
    ],
)
def test_what_follows_a_reply_is_its_observation(
    messages: list[Any], observations: list[str | None], tmp_path: Path
) -> None:
    assert [result.text for result in steps_of(tmp_path, *messages)[-1].observations] == observations


@pytest.mark.parametrize(
    ("value", "status", "reason"),
    [
        ("", "unreadable", "the file is empty"),
        ("[1]", "unreadable", "not a mini-swe-agent trajectory"),
        ({"info": {}}, "unreadable", "not a mini-swe-agent trajectory"),
        ({"messages": {"role": "user"}}, "unreadable", "not a mini-swe-agent trajectory"),
        ({"messages": []}, "no_trajectory", "the trajectory has no messages"),
        ({"messages": [5, None]}, "no_trajectory", "the trajectory has no messages"),
    ],
)
def test_a_broken_file_keeps_its_outcome(value: Any, status: str, reason: str, tmp_path: Path) -> None:
    put(tmp_path / f"{ID}.traj.json", value)
    put(tmp_path / "logs" / ID / "report.json", {"resolved": True})
    reading = read_one("mini-swe-agent", tmp_path)
    assert (reading.trial.status, reading.trial.outcome) == (status, Outcome("passed", 1.0))
    assert (reading.trial.reason or "").startswith(reason)
    assert reading.trial.task == ID


@pytest.mark.parametrize(
    ("path", "report", "outcome"),
    [
        (f"logs/{ID}/report.json", {"resolved": True}, Outcome("passed", 1.0)),
        (f"logs/{ID}/report.json", {ID: {"resolved": False}}, Outcome("failed", 0.0)),
        (f"trajs/{ID}/report.json", {"resolved": True}, Outcome("passed", 1.0)),
        (
            "results_summary.json",
            {"instances": [{"instance_id": ID, "resolved": True}]},
            Outcome("passed", 1.0),
        ),
        ("trajs/results.json", {"unresolved_ids": [ID]}, Outcome("failed", 0.0)),
        ("report.json", {"resolved": True}, None),
        (f"logs/{ID}/report.json", {"resolved": None}, None),
        (f"logs/{ID}/report.json", "{", None),
        ("logs/other/report.json", {"resolved": True}, None),
    ],
)
def test_the_outcome_comes_from_a_report(
    path: str, report: Any, outcome: Outcome | None, tmp_path: Path
) -> None:
    put(tmp_path / "trajs" / ID / f"{ID}.traj.json", run(reply(), back()))
    put(tmp_path / path, report)
    reading = read_one("mini-swe-agent", tmp_path)
    unknown = Outcome("unknown", reason="no report says whether it was resolved")
    assert reading.trial.outcome == (outcome or unknown)
    assert ("report_unreadable" in codes(reading)) == (report == "{")


def test_the_tests_come_from_the_report_that_decides(tmp_path: Path) -> None:
    status = {"FAIL_TO_PASS": {"success": [], "failure": ["a"]}, "PASS_TO_PASS": {"success": ["b"]}}
    put(tmp_path / "trajs" / ID / f"{ID}.traj.json", run(reply(), back()))
    put(tmp_path / "logs" / ID / "report.json", {"resolved": True, "tests_status": status})
    reading = read_one("mini-swe-agent", tmp_path)
    assert reading.tests == VerifierTests(reading.trial.id, ("b",), ("a",))
    assert reading.trial.outcome == Outcome("passed", 1.0, tests=Verified(1, 1))
    assert "tests_contradict_reward" in codes(reading)


def test_a_bare_report_beside_several_runs_belongs_to_none(tmp_path: Path) -> None:
    for name in ("one", "two"):
        put(tmp_path / "flat" / f"{name}.traj.json", run(reply(), back(), instance_id=name))
    put(tmp_path / "flat" / "report.json", {"resolved": True, "two": {"resolved": False}})
    statuses = [reading.trial.outcome.status for reading in read_all("mini-swe-agent", tmp_path)]
    assert statuses == ["unknown", "failed"]


@pytest.mark.parametrize(
    ("status", "exception"),
    [("Submitted", None), ("submitted", None), ("LimitsExceeded", "LimitsExceeded"), (None, None), (5, None)],
)
def test_another_exit_status_is_kept_as_the_exception(
    status: Any, exception: str | None, tmp_path: Path
) -> None:
    put(tmp_path / f"{ID}.traj.json", run(reply(), info={"exit_status": status}))
    put(tmp_path / "logs" / ID / "report.json", {"resolved": True})
    outcome = read_one("mini-swe-agent", tmp_path).trial.outcome
    assert outcome == Outcome("passed", 1.0, exception=exception)


@pytest.mark.parametrize(
    ("messages", "noted"),
    [
        ([reply(), {"role": "narrator", "content": "x"}], {"message_role_unknown"}),
        ([reply(5), back()], {"wrong_type"}),
        ([reply("x", tool_calls=5), back()], {"wrong_type"}),
        ([reply("x", tool_calls=[{"function": None}]), back()], {"call_unnamed"}),
        ([reply(), {"role": ["user"], "content": "x"}], {"message_role_unknown"}),
        ([5, reply(), back()], {"wrong_type"}),
        ([reply("a \ud83d b"), back()], {"lone_surrogate"}),
    ],
)
def test_odd_messages_are_noted(messages: list[Any], noted: set[str], tmp_path: Path) -> None:
    put(tmp_path / f"{ID}.traj.json", json.dumps(run(*messages)))
    reading = read_one("mini-swe-agent", tmp_path)
    assert reading.trial.status == "ok"
    assert codes(reading) == noted


def test_one_file_or_a_folder_can_be_the_root(tmp_path: Path) -> None:
    for name in ("one", "two"):
        put(tmp_path / f"{name}.traj.json", run(reply(), back(), instance_id=name))
    assert [unit.key for unit in MINI.discover(tmp_path)] == ["one.traj.json", "two.traj.json"]
    assert [unit.key for unit in MINI.discover(tmp_path / "two.traj.json")] == ["two.traj.json"]
    assert read_one("mini-swe-agent", tmp_path / "two.traj.json").trial.task == "two"


def test_a_missing_root_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file or folder"):
        list(MINI.discover(tmp_path / "missing"))
