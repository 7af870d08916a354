"""A trajectory's page: every step, every quote marked where it stands, nothing alive in it."""

import json

import msgspec
import pytest
from hostile import HOSTILE
from html_document import Document
from report_samples import page, trial

from coherence.judges.frame import call_text
from coherence.judges.quotes import checked
from coherence.records import (
    Call,
    Judgement,
    Observation,
    Outcome,
    QuoteCheck,
    QuoteField,
    Span,
    Step,
    Thought,
    Transcript,
    Verified,
    VerifierTests,
)
from coherence.report.pages import FAILED_SHOWN, LONGEST_TEXT, PAGE_BUDGET, Page, render_page

THOUGHT = "The log says 5 rows & the task 11. I cannot find the rest; I'll <invent> them."
COMMAND = 'python3 - <<"EOF"\nwrite(11)\nEOF'
STEPS = (
    Step(1, "user", "Recover all rows."),
    Step(
        number=12,
        source="agent",
        message="Writing now.",
        thoughts=(Thought("First thought.", "think_call"), Thought(THOUGHT, "reasoning")),
        calls=(Call("terminal", {"command": COMMAND, "wait": False}),),
        observations=(Observation("done, 11 rows"), Observation(None)),
    ),
    Step(14, "agent", "All 11 rows are recovered."),
)
TRANSCRIPT = Transcript("t1", STEPS, empty_steps=2)
CALL_TEXT = "terminal " + json.dumps({"command": COMMAND, "wait": False})
UNCHECKED = QuoteCheck("not_checkable")


def span(acknowledgment: QuoteCheck = UNCHECKED, action: QuoteCheck = UNCHECKED, number: int = 1) -> Span:
    return Span(number, 12, 14, 12, "quote A", 14, "quote B", "other", 4, "why", acknowledgment, action)


def found(quote: str, text: str, field: QuoteField, index: int = 0, step: int = 12) -> QuoteCheck:
    start = text.index(quote)
    return QuoteCheck("exact", step, field, index, start, start + len(quote))


def judged(*spans: Span, judge: str = "detector") -> Judgement:
    return Judgement("t1", judge, "rules", "flagged", spans=spans)


def document(*judgements: Judgement, transcript: Transcript = TRANSCRIPT, simulated: str = "") -> Document:
    return Document(render_page(Page(trial(), transcript, judgements, simulated)))


def marked(document: Document, anchor: str) -> str:
    marks = [mark for mark in document.find("mark") if anchor in mark.attributes["data-quotes"].split()]
    return "".join(mark.text for mark in marks)


QUOTES = {
    "thought": found("I cannot find the rest; I'll <invent> them.", THOUGHT, "thought", 1),
    "message": found("Writing", "Writing now.", "message"),
    "call": found(r"EOF\"\nwrite(11)\nEOF", CALL_TEXT, "call"),
    "observation": found("11 rows", "done, 11 rows", "observation"),
    "another-step": found("All 11 rows are recovered.", "All 11 rows are recovered.", "message", step=14),
}
TEXTS = {"thought": THOUGHT, "message": "Writing now.", "call": CALL_TEXT, "observation": "done, 11 rows"}


@pytest.mark.parametrize("name", QUOTES)
def test_the_mark_holds_the_quote(name: str) -> None:
    check = QUOTES[name]
    text = TEXTS.get(name, "All 11 rows are recovered.")
    assert marked(document(judged(span(check))), "mark-1-acknowledgment") == text[check.start : check.end]


def test_the_text_a_call_is_marked_in_is_the_text_quotes_are_looked_up_in() -> None:
    assert call_text(STEPS[1].calls[0]) == CALL_TEXT


def test_offsets_of_the_quote_check_are_those_of_the_marks() -> None:
    said = Span(1, 12, 12, 12, "I'll <invent> them.", 12, "write(11)", "other")
    seen = document(judged(*checked([said], TRANSCRIPT)))
    assert (marked(seen, "mark-1-acknowledgment"), marked(seen, "mark-1-action")) == (
        "I'll <invent> them.",
        "write(11)",
    )


def test_overlapping_quotes_of_two_judges_are_both_whole() -> None:
    first = found("the task 11. I cannot find", THOUGHT, "thought", 1)
    second = found("I cannot find the rest", THOUGHT, "thought", 1)
    seen = document(judged(span(first)), judged(span(second), judge="other"))
    assert [marked(seen, f"mark-{number}-acknowledgment") for number in (1, 2)] == [
        "the task 11. I cannot find",
        "I cannot find the rest",
    ]


def test_marks_leave_the_text_as_it_is() -> None:
    checks = (
        found("5 rows & the", THOUGHT, "thought", 1),
        found("rows & the task 11", THOUGHT, "thought", 1),
    )
    seen = document(judged(span(*checks)))
    (text,) = [e for e in seen.find("div", "text") if "log says" in e.text]
    labels = "".join(tag.text for tag in seen.find("a", "tag") if "id" in tag.attributes)
    assert len(text.text) - len(labels) == len(THOUGHT)


def test_each_mark_links_to_its_card_and_back() -> None:
    seen = document(judged(span(QUOTES["thought"], QUOTES["call"])))
    there = seen.by_id("mark-1-action").attributes["href"]
    back = [link for link in seen.links if link == "#mark-1-action"]
    assert (there, seen.by_id("span-1").tag, len(back)) == ("#span-1", "article", 2)


def test_every_link_within_the_page_arrives() -> None:
    seen = document(judged(span(QUOTES["thought"], QUOTES["call"])), judged(span(QUOTES["message"])))
    inside = {link.removeprefix("#") for link in seen.links if link.startswith("#")}
    assert inside - set(seen.ids) == set()


def test_ids_are_unique() -> None:
    seen = document(judged(span(QUOTES["thought"], QUOTES["call"])), judged(span(QUOTES["message"])))
    assert len(seen.ids) == len(set(seen.ids))


def test_steps_are_anchored_by_their_numbers() -> None:
    assert [e.attributes["id"] for e in document().find("section", "step")] == [
        "step-1",
        "step-12",
        "step-14",
    ]


NOT_MARKED = {
    "absent": (QuoteCheck("absent"), "not found in the trajectory"),
    "not-checkable": (UNCHECKED, "not checked"),
    "outside-the-text": (QuoteCheck("exact", 12, "message", 0, 5, 5000), "so it is not marked"),
    "empty": (QuoteCheck("exact", 12, "message", 0, 5, 5), "so it is not marked"),
    "negative": (QuoteCheck("exact", 12, "message", 0, -5, 5), "so it is not marked"),
    "no-such-step": (QuoteCheck("exact", 99, "message", 0, 0, 5), "so it is not marked"),
    "no-such-field": (QuoteCheck("exact", 12, "thought", 7, 0, 5), "so it is not marked"),
}


@pytest.mark.parametrize(("check", "word"), NOT_MARKED.values(), ids=NOT_MARKED)
def test_a_quote_without_a_place_is_told_in_its_card(check: QuoteCheck, word: str) -> None:
    seen = document(judged(span(check)))
    assert (seen.find("mark"), word in seen.by_id("span-1").text) == ([], True)


def test_a_quote_in_another_step_is_marked_there_and_said_so() -> None:
    text = "All 11 rows are recovered."
    check = QuoteCheck("wrong_step", 14, "message", 0, 0, len(text))
    seen = document(judged(span(check)))
    told = "not in step 12 but in step 14" in seen.by_id("span-1").text
    assert (marked(seen, "mark-1-acknowledgment"), told) == (text, True)


@pytest.mark.parametrize("word", ["other", "confidence 4 of 5", "rules-a", "quote A", "quote B", "why"])
def test_a_card_tells_type_confidence_judge_quotes_and_reasoning(word: str) -> None:
    assert word in document(judged(span(), judge="rules-a")).by_id("span-1").text


def test_a_missing_confidence_is_no_number() -> None:
    said = Span(1, 12, 14, 12, "a", 14, "b", "other")
    assert "no confidence given" in document(judged(said)).by_id("span-1").text


def test_an_unjudged_trajectory_has_a_reason_and_no_count() -> None:
    word = Judgement("t1", "detector", "llm", "unjudged", reason="truncated")
    row = [e.text for e in document(word).find("td")][:2]
    assert row == ["? unjudged: truncated", "–"]


def test_unflagged_for_want_of_thoughts_says_so() -> None:
    word = Judgement("t1", "detector", "rules", "unflagged", substrate="none")
    assert "unflagged (no thought to judge)" in [e.text for e in document(word).find("td")]


def test_an_exception_stands_beside_a_pass() -> None:
    unlucky = msgspec.structs.replace(trial(), outcome=Outcome("passed", 1.0, None, "AgentTimeoutError"))
    facts = Document(render_page(Page(unlucky, TRANSCRIPT))).find("dl", "facts")[0].text
    assert ("✓ passed, reward 1.0" in facts, "AgentTimeoutError" in facts) == (True, True)


def test_failed_tests_are_named_and_counted() -> None:
    failed = tuple(f"test_{number}" for number in range(FAILED_SHOWN + 2))
    unlucky = msgspec.structs.replace(
        trial(), outcome=Outcome("passed", 1.0, tests=Verified(3, len(failed), 1))
    )
    made = Document(render_page(Page(unlucky, TRANSCRIPT, tests=VerifierTests("t1", ("a",), failed))))
    facts = made.find("dl", "facts")[0].text
    assert f"3/{3 + len(failed)} ⚠ contradicts the reward; 1 without result" in facts
    (note,) = made.find("p", "note")
    assert note.text == f"Failed tests: {', '.join(failed[:FAILED_SHOWN])} and 2 more"


def test_a_run_without_tests_has_no_line_of_them() -> None:
    untold = msgspec.structs.replace(trial(), outcome=Outcome("passed", 1.0))
    made = Document(render_page(Page(untold, TRANSCRIPT)))
    assert "Tests" not in made.find("dl", "facts")[0].text
    assert made.find("p", "note") == []


def test_simulated_data_say_so() -> None:
    assert document(simulated="planted").find("p", "simulated")[0].text == "Simulated data. d: planted"


def test_a_real_run_has_no_such_banner() -> None:
    assert document().find("p", "simulated") == []


def with_observation(text: str) -> Transcript:
    return Transcript("t1", (Step(12, "agent", observations=(Observation(text),)),))


def test_a_long_observation_is_folded_and_whole() -> None:
    text = "line\n" * 1000
    seen = document(transcript=with_observation(text))
    (folded,) = [e for e in seen.find("div", "text") if "details" in e.parents]
    assert folded.text == text


def test_a_short_observation_is_not_folded() -> None:
    seen = document(transcript=with_observation("ok"))
    assert ["details" in e.parents for e in seen.find("div", "text")] == [False]


def test_a_marked_text_is_never_folded() -> None:
    text = "line\n" * 1000 + "here it is"
    seen = document(judged(span(found("here", text, "observation"))), transcript=with_observation(text))
    assert ["details" in e.parents for e in seen.find("mark")] == [False]


def test_a_huge_text_is_cut_with_a_note_and_keeps_its_mark() -> None:
    text = "x" * 500_000 + "NEEDLE" + "y" * 500_000
    seen = document(judged(span(found("NEEDLE", text, "observation"))), transcript=with_observation(text))
    kept = sum(letter in "xy" for letter in "".join(e.text for e in seen.find("div", "text")))
    notes = [int(e.text.split()[0].replace(",", "")) for e in seen.find("span", "cut")]
    labels = sum(letter in "xy" for letter in "Span 1 acknowledgment" + "characters not shown" * 2)
    assert (marked(seen, "mark-1-acknowledgment"), kept - labels + sum(notes)) == ("NEEDLE", 1_000_000)


def test_a_text_at_the_limit_is_not_cut() -> None:
    assert document(transcript=with_observation("x" * LONGEST_TEXT)).find("span", "cut") == []


def test_a_page_of_a_very_large_trajectory_stays_within_its_budget() -> None:
    steps = tuple(Step(n, "agent", observations=(Observation("word " * 1_000),)) for n in range(1, 5_001))
    html = render_page(Page(trial(), Transcript("t1", steps)))
    assert (html.count('id="step-'), len(html) < 1.5 * PAGE_BUDGET) == (10_000, True)


def test_a_trajectory_without_steps_has_a_page() -> None:
    assert "There is no step to show." in document(transcript=Transcript("t1", ())).by_id("content").text


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_changes_no_element(text: str) -> None:
    harmless = "".join(letter if letter in "\r\n" else "x" for letter in text)
    assert Document(render_page(page(text))).skeleton == Document(render_page(page(harmless))).skeleton


def test_markup_is_shown_as_it_is() -> None:
    text = HOSTILE["entity"] + HOSTILE["script"]
    seen = Document(render_page(page(text)))
    assert [mark.text for mark in seen.find("mark")] == [text, text]


def test_a_page_says_in_how_many_parts_it_was_read_and_which_span_does_not_flag() -> None:
    kept = msgspec.structs.replace(span(QuoteCheck("absent")), flags=False)
    word = msgspec.structs.replace(judged(kept), windows=3, reply="b", replies=("a1", "b1"))
    text = render_page(Page(trial(), TRANSCRIPT, (word,), ""))
    plain = render_page(Page(trial(), TRANSCRIPT, (judged(span()),), ""))

    assert "read in 3 parts" in text and "does not flag" in text and "a1, b1" in text
    assert "read in" not in plain and "does not flag" not in plain
