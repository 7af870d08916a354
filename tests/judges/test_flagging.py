"""What absent quotes do to a flag, for every way of saying so."""

from pathlib import Path

import msgspec
import pytest

from coherence.files import encode
from coherence.judges.flagging import AbsentQuote, verified
from coherence.judges.recorded import RecordedJudge
from coherence.records import (
    Judgement,
    JudgementState,
    Outcome,
    QuoteCheck,
    QuoteVerdict,
    Span,
    Step,
    Thought,
    Transcript,
    Trial,
)

LETTERS: dict[str, QuoteVerdict] = {"e": "exact", "w": "wrong_step", "a": "absent", "n": "not_checkable"}


def word(verdicts: str, state: JudgementState = "flagged") -> Judgement:
    spans = tuple(
        Span(n, 1, 2, 1, "q", 2, "r", "other", acknowledgment_check=QuoteCheck(LETTERS[letter]))
        for n, letter in enumerate(verdicts, 1)
    )
    return Judgement("t", "j", "llm", state, spans=spans, detail="d")


@pytest.mark.parametrize(
    ("verdicts", "policy", "state", "flags"),
    [
        ("e", "keep", "flagged", [True]),
        ("ea", "keep", "flagged", [True, False]),
        ("a", "keep", "unjudged", [False]),
        ("aa", "keep", "unjudged", [False, False]),
        ("w", "keep", "flagged", [True]),
        ("n", "keep", "flagged", [True]),
        ("n", "reject", "flagged", [True]),
        ("", "keep", "flagged", []),
        ("", "reject", "flagged", []),
        ("a", "flag", "flagged", [True]),
        ("ea", "flag", "flagged", [True, True]),
        ("ea", "reject", "unjudged", [True, False]),
    ],
)
def test_a_flag_is_as_good_as_its_quotes(
    verdicts: str, policy: AbsentQuote, state: str, flags: list[bool]
) -> None:
    found = verified(word(verdicts), policy, by_spans=True)

    assert (found.state, [span.flags for span in found.spans]) == (state, flags)
    assert found.reason == ("unverified" if state == "unjudged" else None)


def test_an_absent_action_quote_does_not_take_the_flag_away() -> None:
    span = msgspec.structs.replace(word("e").spans[0], action_check=QuoteCheck("absent"))

    assert verified(Judgement("t", "j", "llm", "flagged", spans=(span,)), "reject", True).state == "flagged"


def test_a_flag_by_rating_stands_and_its_spans_are_marked() -> None:
    found = verified(word("a"), "reject", by_spans=False)

    assert (found.state, found.spans[0].flags) == ("flagged", False)


def test_an_unflagged_word_stays_so() -> None:
    assert verified(word("a", "unflagged"), "keep", by_spans=True).state == "unflagged"


@pytest.mark.parametrize(("policy", "state"), [("keep", "unjudged"), ("flag", "flagged")])
def test_a_recorded_judge_has_the_same_policy(tmp_path: Path, policy: AbsentQuote, state: str) -> None:
    trial = Trial("t", "d", "task", "t", "r", "t", Outcome("failed"), "ok")
    line = {"trajectory": "t", "state": "flagged", "spans": [Span(1, 1, 1, 1, "not there", 1, "b", "other")]}
    (tmp_path / "v.jsonl").write_bytes(encode(line))
    judge = RecordedJudge("j", tmp_path / "v.jsonl", {"t": trial}, absent_quote=policy)
    said = Transcript("t", (Step(1, "agent", thoughts=(Thought("something else", "reasoning"),)),))

    assert [found.state for found in judge.judge([said])] == [state]
    assert [found.state for found in judge.judge([Transcript("t", ())])] == ["flagged"]
