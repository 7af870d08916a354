"""Cue removal cuts the words that mark a conflict, and leaves numbers, code and everything else."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rewriting_samples import transcript

from coherence.features.lexical import count_markers, total
from coherence.judges.cues import load_cues
from coherence.judges.prose import Prose
from coherence.judges.rules import RulesJudge
from coherence.paraphrase.checks import check, tokens
from coherence.paraphrase.cue_removal import CueRemoval, without_cues
from coherence.paraphrase.rewriting import rewritten_transcript
from coherence.records import Call, Step, Thought, Transcript


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("But the log says 3.", "The log says 3."),
        ("The log says 3, but I go on.", "The log says 3, I go on."),
        ("Hmm. Wait! The log says 3.", "The log says 3."),
        ("It is short, though.\nHowever, next.", "It is short.\nNext."),
        ("I read butter_but.py and --but-not.", "I read butter_but.py and --but-not."),
        ("Fine.\n```\nbut wait\n```\nBut no.", "Fine.\n```\nbut wait\n```\nNo."),
        ("Nothing to cut here: 12.5 s.", "Nothing to cut here: 12.5 s."),
        ("Wait.", ""),
        ("", ""),
    ],
)
def test_what_is_left(text: str, left: str) -> None:
    assert without_cues(text, load_cues()) == left


@pytest.mark.parametrize(
    "text",
    [
        "I'm not sure why run_all() returns 7.",
        "The output should be 42 but `main.py` prints 41; anyway, I'll move on.",
        "The result should be (0, 3, 3) but it is 5.",
        "I cannot verify /app/out.txt, so I'll just assume it is fine.",
    ],
)
def test_cues_go_and_numbers_and_code_stay(text: str) -> None:
    cues = load_cues()
    left = without_cues(text, cues)
    prose = Prose(left, cues)
    assert prose.acknowledgments == prose.dismissals == []
    assert total(count_markers([left])) == 0
    assert set(tokens(text)) == set(tokens(left))


@given(st.text(st.sampled_from("but wait anyway 3 /a.py `x`\n.,!?İß\u2019\x00"), max_size=80))
def test_any_text_keeps_its_tokens_and_gets_no_new_ones(text: str) -> None:
    left = without_cues(text, load_cues())
    assert without_cues(left, load_cues()) == left
    if text:
        assert not check((2, 0), text, left, "cue removal").lost


def test_the_rules_judge_flags_before_and_not_after() -> None:
    thought = "I'm confused: the test says 3 rows and I expected 4, but I'll just move on anyway."
    step = Step(
        2, "agent", thoughts=(Thought(thought, "reasoning"),), calls=(Call("bash", {"command": "rm x"}),)
    )
    one = Transcript("t", (step,))
    made = next(CueRemoval().rewrite([one]))
    judge = RulesJudge("rules")
    states = [judge.judge_one(each).state for each in (one, rewritten_transcript(one, made))]
    assert states == ["flagged", "unflagged"]


def test_it_says_what_it_is_and_rests_on() -> None:
    made = next(CueRemoval().rewrite([transcript("But 3.")]))
    assert (made.manipulation, made.basis.startswith("cue removal ")) == ("cue removal", True)


@pytest.mark.parametrize("text", ["but " * 5_000, "wait, " * 5_000, "sometimes " * 3_000, "`but " * 3_000])
def test_no_text_makes_it_slow(text: str) -> None:
    assert len(without_cues(text, load_cues())) <= len(text)


def test_cues_among_much_code_take_time_by_their_number() -> None:
    started = process_time()
    assert without_cues("but `x` " * 20_000, load_cues()).count("`x`") == 20_000
    assert process_time() - started < 3
