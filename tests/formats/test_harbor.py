from pathlib import Path
from typing import Any

import pytest
from format_samples import asked, atif, codes, put, read_all, read_one, said

from coherence.errors import InputError
from coherence.formats import load
from coherence.records import Outcome

HARBOR = load("harbor")
RUN = atif(asked(), said("Done."), agent={"name": "openhands-sdk", "model_name": "m"})


def result(**fields: Any) -> dict[str, Any]:
    return {
        "id": "1",
        "task_name": "org/sum",
        "trial_name": "sum__aB1",
        "config": {"agent": {"name": "openhands-sdk", "model_name": "provider/m"}},
        "agent_info": {"name": "openhands-sdk", "version": "unknown", "model_info": None},
        "agent_result": {"n_output_tokens": None},
        "verifier_result": {"rewards": {"reward": 1.0}},
        "exception_info": None,
        **fields,
    }


def trial(folder: Path, record: Any = None, run: Any = RUN) -> Path:
    put(folder / "result.json", result() if record is None else record)
    if run is not None:
        put(folder / "agent" / "trajectory.json", run)
    return folder


def keys(root: Path) -> list[str]:
    return [unit.key for unit in HARBOR.discover(root)]


def job(folder: Path) -> Path:
    put(folder / "result.json", {"id": "j", "started_at": "x", "finished_at": "y", "n_total_trials": 2})
    put(folder / "config.json", {})
    return folder


def test_a_trial_is_identified_by_its_folder_and_its_result(tmp_path: Path) -> None:
    trial(tmp_path / "job" / "sum__aB1")
    found = read_one("harbor", tmp_path).trial
    assert (found.task, found.attempt, found.key) == ("org/sum", "sum__aB1", "job/sum__aB1")
    assert found.id.startswith("sum__aB1-")
    assert (found.backbone, found.scaffold) == ("provider/m", "openhands-sdk")
    assert found.outcome == Outcome("passed", 1.0)
    assert {source.path for source in found.sources} == {
        "job/sum__aB1/result.json",
        "job/sum__aB1/agent/trajectory.json",
    }


def test_trials_are_found_in_one_job_many_jobs_and_one_trial(tmp_path: Path) -> None:
    for name in ("a__1", "a__2"):
        trial(job(tmp_path / "jobs" / "first") / name)
    trial(job(tmp_path / "jobs" / "deep" / "second") / "b__1")
    assert keys(tmp_path / "jobs") == ["deep/second/b__1", "first/a__1", "first/a__2"]
    assert keys(tmp_path / "jobs" / "first") == ["a__1", "a__2"]
    assert keys(tmp_path / "jobs" / "first" / "a__1") == ["."]
    found = read_one("harbor", tmp_path / "jobs" / "first" / "a__1").trial
    assert found.id.startswith("a__1-")


@pytest.mark.parametrize(
    ("files", "is_trial"),
    [
        (["result.json"], True),
        (["result.json", "config.json", "lock.json"], True),
        (["agent/trajectory.json"], True),
        (["agent/trajectory.cont-1.json"], True),
        (["steps/one/agent/trajectory.json"], True),
        (["config.json", "trial.log"], True),
        (["config.json", "exception.txt"], True),
        (["config.json", "agent/setup/log.txt"], True),
        (["config.json", "verifier/reward.txt"], True),
        (["result.json", "job.log"], False),
        (["config.json"], False),
        (["config.json", "job.log", "agent/x.txt"], False),
        (["agent/notes.txt"], False),
        (["agent/mini-swe-agent.trajectory.json"], False),
        (["trajectory.json"], False),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, list) else "",
)
def test_a_trial_folder_is_told_by_its_files(files: list[str], is_trial: bool, tmp_path: Path) -> None:
    for name in files:
        put(tmp_path / "x__1" / name, "{}")
    assert keys(tmp_path) == ["x__1"] * is_trial


def test_a_job_is_no_trial_with_or_without_trials(tmp_path: Path) -> None:
    job(tmp_path / "empty")
    put(tmp_path / "old" / "result.json", {"stats": {}})
    trial(tmp_path / "old" / "a__1", run=None)
    assert keys(tmp_path) == ["old/a__1"]


def test_linked_trials_are_found_once_and_loops_end(tmp_path: Path) -> None:
    trial(tmp_path / "store" / "a__1")
    root = tmp_path / "jobs"
    root.mkdir()
    (root / "linked").symlink_to(tmp_path / "store")
    (root / "again").symlink_to(tmp_path / "store" / "a__1")
    (root / "loop").symlink_to(root)
    assert len(keys(root)) == 1


@pytest.mark.parametrize("name", ["missing", "file.json"])
def test_a_root_that_is_no_folder_is_an_input_error(name: str, tmp_path: Path) -> None:
    put(tmp_path / "file.json", "{}")
    with pytest.raises(InputError, match="there is no such folder"):
        keys(tmp_path / name)


def test_a_unit_lists_what_is_read(tmp_path: Path) -> None:
    names = [
        "agent/trajectory.cont-1.json",
        "agent/trajectory.json",
        "agent/trajectory.summarization-1-summary.json",
        "config.json",
        "exception.txt",
        "result.json",
        "steps/one/agent/trajectory.json",
        "steps/one/verifier/ctrf.json",
        "verifier/ctrf.json",
        "verifier/reward.json",
        "verifier/reward.txt",
    ]
    for name in (*names, "agent/gemini-cli.trajectory.json", "verifier/test-stdout.txt", "trial.log"):
        put(tmp_path / "x__1" / name, "{}")
    (unit,) = HARBOR.discover(tmp_path)
    assert sorted(unit.files) == [f"x__1/{name}" for name in names]


@pytest.mark.parametrize(
    ("record", "task", "code"),
    [
        (result(task_name="a__b/c"), "a__b/c", None),
        (
            result(task_name=None, config={"task": {"path": "tasks/sum", "name": None}}),
            "sum",
            "task_from_config",
        ),
        (result(task_name=5, config={}), "sum__aB1", "task_from_directory"),
        ("", "own", "task_from_config"),
        (None, "own", "task_from_config"),
    ],
    ids=["result", "its config", "nothing", "empty result", "no result"],
)
def test_the_task_is_never_parsed_from_the_folder(
    record: Any, task: str, code: str | None, tmp_path: Path
) -> None:
    folder = tmp_path / "sum__aB1"
    trial(folder)
    put(folder / "result.json", "" if record is None else record)
    if record is None:
        (folder / "result.json").unlink()
    if not record:
        put(folder / "config.json", {"task": {"path": "tasks/own"}})
    reading = read_one("harbor", tmp_path)
    assert reading.trial.task == task
    assert (codes(reading) & {"task_from_config", "task_from_directory"}) == ({code} if code else set())


@pytest.mark.parametrize(
    ("rewards", "settings", "outcome"),
    [
        ({"reward": 1.0}, {}, Outcome("passed", 1.0)),
        ({"reward": 1}, {}, Outcome("passed", 1.0)),
        ({"reward": 0.0}, {}, Outcome("failed", 0.0)),
        ({"reward": 0.466666666667}, {}, Outcome("failed", 0.466666666667)),
        ({"reward": 0.466666666667}, {"pass_reward": 0.4}, Outcome("passed", 0.466666666667)),
        ({"score": 1.0}, {}, Outcome("passed", 1.0)),
        ({"score": 1.0, "reward": 0.0}, {}, Outcome("failed", 0.0)),
        ({"score": 1.0, "reward": 0.0}, {"reward_key": "score"}, Outcome("passed", 1.0)),
        (
            {"score": 1.0},
            {"reward_key": "speed"},
            Outcome("unknown", reason="no reward named 'speed' among 1 (score)"),
        ),
        (
            {"a": 1.0, "b": 0.0},
            {},
            Outcome("unknown", reason="no reward named 'reward' among 2 (a, b)"),
        ),
        ({"reward": None}, {}, Outcome("unknown", reason="reward 'reward' is not a finite number")),
        ({"reward": "1"}, {}, Outcome("unknown", reason="reward 'reward' is not a finite number")),
        ({"reward": True}, {}, Outcome("unknown", reason="reward 'reward' is not a finite number")),
        ({"reward": float("nan")}, {}, Outcome("unknown", reason="reward 'reward' is not a finite number")),
        ({}, {}, Outcome("unknown", reason="no reward")),
        (None, {}, Outcome("unknown", reason="no reward")),
    ],
    ids=repr,
)
def test_the_reward_decides(rewards: Any, settings: dict[str, Any], outcome: Outcome, tmp_path: Path) -> None:
    trial(tmp_path / "x__1", result(verifier_result={"rewards": rewards}))
    assert read_one("harbor", tmp_path, **settings).trial.outcome == outcome


@pytest.mark.parametrize(
    ("files", "outcome", "code"),
    [
        ({"reward.txt": "1\n"}, Outcome("passed", 1.0), "reward_from_disk"),
        ({"reward.txt": "0.0000000000"}, Outcome("failed", 0.0), "reward_from_disk"),
        ({"reward.txt": "0", "reward.json": {"reward": 1}}, Outcome("passed", 1.0), "reward_from_disk"),
        ({"reward.txt": "1", "reward.json": "{"}, Outcome("passed", 1.0), "reward_unreadable"),
        ({"reward.txt": ""}, Outcome("unknown", reason="no reward"), "reward_unreadable"),
        ({"reward.txt": "passed"}, Outcome("unknown", reason="no reward"), "reward_unreadable"),
        ({"reward.json": [1]}, Outcome("unknown", reason="no reward"), "reward_unreadable"),
        (
            {"reward.txt": "nan"},
            Outcome("unknown", reason="reward 'reward' is not a finite number"),
            "reward_from_disk",
        ),
    ],
    ids=repr,
)
@pytest.mark.parametrize("has_result", [True, False], ids=["null in result.json", "no result.json"])
def test_a_reward_on_disk_counts_where_the_result_has_none(
    files: dict[str, Any], outcome: Outcome, code: str, has_result: bool, tmp_path: Path
) -> None:
    folder = trial(tmp_path / "x__1", result(verifier_result=None))
    for name, content in files.items():
        put(folder / "verifier" / name, content)
    if not has_result:
        (folder / "result.json").unlink()
    reading = read_one("harbor", tmp_path)
    assert reading.trial.outcome == outcome
    assert code in codes(reading)
    assert ("result_missing" in codes(reading)) != has_result


def test_the_result_wins_over_the_files_on_disk(tmp_path: Path) -> None:
    folder = trial(tmp_path / "x__1")
    put(folder / "verifier" / "reward.txt", "0")
    reading = read_one("harbor", tmp_path)
    assert reading.trial.outcome == Outcome("passed", 1.0)
    assert codes(reading) == set()


TRACEBACK = "Traceback (most recent call last):\n  raise X\nharbor.trial.trial.AgentTimeoutError: After 5 s\n"


@pytest.mark.parametrize(
    ("fields", "text", "exception"),
    [
        ({"exception_info": {"exception_type": "AgentTimeoutError"}}, "OtherError: x", "AgentTimeoutError"),
        (
            {"step_results": [{"exception_info": None}, {"exception_info": {"exception_type": "StepError"}}]},
            None,
            "StepError",
        ),
        ({}, TRACEBACK, "AgentTimeoutError"),
        ({}, "ValueError: first line\nsecond line of the message", "ValueError"),
        ({}, "KeyboardInterrupt", "KeyboardInterrupt"),
        ({}, "\n", "unnamed exception"),
        ({"exception_info": {}}, None, "unnamed exception"),
        ({"exception_info": "odd"}, None, "unnamed exception"),
        ({}, None, None),
    ],
)
@pytest.mark.parametrize("reward", [1.0, 0.0])
def test_an_exception_is_kept_beside_the_reward(
    fields: dict[str, Any], text: str | None, exception: str | None, reward: float, tmp_path: Path
) -> None:
    folder = trial(tmp_path / "x__1", result(verifier_result={"rewards": {"reward": reward}}, **fields))
    if text is not None:
        put(folder / "exception.txt", text)
    outcome = read_one("harbor", tmp_path).trial.outcome
    assert outcome == Outcome("passed" if reward else "failed", reward, exception=exception)


@pytest.mark.parametrize(
    ("run", "exception", "status", "reason"),
    [
        (None, None, "no_trajectory", "there is no trajectory file"),
        (None, "AgentTimeoutError", "no_trajectory", "there is no trajectory file (AgentTimeoutError)"),
        ("", None, "unreadable", "the file is empty"),
        ('{"steps": [{', "Killed", "unreadable", "not JSON: "),
        ([{"episode": 1}], None, "unreadable", "not an ATIF trajectory: its top level is a list"),
        (atif(), None, "no_trajectory", "the trajectory has no steps"),
    ],
)
def test_a_trial_without_trajectory_keeps_its_outcome(
    run: Any, exception: str | None, status: str, reason: str, tmp_path: Path
) -> None:
    info = {"exception_type": exception} if exception else None
    trial(tmp_path / "x__1", result(exception_info=info), run)
    reading = read_one("harbor", tmp_path)
    assert reading.trajectory is None
    assert reading.trial.status == status
    assert (reading.trial.reason or "").startswith(reason)
    assert reading.trial.outcome == Outcome("passed", 1.0, exception=exception)


def test_no_reward_names_the_exception(tmp_path: Path) -> None:
    info = {"exception_type": "VerifierTimeoutError"}
    trial(tmp_path / "x__1", result(verifier_result=None, exception_info=info))
    outcome = read_one("harbor", tmp_path).trial.outcome
    assert outcome == Outcome(
        "unknown", reason="no reward (VerifierTimeoutError)", exception="VerifierTimeoutError"
    )


def test_a_killed_trial_is_counted(tmp_path: Path) -> None:
    put(
        tmp_path / "x__1" / "config.json",
        {"task": {"name": "sum"}, "agent": {"name": "a", "model_name": "m"}},
    )
    put(tmp_path / "x__1" / "trial.log", "started")
    found = read_one("harbor", tmp_path).trial
    assert (found.task, found.attempt, found.status) == ("sum", "x__1", "no_trajectory")
    assert (found.scaffold, found.backbone) == ("a", "m")
    assert found.outcome.status == "unknown"


@pytest.mark.parametrize("record", ["", "{", "[]", "null", '{"config": 5, "verifier_result": [1]}'])
def test_a_broken_result_does_not_lose_the_trajectory(record: str, tmp_path: Path) -> None:
    trial(tmp_path / "x__1", record)
    reading = read_one("harbor", tmp_path)
    assert reading.trial.status == "ok"
    assert reading.trial.outcome == Outcome("unknown", reason="no reward")
    assert codes(reading) & {"result_unreadable", "wrong_type"}


def test_every_attempt_is_a_trial_of_its_own(tmp_path: Path) -> None:
    for name in ("sum__a", "sum__b", "sum__c"):
        trial(tmp_path / "job" / name, result(trial_name=name))
    readings = list(read_all("harbor", tmp_path))
    assert {reading.trial.task for reading in readings} == {"org/sum"}
    assert [reading.trial.attempt for reading in readings] == ["sum__a", "sum__b", "sum__c"]
    assert len({reading.trial.id for reading in readings}) == 3


def test_the_steps_of_a_multi_step_task_are_joined_in_their_order(tmp_path: Path) -> None:
    record = result(step_results=[{"step_name": "later-name-first"}, {"step_name": "again"}])
    folder = trial(tmp_path / "x__1", record, run=None)
    for name, text in (("again", "C"), ("later-name-first", "A"), ("unknown", "E")):
        put(folder / "steps" / name / "agent" / "trajectory.json", atif(asked(text), said(f"{text}!")))
    trajectory = read_one("harbor", tmp_path).trajectory
    assert trajectory is not None
    assert [(step.number, step.message) for step in trajectory.steps] == [
        (1, "A"),
        (2, "A!"),
        (3, "C"),
        (4, "C!"),
        (5, "E"),
        (6, "E!"),
    ]


def test_one_broken_step_does_not_lose_the_others(tmp_path: Path) -> None:
    folder = trial(tmp_path / "x__1", run=None)
    put(folder / "steps" / "a" / "agent" / "trajectory.json", "")
    put(folder / "steps" / "b" / "agent" / "trajectory.json", RUN)
    reading = read_one("harbor", tmp_path)
    assert reading.trial.status == "ok"
    assert "trajectory_unreadable" in codes(reading)


def test_segments_and_sub_agents_of_a_trial_are_joined(tmp_path: Path) -> None:
    reference = {"session_id": "s", "trajectory_path": "trajectory.summarization-1-summary.json"}
    handoff = {"source": "system", "message": "Handoff.", "observation": {"results": []}}
    handoff["observation"] = {"results": [{"subagent_trajectory_ref": [reference]}]}
    folder = trial(
        tmp_path / "x__1", run=atif(asked(), handoff, continued_trajectory_ref="trajectory.cont-1.json")
    )
    put(folder / "agent" / "trajectory.cont-1.json", atif(said("Go on.")))
    put(folder / "agent" / "trajectory.summarization-1-summary.json", atif(said("Short.")))
    reading = read_one("harbor", tmp_path)
    assert reading.trajectory is not None
    assert [step.number for step in reading.trajectory.steps] == [1, 2, 3]
    assert [subagent.parent_step for subagent in reading.trajectory.subagents] == [2]
    assert codes(reading) == set()


def test_continuations_without_a_head_start_with_the_lowest(tmp_path: Path) -> None:
    folder = trial(tmp_path / "x__1", run=None)
    put(folder / "agent" / "trajectory.cont-10.json", atif(said("Ten.")))
    put(
        folder / "agent" / "trajectory.cont-2.json",
        atif(said("Two."), continued_trajectory_ref="trajectory.cont-10.json"),
    )
    reading = read_one("harbor", tmp_path)
    assert reading.trajectory is not None
    assert [step.message for step in reading.trajectory.steps] == ["Two.", "Ten."]
    assert codes(reading) == {"segment_unreferenced"}


def test_a_continuation_that_no_segment_names_is_noted(tmp_path: Path) -> None:
    folder = trial(tmp_path / "x__1")
    put(folder / "agent" / "trajectory.cont-1.json", atif(said("Lost.")))
    reading = read_one("harbor", tmp_path)
    assert reading.trajectory is not None
    assert [step.message for step in reading.trajectory.steps] == ["Do it.", "Done."]
    assert codes(reading) == {"segment_unreferenced"}


@pytest.mark.parametrize(
    ("record", "run", "code"),
    [
        (result(config={"agent": {"model_name": "big"}}), RUN, "model_mismatch"),
        (result(config={"agent": {"model_name": "other/M"}}), RUN, None),
        (result(agent_result={"n_output_tokens": 40_000}), RUN, "trajectory_too_short"),
        (result(agent_result={"n_output_tokens": 20}), RUN, None),
        (
            result(agent_result={"n_output_tokens": 40_000}),
            atif(asked(), *[said("x")] * 3, agent={"name": "a"}),
            None,
        ),
        (result(config={}, agent_info={"model_info": {"name": 5}}), RUN, "wrong_type"),
        (result(config={"agent": {}}, agent_info={"model_info": {"name": "m"}}), RUN, None),
    ],
    ids=["model", "same model", "stub", "short run", "long run", "wrong type", "model_info"],
)
def test_files_that_do_not_agree_are_noted(
    record: dict[str, Any], run: dict[str, Any], code: str | None, tmp_path: Path
) -> None:
    trial(tmp_path / "x__1", record, run)
    reading = read_one("harbor", tmp_path)
    assert reading.trial.status == "ok"
    assert codes(reading) == ({code} if code else set())


def test_trials_are_found_without_reading_them(tmp_path: Path) -> None:
    for number in range(50):
        trial(tmp_path / "job" / f"task__{number}", record="not json at all", run="neither")
    assert len(keys(tmp_path)) == 50
