"""Whatever a file holds, reading it neither raises nor loses it, and what comes out can be written."""

import json
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from format_samples import atif, put, read_all
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.files import encode

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def maybe(*likely: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(likely) | anything


names = maybe("a.json", "b.json", "../c.json", "/logs/a.json", "")
references = st.fixed_dictionaries(
    {}, optional={"trajectory_path": names, "trajectory_id": maybe("x", "y"), "session_id": anything}
)
results = st.fixed_dictionaries(
    {},
    optional={
        "source_call_id": maybe("c1", "c2", None),
        "content": maybe("out", "Your thought has been logged.", [{"type": "text", "text": "x"}]),
        "subagent_trajectory_ref": st.lists(references | anything, max_size=2) | anything,
    },
)
calls = st.fixed_dictionaries(
    {},
    optional={
        "tool_call_id": maybe("c1", "c2", ""),
        "function_name": maybe("think", "terminal", "finish"),
        "arguments": maybe({"thought": "Hm."}, {"command": "ls"}, {}),
    },
)
steps = st.fixed_dictionaries(
    {},
    optional={
        "step_id": maybe(1, 2, 3),
        "source": maybe("agent", "user", "system"),
        "message": maybe("", "Hi.", "Executed terminal c1", "Analysis: a\nPlan: b"),
        "reasoning_content": maybe("Hm.", "None", ""),
        "tool_calls": st.lists(calls | anything, max_size=3) | anything,
        "observation": st.fixed_dictionaries({"results": st.lists(results | anything, max_size=3)})
        | anything,
        "is_copied_context": maybe(True, False),
        "timestamp": maybe("2026-01-01T00:00:00"),
        "extra": maybe({"is_sidechain": True, "agent_id": "s"}),
    },
)
documents = st.fixed_dictionaries(
    {"steps": st.lists(steps | anything, max_size=4)},
    optional={
        "schema_version": maybe("ATIF-v1.5", "ATIF-v1.8"),
        "agent": maybe({"name": "openhands"}, {"name": "terminus-2"}, {"name": "swe-agent"}),
        "continued_trajectory_ref": names,
        "final_metrics": maybe({"total_steps": 1}),
        "subagent_trajectories": st.lists(
            st.fixed_dictionaries({"steps": st.lists(steps, max_size=2)}, optional={"trajectory_id": names})
            | anything,
            max_size=2,
        ),
    },
)


def check(root: Path, written: set[str]) -> None:
    readings = list(read_all("atif", root))
    for reading in readings:
        encode(reading)
        assert (reading.trial.status == "ok") == (reading.trajectory is not None)
        for run in (reading.trajectory, *(reading.trajectory.subagents if reading.trajectory else ())):
            if run is not None:
                assert all(before.number < after.number for before, after in pairwise(run.steps))
    assert written <= {source.path for reading in readings for source in reading.trial.sources}


@settings(max_examples=200, deadline=None)
@given(documents | anything, documents | anything)
def test_any_two_json_files_are_read(first: Any, second: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        put(Path(folder, "a.json"), json.dumps(first))
        put(Path(folder, "b.json"), json.dumps(second))
        check(Path(folder), {"a.json", "b.json"})


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_any_damage_to_a_file_is_read(data: st.DataObject) -> None:
    step = {"step_id": 1, "source": "agent", "message": "a\ud83d\0", "observation": {"results": [{}]}}
    whole = bytearray(json.dumps(atif(step)).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(whole)))
    with tempfile.TemporaryDirectory() as folder:
        put(Path(folder, "a.json"), bytes(whole[:cut]))
        check(Path(folder), {"a.json"})


results_of_harbor = st.fixed_dictionaries(
    {},
    optional={
        "task_name": maybe("sum"),
        "trial_name": maybe("sum__1"),
        "config": st.fixed_dictionaries({}, optional={"task": anything, "agent": anything}) | anything,
        "agent_info": st.fixed_dictionaries({}, optional={"name": anything, "model_info": anything})
        | anything,
        "agent_result": st.fixed_dictionaries({}, optional={"n_output_tokens": anything}) | anything,
        "verifier_result": st.fixed_dictionaries({"rewards": maybe({"reward": 1.0}, {})}) | anything,
        "exception_info": st.fixed_dictionaries({"exception_type": anything}) | anything,
        "step_results": st.lists(st.fixed_dictionaries({"exception_info": anything}) | anything, max_size=2),
    },
)


@settings(max_examples=150, deadline=None)
@given(results_of_harbor | anything, anything, documents | anything)
def test_any_harbor_trial_is_read(result: Any, reward: Any, run: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        trial = Path(folder, "sum__1")
        put(trial / "result.json", json.dumps(result))
        put(trial / "verifier" / "reward.json", json.dumps(reward))
        put(trial / "agent" / "trajectory.json", json.dumps(run))
        (reading,) = read_all("harbor", Path(folder))
        encode(reading)
        outcome = reading.trial.outcome
        assert (outcome.status == "unknown") == (outcome.reward is None) == (outcome.reason is not None)


messages = st.fixed_dictionaries(
    {},
    optional={
        "role": maybe("assistant", "user", "tool", "system"),
        "content": maybe("THOUGHT: Hm.\n```bash\nls\n```", "x", [{"type": "text", "text": "x"}]),
        "tool_calls": st.lists(
            st.fixed_dictionaries({}, optional={"id": anything, "function": anything}) | anything, max_size=2
        ),
        "tool_call_id": anything,
        "reasoning_content": anything,
    },
)


@settings(max_examples=150, deadline=None)
@given(
    st.fixed_dictionaries(
        {"messages": st.lists(messages | anything, max_size=5)},
        optional={"info": anything, "instance_id": maybe("x__x-1")},
    )
    | anything,
    st.fixed_dictionaries({}, optional={"resolved": anything, "instances": anything, "x__x-1": anything})
    | anything,
)
def test_any_mini_swe_agent_run_is_read(run: Any, report: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        put(Path(folder, "x__x-1.traj.json"), json.dumps(run))
        put(Path(folder, "logs", "x__x-1", "report.json"), json.dumps(report))
        (reading,) = read_all("mini-swe-agent", Path(folder))
        encode(reading)
        steps = reading.trajectory.steps if reading.trajectory else ()
        assert all(before.number < after.number for before, after in pairwise(steps))


results_of_tau_bench = st.fixed_dictionaries(
    {},
    optional={
        "task_id": maybe(0, 1, "x"),
        "trial": maybe(0, 1),
        "reward": maybe(0.0, 1.0),
        "info": st.fixed_dictionaries({}, optional={"task": anything, "error": maybe("E: x")}) | anything,
        "traj": st.lists(messages | anything, max_size=5) | anything,
    },
)


@settings(max_examples=150, deadline=None)
@given(st.lists(results_of_tau_bench | anything, max_size=4) | anything)
def test_any_tau_bench_results_are_read(results: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        put(Path(folder, "runs.json"), json.dumps(results))
        readings = list(read_all("tau-bench", Path(folder)))
        encode(readings)
        assert len(readings) == (len(results) if isinstance(results, list) else 1)
        assert len({reading.trial.id for reading in readings}) == len(readings)
        for reading in readings:
            steps = reading.trajectory.steps if reading.trajectory else ()
            assert [step.number for step in steps] == list(range(1, len(steps) + 1))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60))
def test_any_rows_of_a_table_are_read(rows: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        put(Path(folder, "a.csv"), b"id,passed,f\n" + rows)
        readings = list(read_all("table", Path(folder), feature_columns=("f",)))
        encode(readings)
        assert len({reading.trial.id for reading in readings}) == len(readings)


@pytest.mark.parametrize("depth", [50, 500, 5000])
def test_deep_nesting_is_read_and_can_be_written(depth: int, tmp_path: Path) -> None:
    deep = '{"a":' * depth + "1" + "}" * depth
    text = '{"schema_version": "ATIF-v1.5", "steps": [{"step_id": 1, "source": "agent", "message": "x", '
    call = '"tool_calls": [{"tool_call_id": "c", "function_name": "run", "arguments": ' + deep + "}]}]}"
    put(tmp_path / "a.json", text + call)
    check(tmp_path, {"a.json"})


def test_a_huge_file_is_read(tmp_path: Path) -> None:
    path = put(tmp_path / "a.json", atif({"source": "user", "message": "x" * 100_000_000}))
    (reading,) = read_all("atif", tmp_path)
    path.unlink()
    assert reading.trajectory is not None
    assert len(reading.trajectory.steps[0].message) == 100_000_000
