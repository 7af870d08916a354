"""What the judge reads: empty steps gone with their numbers kept, long observations cut in the middle."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.files import encode
from coherence.preprocess import PreprocessSettings, cut, prepared, preprocess
from coherence.records import Call, Observation, Outcome, Step, Thought, Trajectory, Trial

TRIAL = Trial("t", "d", "secret-task", "a", "r", "k", Outcome("failed", 0.0), "ok")


@given(st.text(max_size=60), st.integers(1, 40))
def test_cut_keeps_head_and_tail_and_says_how_much_is_gone(text: str, limit: int) -> None:
    shown, left_out = cut(text, limit)
    if len(text) <= limit:
        assert (shown, left_out) == (text, 0)
    else:
        head, tail = limit - limit // 2, limit // 2
        notice = f"\n[... {len(text) - limit} characters left out ...]\n"
        assert shown == text[:head] + notice + text[len(text) - tail :]
        assert left_out == len(text) - limit


@pytest.mark.parametrize("length", [1999, 2000, 2001, 100_000])
def test_observations_over_2000_characters_are_cut(length: int) -> None:
    steps = (Step(7, "agent", calls=(Call("bash"),), observations=(Observation("x" * length),)),)
    transcript = preprocess(Trajectory(TRIAL, steps), PreprocessSettings())
    assert transcript.cut_characters == max(0, length - 2000)
    assert transcript.cut_observations == (length > 2000)


def test_empty_agent_steps_go_and_numbers_stay() -> None:
    steps = (Step(1, "user", "do"), Step(2, "agent"), Step(3, "agent", "  \n"), Step(5, "agent", "done"))
    transcript = preprocess(Trajectory(TRIAL, steps), PreprocessSettings())
    assert ([step.number for step in transcript.steps], transcript.empty_steps) == ([1, 5], 2)


def test_both_limits_are_settings() -> None:
    steps = (Step(1, "agent"), Step(2, "agent", observations=(Observation("abcdef"),)))
    transcript = preprocess(Trajectory(TRIAL, steps), PreprocessSettings(4, drop_empty_steps=False))
    assert len(transcript.steps) == 2
    assert transcript.steps[1].observations[0].text == "ab\n[... 2 characters left out ...]\nef"


def test_a_missing_observation_stays_missing() -> None:
    steps = (Step(1, "agent", "m", observations=(Observation(None), Observation("y" * 9000))),)
    transcript = preprocess(Trajectory(TRIAL, steps), PreprocessSettings())
    assert transcript.steps[0].observations[0].text is None


def test_the_judge_sees_neither_outcome_nor_task() -> None:
    wire = encode(preprocess(Trajectory(TRIAL, (Step(1, "agent", "hi"),)), PreprocessSettings()))
    assert b"failed" not in wire
    assert b"secret-task" not in wire


def test_summary_lists_steps_and_those_with_thoughts() -> None:
    steps = (Step(1, "user", "do"), Step(4, "agent", thoughts=(Thought("t", "reasoning"),)))
    summary = prepared(preprocess(Trajectory(TRIAL, steps), PreprocessSettings()), "d")
    assert (summary.steps, summary.thought_steps) == ((1, 4), (4,))


def test_empty_steps_are_no_part_of_the_timeline_even_where_they_are_shown() -> None:
    steps = (Step(1, "agent", "a"), Step(2, "agent"), Step(3, "agent"))
    settings = PreprocessSettings(drop_empty_steps=False)
    assert prepared(preprocess(Trajectory(TRIAL, steps), settings), "d").steps == (1,)
