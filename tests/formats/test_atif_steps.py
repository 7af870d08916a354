from typing import Any

import pytest
from format_samples import asked, call, got, said

from coherence.formats.atif_steps import Segment, SegmentReader, read_calls
from coherence.formats.deviations import Deviations
from coherence.records import Call


def read(*steps: Any, after: int = 0, agent: str = "some-agent") -> tuple[Segment, set[str]]:
    notes = Deviations("a.json")
    segment = SegmentReader(agent, after, notes).read(list(steps))
    return segment, {record.code for record in notes.records()}


@pytest.mark.parametrize(
    ("ids", "after", "numbers", "codes"),
    [
        ([1, 2, 3], 0, [1, 2, 3], set()),
        ([1, 2, 5], 0, [1, 2, 5], set()),
        ([1, 2], 7, [8, 9], set()),
        ([8, 9], 7, [8, 9], set()),
        ([5, 6], 7, [12, 13], set()),
        ([1, 1, 2], 0, [1, 2, 3], {"step_ids_renumbered"}),
        ([3, 1, 2], 0, [1, 2, 3], {"step_ids_renumbered"}),
        ([0, 1], 0, [1, 2], {"step_ids_renumbered"}),
        ([None, 2], 4, [5, 6], {"step_ids_renumbered"}),
        (["1", "2"], 0, [1, 2], {"step_ids_renumbered"}),
        ([True, 2], 0, [1, 2], {"step_ids_renumbered"}),
        ([1.0, 2.0], 0, [1, 2], {"step_ids_renumbered"}),
        ([1, 10**30], 0, [1, 2], {"step_ids_renumbered"}),
        ([], 3, [], set()),
    ],
)
def test_steps_are_numbered_by_their_ids(
    ids: list[Any], after: int, numbers: list[int], codes: set[str]
) -> None:
    segment, noted = read(*(asked(step_id=number) for number in ids), after=after)
    assert [step.number for step in segment.steps] == numbers
    assert noted == codes
    assert segment.last == (numbers[-1] if numbers else after)


def test_copied_context_is_left_out_but_keeps_its_numbers() -> None:
    segment, codes = read(
        asked(step_id=1, is_copied_context=True), said("New.", step_id=2, is_copied_context=False)
    )
    assert [(step.number, step.message) for step in segment.steps] == [(2, "New.")]
    assert codes == {"copied_context"}


def test_a_sub_agents_interleaved_steps_are_kept_apart() -> None:
    side = {"is_sidechain": True, "agent_id": "explorer"}
    segment, codes = read(
        asked(step_id=1, extra={"is_sidechain": False}),
        said("Delegate.", step_id=2),
        said("Explore.", step_id=3, extra=side),
        said("Go on.", step_id=4),
        said("Found.", step_id=5, extra=side),
    )
    assert [step.number for step in segment.steps] == [1, 2, 4]
    (chain,) = segment.sidechains
    assert (chain.name, chain.parent_step, [step.number for step in chain.steps]) == ("explorer", 2, [3, 5])
    assert codes == {"sidechain"}


def test_a_file_that_is_all_side_chain_is_a_run_of_its_own() -> None:
    segment, _ = read(asked(step_id=1), said("Explore.", step_id=2, extra={"is_sidechain": True}))
    assert [step.number for step in segment.steps] == [1, 2]


@pytest.mark.parametrize(
    ("second", "thoughts"),
    [
        ({"timestamp": "10:00"}, 1),
        ({"timestamp": "10:07"}, 2),
        ({"timestamp": "10:00", "reasoning_content": "Another."}, 2),
    ],
    ids=["same turn", "later turn", "other text"],
)
def test_reasoning_repeated_within_a_turn_counts_once(second: dict[str, Any], thoughts: int) -> None:
    first = said("I look.", step_id=1, reasoning_content="Hm.", timestamp="10:00")
    again = said("", step_id=2, tool_calls=[call()], **{"reasoning_content": "Hm.", **second})
    segment, _ = read(first, again)
    assert sum(len(step.thoughts) for step in segment.steps) == thoughts


def test_reasoning_after_a_user_step_is_not_a_repetition() -> None:
    thinking = said("", reasoning_content="Hm.")
    segment, _ = read({**thinking, "step_id": 1}, asked(step_id=2), {**thinking, "step_id": 3})
    assert [len(step.thoughts) for step in segment.steps] == [1, 0, 1]


@pytest.mark.parametrize(
    ("step", "source", "codes"),
    [
        ({"source": "system"}, "system", set()),
        ({"source": "assistant", "message": "Hi."}, "agent", {"step_source_unknown"}),
        ({"source": "human"}, "user", {"step_source_unknown"}),
        ({"source": "environment"}, "system", {"step_source_unknown"}),
        ({"source": ["agent"]}, "system", {"step_source_unknown"}),
        ({}, "system", {"step_source_unknown"}),
        ({"source": "user", "reasoning_content": "Hm."}, "user", {"agent_field_elsewhere"}),
        ({"source": "agent", "message": {"a": 1}}, "agent", {"wrong_type"}),
        ({"source": "agent", "timestamp": 5}, "agent", {"wrong_type"}),
        ({"source": "agent", "tool_calls": "x"}, "agent", {"wrong_type"}),
        ({"source": "agent", "observation": "x"}, "agent", {"wrong_type"}),
        ({"source": "agent", "observation": {"results": [1]}}, "agent", {"wrong_type"}),
        ({"source": "agent", "reasoning_content": 7}, "agent", {"wrong_type"}),
        ({"source": "agent", "surprise": {"metrics": [1]}}, "agent", set()),
    ],
)
def test_odd_steps_are_read_all_the_same(step: dict[str, Any], source: str, codes: set[str]) -> None:
    segment, noted = read({"step_id": 1, **step})
    assert [read_step.source for read_step in segment.steps] == [source]
    assert noted == codes


def test_what_is_no_step_is_noted_and_left_out() -> None:
    segment, codes = read("text", asked(step_id=1), None)
    assert [step.number for step in segment.steps] == [2]
    assert codes == {"step_not_object", "step_ids_renumbered"}


def test_an_agent_step_that_only_observes_keeps_its_observation() -> None:
    segment, codes = read(said("", step_id=1, observation=got("Still running.")))
    assert [result.text for result in segment.steps[0].observations] == ["Still running."]
    assert codes == set()


def test_an_empty_agent_step_is_kept_and_is_empty() -> None:
    segment, _ = read(said("", step_id=1, model_name="m"))
    assert [step.is_empty for step in segment.steps] == [True]


def test_system_steps_keep_their_observations() -> None:
    segment, _ = read({"step_id": 1, "source": "system", "message": "", "observation": got("Compacted.")})
    assert [result.text for result in segment.steps[0].observations] == ["Compacted."]


def test_think_calls_leave_the_calls_and_their_acknowledgment_the_observations() -> None:
    step = said(
        "",
        step_id=1,
        tool_calls=[call("c1", command="ls"), call("t1", "think", thought="Why?")],
        observation=got(("c1", "a.txt"), ("t1", "Your thought has been logged.")),
    )
    segment, codes = read(step)
    (read_step,) = segment.steps
    assert [thought.text for thought in read_step.thoughts] == ["Why?"]
    assert [made.call_id for made in read_step.calls] == ["c1"]
    assert [result.call_id for result in read_step.observations] == ["c1"]
    assert codes == set()


@pytest.mark.parametrize(
    ("raw", "calls", "codes"),
    [
        (None, (), set()),
        ([], (), set()),
        ([call("c", "run", a=1)], (Call("run", {"a": 1}, "c"),), set()),
        ([call("", "run")], (Call("run"),), set()),
        ([{"function_name": "run"}], (Call("run"),), set()),
        ([{"tool_call_id": "c", "arguments": {}}], (Call("", {}, "c"),), {"call_unnamed"}),
        ([{"function_name": 5, "tool_call_id": 6}], (Call(""),), {"call_unnamed", "wrong_type"}),
        ([None], (), {"wrong_type"}),
    ],
)
def test_tool_calls_are_read_leniently(raw: Any, calls: tuple[Call, ...], codes: set[str]) -> None:
    notes = Deviations("a.json")
    assert read_calls(raw, notes) == calls
    assert {record.code for record in notes.records()} == codes
