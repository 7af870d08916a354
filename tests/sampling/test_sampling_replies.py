"""How a reply is read: an answer as the rule says, or the reason why there is none."""

from typing import Any

import pytest

from coherence.llm.models import Prices
from coherence.llm.request import Request
from coherence.llm.store import Failure, Reply
from coherence.sampling.asking import ModelSettings
from coherence.sampling.items import Item
from coherence.sampling.replies import sample_of
from coherence.sampling.samples import Sample

CHOICE = Item("q", "q", "?", "choice", {"A": "x", "B": "y"}, "A")
NUMBER = Item("q", "q", "?", "number", target="7")
MODEL = "claude-sonnet-4-6"


def read(text: str | None, item: Item = CHOICE, stop: str | None = "end_turn", **settings: Any) -> Sample:
    content = [{"type": "thinking", "thinking": "ANSWER: B"}]
    content += [] if text is None else [{"type": "text", "text": text}]
    usage = {"input_tokens": 100, "output_tokens": 20}
    reply = Reply("k", 3, Request(MODEL, ()), {"content": content}, MODEL, stop, usage, None, "")
    return sample_of(item, 3, reply, ModelSettings(model=MODEL, **settings))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("ANSWER: A", "A"),
        ("It is x.\n\n**ANSWER: A**\n", "A"),
        ("ANSWER: A\nOn second thought:\nAnswer : (b).", "B"),
        ("> ANSWER: **y**", "B"),
        ("**Answer:** B", "B"),
        ("```\nANSWER: B\n```\n", "B"),
        ("The item says ANSWER: B\nANSWER: A", "A"),
    ],
)
def test_the_last_line_is_the_answer(text: str, answer: str) -> None:
    sample = read(text)

    assert (sample.answer, sample.reason, sample.passed) == (answer, None, answer == "A")
    assert (sample.sample, sample.trajectory) == (3, "k")


@pytest.mark.parametrize(
    "text",
    [
        None, "", "A", "x", "ANSWER:", "ANSWER: C", "ANSWER: A or B", "ANSWER: A\nI hope that this helps.",
        "The ANSWER: A", "ANSWER A", "PROBABILITIES: {}", "\u200b\x00",
    ],
)  # fmt: skip
def test_a_reply_that_is_no_answer_is_neither_right_nor_wrong(text: str | None) -> None:
    sample = read(text)

    assert sample.reason == "unparsable"
    assert (sample.answer, sample.passed, sample.identity) == (None, None, None)
    assert sample.detail


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("max_tokens", "truncated"),
        ("refusal", "refusal"),
        ("model_context_window_exceeded", "overflow"),
        ("pause_turn", "unparsable"),
        ("something\nnew", "unparsable"),
    ],
)
def test_the_stop_reason_goes_before_the_text(stop: str, reason: str) -> None:
    sample = read("ANSWER: A", stop=stop)

    assert (sample.reason, sample.answer, sample.passed) == (reason, None, None)
    assert (sample.output_tokens, sample.trajectory) == (20, "k")


@pytest.mark.parametrize("stop", ["end_turn", "stop_sequence", None])
def test_a_whole_reply_is_read(stop: str | None) -> None:
    assert read("ANSWER: A", stop=stop).answer == "A"


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (Failure("k", 0, MODEL, "HTTP 400 invalid_request_error: prompt is too long", "", 400), "overflow"),
        (Failure("k", 0, MODEL, "HTTP 413 request_too_large: x", "", 413), "overflow"),
        (Failure("k", 0, MODEL, "HTTP 400 invalid_request_error: a bad field", "", 400), "api"),
        (Failure("k", 0, MODEL, "APIConnectionError", ""), "api"),
    ],
)
def test_a_failure_is_no_answer(failure: Failure, reason: str) -> None:
    sample = sample_of(CHOICE, 0, failure, ModelSettings(model=MODEL))

    assert (sample.reason, sample.detail, sample.passed) == (reason, failure.detail, None)


@pytest.mark.parametrize(
    ("text", "item", "answer"),
    [
        ('{"reasoning": "x", "answer": "A"}', CHOICE, "A"),
        ('Here:\n```json\n{"reasoning": "{", "answer": "b",}\n```', CHOICE, "B"),
        ('{"answer": 7.0}', NUMBER, "7"),
        ('{"answer": "7"}', NUMBER, "7"),
    ],
)
def test_a_json_answer(text: str, item: Item, answer: str) -> None:
    assert read(text, item, answer="schema").answer == answer


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ANSWER: A",
        '{"reasoning": "x"}',
        '{"answer": true}',
        '{"answer": null}',
        '{"answer": "A"',
        '{"answer": "A"} or {"answer": "B"}',
        '["A"]',
    ],
)
def test_json_that_is_no_answer(text: str) -> None:
    assert read(text, answer="schema").reason == "unparsable"


def test_probabilities_stand_on_a_line_before_the_answer() -> None:
    sample = read('PROBABILITIES: {"A": 0.7, "B": 0.3}\nANSWER: A', probabilities=True)

    assert sample.probabilities == {"A": 0.7, "B": 0.3}


@pytest.mark.parametrize(
    "text",
    ["ANSWER: A", "PROBABILITIES: 0.7\nANSWER: A", 'PROBABILITIES: {"A": 0.7}\nANSWER: A'],
)
def test_without_probabilities_the_answer_stands_and_says_so(text: str) -> None:
    sample = read(text, probabilities=True)

    assert (sample.answer, sample.probabilities, sample.reason) == ("A", None, None)
    assert "probabilities" in sample.detail


def test_a_json_answer_with_probabilities() -> None:
    text = '{"answer": "A", "probabilities": {"A": 0.9, "B": 0.1}}'

    assert read(text, answer="schema", probabilities=True).probabilities == {"A": 0.9, "B": 0.1}


@pytest.mark.parametrize(
    ("settings", "cost"),
    [({}, (100 * 3 + 20 * 15) / 1e6), ({"prices": Prices(0.0, 0.0)}, 0.0)],
)
def test_a_sample_has_its_price(settings: dict[str, Any], cost: float) -> None:
    assert read("ANSWER: A", **settings).cost_usd == pytest.approx(cost)


def test_of_an_unlisted_model_the_price_is_unknown() -> None:
    reply = Reply("k", 0, Request("m", ()), {"content": []}, "m", "end_turn", {"output_tokens": 2}, None, "")

    assert sample_of(CHOICE, 0, reply, ModelSettings(model="m")).cost_usd is None
