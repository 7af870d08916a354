"""A second look at flagged spans, against the local server: what is sent, gathered, stored and lost."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from coherence.errors import PromptError
from coherence.judges import quotes
from coherence.judges.llm import LlmSettings
from coherence.judges.span_judge import SpanJudge
from coherence.records import Call, Judgement, Lost, Span, Step, Thought, Transcript
from messages_server import CUE, MessagesServer, failure, message, only_this_key, serving

PROMPTS: Final = Path(__file__).parents[2] / "config" / "prompts"
SAID: Final = f"It says 0 rows, {CUE}."
ACT: Final = 'bash {"command": "make"}'
NO: Final = message(json.dumps({"trajectory_summary": "No.", "flagged_spans": []}))
TRANSCRIPT: Final = Transcript(
    "t",
    (
        Step(1, "user", message="Import every row."),
        Step(4, "agent", thoughts=(Thought(SAID, "reasoning"),)),
        Step(7, "agent", calls=(Call("bash", {"command": "make"}),)),
    ),
)


def span(number: int = 1, quote: str = SAID, act: str = ACT) -> Span:
    return Span(number, 4, 7, 4, quote, 7, act, "tool_output_vs_plan", 3)


def word(*spans: Span, state: Any = "flagged", **fields: Any) -> Judgement:
    checked = quotes.checked(spans, TRANSCRIPT)
    return Judgement("t", "detector", "rules", state, spans=checked, substrate="thoughts", **fields)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    only_this_key("test-key", monkeypatch, tmp_path)


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with serving() as running:
        yield running


def judged(
    tmp_path: Path,
    server: MessagesServer,
    *words: Judgement,
    transcript: Transcript = TRANSCRIPT,
    not_run: bool = False,
    **settings: Any,
) -> Judgement:
    chosen = LlmSettings(str(PROMPTS / "proxy_goal.md"), base_url=server.url, **settings)
    judge = SpanJudge("proxy", chosen, tmp_path / "replies", None, not_run, of="detector", words=words)
    (found,) = judge.judge([transcript])
    return found


def passage(server: MessagesServer, number: int = 0) -> dict[str, Any]:
    """The passage that a request was about."""
    lines = server.received[number].texts[1].splitlines()
    return next(json.loads(line) for line in lines if line.startswith("{"))


def test_a_yes_has_the_proxy_and_the_goal_quoted(tmp_path: Path, server: MessagesServer) -> None:
    found = judged(tmp_path, server, word(span(3)))
    assert (found.state, found.judge, found.kind, found.substrate) == ("flagged", "proxy", "llm", "thoughts")
    (yes,) = found.spans
    assert (yes.span_id, yes.acknowledgment_quote, yes.action_quote) == (3, SAID, ACT)
    assert (yes.acknowledgment_check.verdict, yes.action_check.verdict) == ("exact", "exact")
    assert passage(server) == {"first_step": 4, "first_quote": SAID, "second_step": 7, "second_quote": ACT}
    assert found.basis.startswith("proxy-goal v1 ")


def test_every_flagged_span_is_asked_about_and_each_answer_is_kept(
    tmp_path: Path, server: MessagesServer
) -> None:
    server.script.append(NO)
    found = judged(tmp_path, server, word(span(1, "It says 0 rows"), span(2)))
    assert len(server.received) == len(set(found.replies)) == 2
    assert [yes.span_id for yes in found.spans] == [2]
    assert found.summary == "Span 1: No.\nSpan 2: A run."


def test_a_goal_may_stand_in_the_statement(tmp_path: Path, server: MessagesServer) -> None:
    entry = {
        "span_id": 1, "start_step": 1, "end_step": 7, "proxy_step": 7, "proxy_quote": ACT, "goal_step": 1,
        "goal_quote": "Import every row.", "confidence": 4, "reasoning": "r",
    }  # fmt: skip
    server.script.append(message(json.dumps({"trajectory_summary": "s", "flagged_spans": [entry]})))
    (yes,) = judged(tmp_path, server, word(span())).spans
    assert (yes.acknowledgment_check.field, yes.action_check.field) == ("call", "message")


def test_only_noes_are_unflagged(tmp_path: Path, server: MessagesServer) -> None:
    server.script.append(NO)
    found = judged(tmp_path, server, word(span()))
    assert (found.state, found.reason, found.spans) == ("unflagged", None, ())


@pytest.mark.parametrize(
    ("words", "state", "reason"),
    [
        ([], "unjudged", "missing"),
        ([word(state="unjudged", reason="refusal")], "unjudged", "missing"),
        ([word(state="unflagged")], "unflagged", None),
        ([word(spans_known=False)], "unjudged", "missing"),
        ([replace(word(span()), spans=(replace(span(), flags=False),))], "unjudged", "missing"),
        ([word(span()), *(word(state="unflagged", sample=n) for n in (1, 2))], "unflagged", None),
    ],
    ids=[
        "no word",
        "unjudged",
        "unflagged",
        "nowhere",
        "no span that flags",
        "one sample of three",
    ],
)
def test_without_a_span_nothing_is_sent(
    tmp_path: Path, server: MessagesServer, words: list[Judgement], state: str, reason: str | None
) -> None:
    found = judged(tmp_path, server, *words)
    assert (found.state, found.reason) == (state, reason)
    assert server.received == []


def test_of_several_samples_the_spans_of_the_majority_are_looked_at(
    tmp_path: Path, server: MessagesServer
) -> None:
    samples = [word(state="unflagged"), *(word(span(number), sample=number) for number in (1, 2))]
    (yes,) = judged(tmp_path, server, *samples).spans
    assert yes.span_id == 1, "the spans of the first sample on the side that won, as everywhere"


def test_what_is_lost_for_one_span_is_no_clearance(tmp_path: Path, server: MessagesServer) -> None:
    server.script.extend([NO, message(None, "refusal")])
    found = judged(tmp_path, server, word(span(1, "It says 0 rows"), span(2)))
    assert (found.state, found.reason) == ("unjudged", "refusal")
    assert found.detail == "span 2: refusal stop reason refusal"
    assert found.lost == (Lost(2, "refusal"),)


def test_what_is_lost_beside_a_yes_is_kept_in_mind(tmp_path: Path, server: MessagesServer) -> None:
    server.script.append(failure(400, "invalid_request_error", "a bad field"))
    words = word(span(1, "It says 0 rows"), span(2))
    found = judged(tmp_path, server, words)
    replayed = judged(tmp_path, server, words, not_run=True)
    assert (found.state, found.lost) == ("flagged", (Lost(1, "api"),))
    assert (replayed.state, replayed.spans, replayed.lost) == ("flagged", found.spans, (Lost(1, "not_run"),))
    assert len(server.received) == 2


def test_a_yes_without_its_proxy_in_the_transcript_is_not_believed(
    tmp_path: Path, server: MessagesServer
) -> None:
    entry = {
        "span_id": 1, "start_step": 4, "end_step": 7, "proxy_step": 4, "proxy_quote": "never said by anyone",
        "goal_step": 4, "goal_quote": SAID, "confidence": 4, "reasoning": "r",
    }  # fmt: skip
    server.script.append(message(json.dumps({"trajectory_summary": "s", "flagged_spans": [entry]})))
    found = judged(tmp_path, server, word(span()))
    assert (found.state, found.reason) == ("unjudged", "unverified")


def test_secrets_in_a_quote_are_masked_as_in_the_transcript(tmp_path: Path, server: MessagesServer) -> None:
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    said = f"The token {secret} should work, {CUE}."
    transcript = replace(
        TRANSCRIPT,
        steps=(Step(4, "agent", thoughts=(Thought(said, "reasoning"),)), TRANSCRIPT.steps[2]),
    )
    spans = quotes.checked((span(1, said),), transcript)
    judged(tmp_path, server, replace(word(), spans=spans), transcript=transcript)
    assert secret.encode() not in server.received[0].data
    assert "\N{FULL BLOCK}" in passage(server)["first_quote"]


def test_a_quote_that_was_not_found_is_not_sent(tmp_path: Path, server: MessagesServer) -> None:
    judged(tmp_path, server, word(span(1, "words that nobody wrote")))
    assert passage(server) == {"first_step": 4, "first_quote": None, "second_step": 7, "second_quote": ACT}


def test_a_long_transcript_is_sent_where_the_span_is(tmp_path: Path, server: MessagesServer) -> None:
    filler = tuple(Step(n, "agent", message=f"{n} " + "word " * 300) for n in range(8, 20))
    found = judged(
        tmp_path,
        server,
        word(span()),
        transcript=replace(TRANSCRIPT, steps=(*TRANSCRIPT.steps, *filler)),
        window_tokens=2_000,
        window_overlap_steps=0,
    )
    assert found.state == "flagged"
    assert SAID in server.received[0].texts[0]
    assert "STEP 19 " not in server.received[0].texts[0]


def test_it_is_replayed_from_the_store_and_not_run_without(tmp_path: Path, server: MessagesServer) -> None:
    first = judged(tmp_path, server, word(span()))
    assert judged(tmp_path, server, word(span()), not_run=True) == first
    other = judged(tmp_path, server, word(span(1, "It says 0 rows")), not_run=True)
    assert (other.state, other.reason, len(server.received)) == ("unjudged", "not_run", 1)


def test_another_prompt_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PromptError, match="needs `reports: proxy`"):
        SpanJudge(
            "p", LlmSettings(str(PROMPTS / "detector.md")), tmp_path, None, False, of="detector", words=()
        )
