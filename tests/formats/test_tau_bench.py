import json
from pathlib import Path
from typing import Any

import pytest
from format_samples import codes, put, read_all, read_one

from coherence.errors import InputError
from coherence.formats import load
from coherence.formats.tau_bench import is_results
from coherence.records import Call, Observation, Outcome, Step, Thought

TAU = load("tau-bench")
SYSTEM = {"role": "system", "content": "Follow the policy."}
USER = {"role": "user", "content": "Cancel order 7."}


def tool_call(name: str = "find", arguments: Any = '{"id": 7}', call_id: Any = "c1") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def said(content: Any = None, *calls: Any, **fields: Any) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": content,
        **({"tool_calls": list(calls)} if calls else {}),
        **fields,
    }


def back(content: Any = "found", call_id: Any = "c1", **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "name": "find", "content": content, **fields}


def result(*messages: Any, **fields: Any) -> dict[str, Any]:
    info = {"task": {"user_id": "u", "instruction": "You want to cancel."}}
    whole = {"task_id": 3, "reward": 1.0, "info": info, "traj": [SYSTEM, USER, *messages], "trial": 0}
    return {**whole, **fields}


def steps_of(root: Path, *messages: Any) -> tuple[Step, ...]:
    put(root / "runs.json", [result(*messages)])
    trajectory = read_one("tau-bench", root).trajectory
    assert trajectory is not None
    return trajectory.steps


def test_each_message_but_a_tools_is_a_step(tmp_path: Path) -> None:
    messages = (said(None, tool_call()), back(), said("Done."), {"role": "user", "content": "###STOP###"})
    assert steps_of(tmp_path, *messages) == (
        Step(1, "system", "Follow the policy."),
        Step(2, "user", "Cancel order 7."),
        Step(3, "agent", "", (), (Call("find", {"id": 7}, "c1"),), (Observation("found", "c1"),)),
        Step(4, "agent", "Done."),
        Step(5, "user", "###STOP###"),
    )


def test_think_calls_and_text_beside_a_call_are_thoughts(tmp_path: Path) -> None:
    think = tool_call("think", json.dumps({"thought": "Policy forbids it."}))
    steps = steps_of(tmp_path, said(None, think), back(""), said("Let me look.", tool_call()), back("x"))
    assert steps[2].thoughts == (Thought("Policy forbids it.", "think_call"),)
    assert (steps[2].calls, steps[2].observations) == ((), ())
    assert (steps[3].message, steps[3].thoughts) == ("", (Thought("Let me look.", "message"),))


def test_a_trial_is_one_attempt_of_its_task(tmp_path: Path) -> None:
    put(tmp_path / "runs.json", [result(trial=1, reward=0.0), result(trial=0), result(task_id=4)])
    trials = [reading.trial for reading in read_all("tau-bench", tmp_path, backbone="m")]
    assert [(trial.task.split("-")[0], trial.attempt) for trial in trials] == [
        ("3", "1"),
        ("3", "0"),
        ("4", "0"),
    ]
    assert trials[0].task == trials[1].task
    assert [trial.outcome for trial in trials[:2]] == [Outcome("failed", 0.0), Outcome("passed", 1.0)]
    assert len({trial.id for trial in trials}) == len({trial.key for trial in trials}) == 3
    assert {(trial.backbone, trial.scaffold) for trial in trials} == {("m", "tau-bench")}


def test_tasks_of_two_domains_with_one_number_are_two_tasks(tmp_path: Path) -> None:
    other = {"task": {"user_id": "u", "instruction": "You want a refund."}}
    put(tmp_path / "a.json", [result()])
    put(tmp_path / "b.json", [result(info=other), result(trial=1)])
    tasks = [reading.trial.task for reading in read_all("tau-bench", tmp_path)]
    assert tasks[0] == tasks[2] != tasks[1]


def test_a_crash_is_an_exception_beside_the_reward(tmp_path: Path) -> None:
    crashed = {"error": "RateLimitError: " + "x" * 500, "traceback": "..."}
    put(tmp_path / "runs.json", [result(reward=0.0, info=crashed, traj=[])])
    reading = read_one("tau-bench", tmp_path)
    assert reading.trajectory is None
    assert (reading.trial.status, reading.trial.reason) == ("no_trajectory", "the result has no messages")
    assert (reading.trial.outcome.status, reading.trial.task) == ("failed", "3")
    assert (reading.trial.outcome.exception or "").startswith("RateLimitError: x")
    assert len(reading.trial.outcome.exception or "") == 80


@pytest.mark.parametrize(
    ("reward", "outcome"),
    [
        (None, Outcome("unknown", reason="the result has no reward")),
        ("1.0", Outcome("unknown", reason="the result has no reward")),
        (0.5, Outcome("failed", 0.5)),
        (1, Outcome("passed", 1.0)),
    ],
)
def test_the_reward_decides(reward: Any, outcome: Outcome, tmp_path: Path) -> None:
    put(tmp_path / "runs.json", [result(reward=reward)])
    assert read_one("tau-bench", tmp_path).trial.outcome == outcome


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (result(trial=None), "trial_missing"),
        (result(trial=True), "trial_missing"),
        (result(task_id=[]), "task_id_missing"),
        ("no object", "wrong_type"),
        (result(traj={}), "wrong_type"),
        (result(said(None, {"id": "c1"})), "call_unnamed"),
        (result(said("x"), {"role": "narrator", "content": "y"}), "message_role_unknown"),
        (result(said(None, tool_call())), "call_without_observation"),
        (result(said(None, tool_call()), back(call_id="c9")), "observation_of_unknown_call"),
    ],
)
def test_oddities_are_noted(raw: Any, code: str, tmp_path: Path) -> None:
    put(tmp_path / "runs.json", [raw])
    assert code in codes(read_one("tau-bench", tmp_path))


def test_one_bad_result_does_not_lose_the_others_and_repeated_ones_are_named_apart(tmp_path: Path) -> None:
    put(tmp_path / "runs.json", [result(), None, result()])
    readings = list(read_all("tau-bench", tmp_path))
    assert [reading.trial.status for reading in readings] == ["ok", "no_trajectory", "ok"]
    assert len({reading.trial.id for reading in readings}) == 3
    assert "id_repeated" in codes(readings[2])


@pytest.mark.parametrize(
    ("content", "reason"),
    [("", "the file is empty"), ("[{", "not JSON"), ({"rows": []}, "not a tau-bench result file")],
)
def test_a_file_without_results_is_one_unreadable_trial(content: Any, reason: str, tmp_path: Path) -> None:
    put(tmp_path / "runs.json", content)
    trial = read_one("tau-bench", tmp_path).trial
    assert (trial.status, trial.outcome.status) == ("unreadable", "unknown")
    assert (trial.reason or "").startswith(reason)


def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        list(TAU.discover(tmp_path / "gone"))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ([result()], True),
        (b"\xef\xbb\xbf \n" + json.dumps([result()]).encode(), True),
        ([], False),
        ({"task_id": 1, "traj": [], "reward": 1}, False),
        ([{"episode": 1}], False),
    ],
)
def test_result_files_are_known_by_what_they_hold(content: Any, told: bool, tmp_path: Path) -> None:
    assert is_results(put(tmp_path / "runs.json", content)) is told
    assert not is_results(tmp_path / "gone.json")
