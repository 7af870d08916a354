from pathlib import Path
from typing import Any

import pytest
from format_samples import asked, atif, call, codes, got, put, read_all, read_one, said

from coherence.errors import InputError
from coherence.formats import load
from coherence.formats.atif_document import VERSIONS
from coherence.records import Outcome

ATIF = load("atif")


def keys(root: Path) -> dict[str, tuple[str, ...]]:
    return {unit.key: unit.files for unit in ATIF.discover(root)}


def referring(*references: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return said("", observation={"results": [{"subagent_trajectory_ref": list(references)}]}, **fields)


def test_a_run_is_a_trial_with_an_unknown_outcome(tmp_path: Path) -> None:
    agent = {"name": "some-agent", "model_name": "m/large"}
    put(
        tmp_path / "job" / "sum__aB1" / "agent" / "trajectory.json", atif(asked(), said("Done."), agent=agent)
    )
    trial = read_one("atif", tmp_path).trial
    assert (trial.task, trial.attempt) == ("sum__aB1", "job/sum__aB1/agent/trajectory.json")
    assert trial.id.startswith("sum__aB1-")
    assert (trial.scaffold, trial.backbone) == ("some-agent", "m/large")
    assert trial.outcome == Outcome("unknown", reason="no outcome in this format")
    assert trial.status == "ok"


@pytest.mark.parametrize("version", [*sorted(VERSIONS), "ATIF-v1.9", "2", None, 5])
def test_every_version_is_read(version: Any, tmp_path: Path) -> None:
    put(tmp_path / "a.json", atif(asked(), said("Done."), schema_version=version))
    reading = read_one("atif", tmp_path)
    assert reading.trajectory is not None
    assert len(reading.trajectory.steps) == 2
    assert bool(codes(reading) & {"schema_version_missing", "schema_version_unknown"}) == (
        version not in VERSIONS
    )


def test_the_config_decides_over_the_file(tmp_path: Path) -> None:
    put(tmp_path / "a.json", atif(asked(), agent={"name": "a", "model_name": "m"}))
    trial = read_one("atif", tmp_path, backbone="B", scaffold="S").trial
    assert (trial.backbone, trial.scaffold) == ("B", "S")


@pytest.mark.parametrize(
    ("agent", "step", "model"),
    [
        ({"name": "openhands-sdk", "version": "unknown"}, {"model_name": "m"}, "m"),
        ({"name": "swe-agent", "model_name": "unknown"}, {"model_name": "unknown"}, None),
        ({"name": "x", "model_name": 5}, {}, None),
    ],
)
def test_the_model_is_taken_from_agent_or_step(
    agent: dict[str, Any], step: dict[str, Any], model: str | None, tmp_path: Path
) -> None:
    put(tmp_path / "a.json", atif(asked(), said("x", **step), agent=agent))
    assert read_one("atif", tmp_path).trial.backbone == model


@pytest.mark.parametrize(
    ("content", "status", "reason"),
    [
        ("", "unreadable", "the file is empty"),
        ('{"steps": [', "unreadable", "not JSON"),
        ([{"episode": 1, "prompt": "p", "response": "r"}], "unreadable", "its top level is a list"),
        ("null", "unreadable", "its top level is a null"),
        ({"messages": []}, "unreadable", "it has no list of steps"),
        ({"schema_version": "ATIF-v1.5", "steps": {"1": {}}}, "unreadable", "it has no list of steps"),
        ({"steps": [{"action": "ls"}]}, "unreadable", "it names no schema version"),
        (atif(), "no_trajectory", "the trajectory has no steps"),
        (atif(asked(is_copied_context=True)), "no_trajectory", "the trajectory has no steps"),
        ({"steps": [{"source": "user", "message": "x"}]}, "ok", None),
    ],
)
def test_a_file_that_is_no_trajectory_stays_visible(
    content: Any, status: str, reason: str | None, tmp_path: Path
) -> None:
    put(tmp_path / "a.json", content)
    reading = read_one("atif", tmp_path)
    assert reading.trial.status == status
    assert (reading.trajectory is None) == (status != "ok")
    assert (reason is None) == (reading.trial.reason is None)
    assert (reason or "") in (reading.trial.reason or "")
    assert [source.path for source in reading.trial.sources] == ["a.json"]


def test_ids_do_not_come_from_the_session(tmp_path: Path) -> None:
    for name in ("one", "two", "other/one"):
        put(tmp_path / f"{name}.json", atif(asked(), session_id="agent-session"))
    ids = {reading.trial.id for reading in read_all("atif", tmp_path)}
    assert len(ids) == 3


def test_candidates_leave_harbors_other_files_aside(tmp_path: Path) -> None:
    trial = tmp_path / "sum__aB1"
    for name in (
        "result.json",
        "config.json",
        "lock.json",
        "verifier/ctrf.json",
        "verifier/original-repo-ctrf.json",
        "verifier/reward.json",
        "agent/mini-swe-agent.trajectory.json",
        "agent/agent_error.json",
        "agent/.trajectory.json.tmp",
        ".hidden/a.json",
        "notes.txt",
    ):
        put(trial / name, {})
    put(trial / "agent" / "trajectory.json", atif(asked()))
    put(trial / "more.JSON", atif(asked()))
    assert list(keys(tmp_path)) == ["sum__aB1/agent/trajectory.json", "sum__aB1/more.JSON"]


def test_units_are_sorted_by_key(tmp_path: Path) -> None:
    names = ["b.json", "a/z.json", "a-b/y.json", "a.json", "a b.json"]
    for name in names:
        put(tmp_path / name, atif(asked()))
    assert list(keys(tmp_path)) == sorted(names)


def test_a_single_file_brings_its_segments(tmp_path: Path) -> None:
    put(tmp_path / "run.json", atif(asked(), continued_trajectory_ref="run.cont-1.json"))
    put(tmp_path / "run.cont-1.json", atif(said("Done.")))
    put(tmp_path / "other.json", atif(asked()))
    assert keys(tmp_path / "run.json") == {"run.json": ("run.json", "run.cont-1.json")}
    trajectory = read_one("atif", tmp_path / "run.json").trajectory
    assert trajectory is not None
    assert [step.number for step in trajectory.steps] == [1, 2]


def test_a_missing_root_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file or folder"):
        list(ATIF.discover(tmp_path / "missing"))


def test_segments_are_joined_and_copied_context_is_left_out(tmp_path: Path) -> None:
    put(tmp_path / "t.json", atif(asked("A"), said("B"), continued_trajectory_ref="t.cont-1.json"))
    second = atif(asked("A", is_copied_context=True), said("C"), continued_trajectory_ref="t.cont-2.json")
    put(tmp_path / "t.cont-1.json", second)
    put(tmp_path / "t.cont-2.json", atif(said("D")))
    reading = read_one("atif", tmp_path)
    assert reading.trajectory is not None
    assert [(step.number, step.message) for step in reading.trajectory.steps] == [
        (1, "A"),
        (2, "B"),
        (4, "C"),
        (5, "D"),
    ]
    assert codes(reading) == {"copied_context"}
    assert [source.path for source in reading.trial.sources] == ["t.json", "t.cont-1.json", "t.cont-2.json"]


@pytest.mark.parametrize(
    ("reference", "code"),
    [
        ("gone.json", "segment_missing"),
        ("../outside.json", "segment_missing"),
        ("a.json", "segment_cycle"),
        ("broken.json", "segment_unreadable"),
        (["a.json"], "wrong_type"),
        ("nul\0.json", "segment_missing"),
    ],
)
def test_a_continuation_that_leads_nowhere_is_noted(reference: Any, code: str, tmp_path: Path) -> None:
    put(tmp_path / "outside.json", atif(said("Secret.")))
    put(tmp_path / "runs" / "broken.json", "{")
    put(tmp_path / "runs" / "a.json", atif(asked("A"), continued_trajectory_ref=reference))
    reading = next(read_all("atif", tmp_path / "runs"))
    assert reading.trajectory is not None
    assert [step.message for step in reading.trajectory.steps] == ["A"]
    assert code in codes(reading)


def test_files_that_only_point_to_each_other_are_one_unit(tmp_path: Path) -> None:
    put(tmp_path / "a.json", atif(asked("A"), continued_trajectory_ref="b.json"))
    put(tmp_path / "b.json", atif(asked("B"), continued_trajectory_ref="a.json"))
    reading = read_one("atif", tmp_path)
    assert reading.trial.key == "a.json"
    assert reading.trajectory is not None
    assert [step.message for step in reading.trajectory.steps] == ["A", "B"]
    assert codes(reading) == {"segment_cycle"}


def test_a_continuation_without_its_head_is_read_by_itself(tmp_path: Path) -> None:
    put(tmp_path / "t.cont-1.json", atif(said("C")))
    reading = read_one("atif", tmp_path)
    assert reading.trial.status == "ok"
    assert codes(reading) == {"segment_unreferenced"}


@pytest.mark.parametrize(
    "reference",
    [
        {"session_id": "s", "trajectory_path": "t.summary.json"},
        {"trajectory_id": "not-embedded", "trajectory_path": "t.summary.json"},
        {"trajectory_path": "/logs/agent/t.summary.json"},
        {"trajectory_path": "./deep/../t.summary.json"},
    ],
)
def test_a_referenced_file_is_a_sub_agent(reference: dict[str, Any], tmp_path: Path) -> None:
    put(tmp_path / "t.json", atif(asked(), referring(reference)))
    put(
        tmp_path / "t.summary.json",
        atif(asked("Old.", is_copied_context=True), said("Short."), agent={"name": "summariser"}),
    )
    reading = read_one("atif", tmp_path)
    assert reading.trajectory is not None
    (subagent,) = reading.trajectory.subagents
    assert (subagent.name, subagent.parent_step) == ("summariser", 2)
    assert [step.message for step in subagent.steps] == ["Short."]
    assert [step.number for step in reading.trajectory.steps] == [1, 2]


def test_embedded_sub_agents_are_resolved_at_any_depth(tmp_path: Path) -> None:
    inner = atif(said("Inner."), agent={"name": "inner"}, trajectory_id="i")
    outer = atif(
        said("Outer."),
        referring({"trajectory_id": "i"}),
        agent={"name": "outer"},
        trajectory_id="o",
        subagent_trajectories=[inner],
    )
    unmentioned = atif(said("Alone."), agent={"name": "alone"})
    put(
        tmp_path / "t.json",
        atif(
            asked(),
            referring({"trajectory_id": "o"}),
            referring({"trajectory_id": "o"}),
            subagent_trajectories=[outer, unmentioned],
        ),
    )
    reading = read_one("atif", tmp_path)
    assert reading.trajectory is not None
    found = [(s.name, s.parent_step, s.steps[0].message) for s in reading.trajectory.subagents]
    assert found == [("outer", 2, "Outer."), ("outer/inner", 2, "Inner."), ("alone", None, "Alone.")]


@pytest.mark.parametrize(
    ("reference", "code"),
    [
        ({"trajectory_path": "gone.json"}, "subagent_missing"),
        ({"trajectory_path": "../outside.json"}, "subagent_missing"),
        ({"trajectory_path": "https://example.org/t.json"}, "subagent_missing"),
        ({"session_id": "bare"}, "subagent_missing"),
        ({"trajectory_id": "unknown"}, "subagent_missing"),
        ({"trajectory_path": "t.json"}, "subagent_cycle"),
        ({"trajectory_path": "broken.json"}, "subagent_unreadable"),
        ({"trajectory_id": "broken"}, "subagent_unreadable"),
        ("t", "wrong_type"),
    ],
)
def test_a_sub_agent_that_cannot_be_found_is_noted(reference: Any, code: str, tmp_path: Path) -> None:
    put(tmp_path / "outside.json", atif(said("Secret.")))
    put(tmp_path / "runs" / "broken.json", "{")
    broken = {"trajectory_id": "broken", "steps": 5}
    put(
        tmp_path / "runs" / "t.json",
        atif(asked(), referring(reference), subagent_trajectories=[broken]),
    )
    reading = list(read_all("atif", tmp_path / "runs"))[-1]
    assert reading.trajectory is not None
    assert reading.trajectory.subagents == ()
    assert code in codes(reading)


def test_a_reference_on_a_copied_step_belongs_to_no_step(tmp_path: Path) -> None:
    put(
        tmp_path / "t.json", atif(referring({"trajectory_path": "s.json"}, is_copied_context=True), said("x"))
    )
    put(tmp_path / "s.json", atif(said("Sub.")))
    trajectory = read_one("atif", tmp_path).trajectory
    assert trajectory is not None
    assert [subagent.parent_step for subagent in trajectory.subagents] == [None]


def test_sub_agents_nested_without_end_are_cut(tmp_path: Path) -> None:
    document = atif(said("x"))
    for _ in range(200):
        document = atif(said("x"), subagent_trajectories=[document])
    put(tmp_path / "t.json", document)
    reading = read_one("atif", tmp_path)
    assert reading.trajectory is not None
    assert len(reading.trajectory.subagents) < 50
    assert "subagent_unreadable" in codes(reading)


def test_files_that_name_each_other_as_sub_agents_end(tmp_path: Path) -> None:
    put(tmp_path / "a.json", atif(referring({"trajectory_path": "b.json"})))
    put(tmp_path / "b.json", atif(referring({"trajectory_path": "a.json"})))
    assert codes(read_one("atif", tmp_path)) == {"subagent_cycle"}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"final_metrics": {"total_steps": 7}}, "total_steps_mismatch"),
        ({"final_metrics": {"total_steps": 2, "condensations": [1], "total_tokens": 5}}, None),
        ({"final_metrics": [1]}, "wrong_type"),
        ({"extra": {"partial_trajectory": {"reason": "timeout", "events": 3}}}, "partial_trajectory"),
        ({"agent": None}, "agent_unnamed"),
        ({"agent": "x"}, "agent_unnamed"),
        ({"agent": {"name": "x", "tool_definitions": None}, "notes": 5, "surprise": {}}, None),
        ({"subagent_trajectories": "x"}, "wrong_type"),
    ],
)
def test_what_is_odd_about_a_document_is_noted(
    fields: dict[str, Any], code: str | None, tmp_path: Path
) -> None:
    put(tmp_path / "t.json", atif(asked(), said("x"), **fields))
    reading = read_one("atif", tmp_path)
    assert reading.trial.status == "ok"
    assert codes(reading) == ({code} if code else set())


def test_parallel_calls_that_lost_their_results_stay_visible(tmp_path: Path) -> None:
    put(
        tmp_path / "t.json",
        atif(
            asked(),
            said(tool_calls=[call("a", command="one")]),
            said(tool_calls=[call("b", "think", thought="Hm.")]),
            said(tool_calls=[call("c", command="three")], observation=got(("c", "THREE"))),
        ),
    )
    reading = read_one("atif", tmp_path)
    assert reading.trajectory is not None
    steps = reading.trajectory.steps
    assert [[result.text for result in step.observations] for step in steps] == [[], [], [], ["THREE"]]
    assert [thought.text for thought in steps[2].thoughts] == ["Hm."]
    assert [(d.code, d.detail) for d in reading.deviations] == [("call_without_observation", "step 2")]


def test_a_dead_link_is_unreadable_and_not_watched(tmp_path: Path) -> None:
    (tmp_path / "a.json").symlink_to(tmp_path / "annexed")
    assert keys(tmp_path) == {"a.json": ()}
    reading = read_one("atif", tmp_path)
    assert (reading.trial.status, reading.trial.sources) == ("unreadable", ())


def test_a_long_run_with_numeric_lists_is_read(tmp_path: Path) -> None:
    step = said("x", metrics={"prompt_token_ids": list(range(5000)), "logprobs": [-0.1] * 5000})
    put(tmp_path / "t.json", atif(asked(), *[step] * 50))
    trajectory = read_one("atif", tmp_path).trajectory
    assert trajectory is not None
    assert len(trajectory.steps) == 51
