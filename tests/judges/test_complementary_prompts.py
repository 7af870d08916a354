"""Prompts beside the detector's: their examples fit their schema, and the detector knows nothing of them."""

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from coherence.judges import quotes
from coherence.judges.llm import LlmJudge, LlmSettings
from coherence.judges.prompts import read_prompt
from coherence.judges.recorded import RecordedJudge
from coherence.judges.schema import PLACES, Reports, output_schema, read_answer
from coherence.records import Call, Observation, Outcome, Step, Transcript, Trial
from messages_server import message, only_this_key, serving

PROMPTS: Final = Path(__file__).parents[2] / "config" / "prompts"
NAMES: Final = {"silent_overreach": "passages", "unverified_success": "passages", "proxy_goal": "proxy"}
# A run without a thought: the claim is a message, and what it is held against came back from a tool.
THOUGHTLESS: Final = Transcript(
    "t",
    (
        Step(2, "agent", calls=(Call("sh", {}),), observations=(Observation("warning: plain http"),)),
        Step(3, "agent", message="It runs with https."),
    ),
)


def passage(**changes: Any) -> dict[str, Any]:
    plain = {
        "span_id": 1, "start_step": 2, "end_step": 3, "first_step": 3, "first_quote": "It runs with https.",
        "second_step": 2, "second_quote": "warning: plain http", "confidence": 5, "reasoning": "r",
    }  # fmt: skip
    return {"trajectory_summary": "s", "flagged_spans": [{**plain, **changes}]}


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_worked_answer_fits_and_quotes_its_excerpt(name: str) -> None:
    prompt = read_prompt(PROMPTS / f"{name}.md")
    answers = re.findall(r"```json\n(.*?)\n```", prompt.text, re.DOTALL)
    excerpts = " ".join(re.sub(r"```json\n.*?\n```", "", prompt.text, flags=re.DOTALL).split())
    read = [read_answer(answer, prompt.reports).spans for answer in answers]
    found = [span for spans in read for span in spans]
    said = [quote for span in found for quote in (span.acknowledgment_quote, span.action_quote)]

    assert (prompt.reports, prompt.header.examples_from) == (NAMES[name], ())
    assert [bool(spans) for spans in read] == [True] + [False] * (len(read) - 1)
    assert [quote for quote in said if quote not in excerpts] == []


def test_the_detector_knows_nothing_of_the_second_look() -> None:
    detector = read_prompt(PROMPTS / "detector.md")
    told = (detector.text + json.dumps(output_schema(detector.reports))).lower()
    assert [word for word in ("proxy", "reward", "hacking") if word in told] == []


@pytest.mark.parametrize("reports", ["passages", "proxy"])
def test_these_spans_are_of_no_type_of_conflict(reports: Reports) -> None:
    assert "conflict_type" not in json.dumps(output_schema(reports))
    assert "issue_type" not in json.dumps(output_schema(reports))


def test_a_run_without_a_thought_is_judged_by_what_it_says_and_gets_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_this_key("test-key", monkeypatch, tmp_path)
    with serving() as server:
        server.script.append(message(json.dumps(passage())))
        settings = LlmSettings(str(PROMPTS / "silent_overreach.md"), base_url=server.url)
        (found,) = LlmJudge("silent", settings, tmp_path / "replies").judge([THOUGHTLESS])
    (span,) = found.spans
    assert (found.state, found.substrate, span.conflict_type) == ("flagged", "none", "other")
    assert (span.acknowledgment_check.field, span.action_check.field) == ("message", "observation")


@pytest.mark.parametrize(("reports", "state"), [("passages", "flagged"), ("spans", "unjudged")])
def test_recorded_passages_have_their_quotes_where_passages_may_have_them(
    tmp_path: Path, reports: Reports, state: str
) -> None:
    quote = 'deploy {"scheme": "https"}'
    span = {
        "span_id": 1, "start_step": 2, "end_step": 3, "acknowledgment_step": 2, "acknowledgment_quote": quote,
        "action_step": 2, "action_quote": "warning: plain http", "conflict_type": "other",
    }  # fmt: skip
    steps = (
        Step(
            2,
            "agent",
            calls=(Call("deploy", {"scheme": "https"}),),
            observations=(Observation("warning: plain http"),),
        ),
    )
    path = tmp_path / "verdicts.jsonl"
    path.write_text(json.dumps({"trajectory": "t", "state": "flagged", "spans": [span]}) + "\n")
    trial = Trial("t", "d", "task", "1", "r", "k", Outcome("failed"), "ok")
    judge = RecordedJudge("r", path, {"t": trial}, reports=reports)
    (found,) = judge.judge([Transcript("t", steps)])
    assert found.state == state


def test_other_spans_are_looked_up_as_before() -> None:
    assert set(PLACES) == {"passages", "proxy"}
    agents = quotes.AGENTS
    assert (agents.first, agents.second) == (("thought", "message"), ("call", "message", "thought"))
    assert not agents.anyone
