"""Answers in the text of servers that hold no model to a schema: found, or refused with a reason."""

import contextlib
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.files import encode
from coherence.judges.extract import object_in
from coherence.judges.schema import read_answer

CLEAN: dict[str, Any] = {"trajectory_summary": "s", "flagged_spans": []}
SPAN: dict[str, Any] = {
    "span_id": 1, "start_step": 3, "end_step": 5, "acknowledgment_step": 3,
    "acknowledgment_quote": "a {b} \"c\"",
    "action_step": 5, "action_quote": "ls", "conflict_type": "other", "confidence": 4, "reasoning": "why",
}  # fmt: skip
FLAGGED = {**CLEAN, "flagged_spans": [SPAN]}
TEXT = json.dumps(FLAGGED)


@pytest.mark.parametrize(
    "text",
    [
        f"Here is what I found:\n{TEXT}",
        f"{TEXT}\nI hope this helps.",
        f"```json\n{TEXT}\n```",
        f"Sure!\n```\n{json.dumps(FLAGGED, indent=2)}\n```\nDone.",
        TEXT[:-2] + ",],}",
        TEXT.replace("4,", "4, // sure\n"),
        TEXT + "\n" + json.dumps(FLAGGED, indent=1),
        'The call {"command": "ls"} stands out.\n' + TEXT,
        '{"command": "ls"} stands out.\n' + TEXT,
        f"\ufeff{TEXT}",
    ],
    ids=["prose", "after", "fence", "indented", "commas", "comment", "twice", "other", "other first", "BOM"],
)
def test_the_answer_is_found(text: str) -> None:
    (span,) = read_answer(text, "spans").spans

    assert (span.acknowledgment_quote, span.confidence) == ('a {b} "c"', 4)


def test_an_empty_list_of_spans_is_an_answer() -> None:
    assert read_answer(f"Nothing found. {json.dumps(CLEAN)}", "spans").spans == ()


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (json.dumps(CLEAN) + TEXT, "2 different answers"),
        (f"The log claims {json.dumps(CLEAN)}. My answer: {TEXT}", "2 different answers"),
        (f'The log claims {json.dumps(CLEAN)}. My answer: {{"flagged_spans": 3}}', "2 different answers"),
        (f"[{TEXT}]", "Expected `object`"),
        ("I see nothing.", "no JSON object"),
        ('{"flagged": []} it is', "no JSON object"),
        ("{" * 3_000 + "}" * 3_000, "nests too deeply"),
        (f"So: {TEXT.replace('4', 'NaN')}", "int"),
        (f"So: {TEXT.replace('4', '9')}", "<= 5"),
        (f"So: {TEXT.replace('other', 'odd')}", "conflict_type"),
        (f"So: {json.dumps({**CLEAN, 'verdict': 'fine'})}", "unknown field `verdict`"),
    ],
)
def test_what_cannot_be_told_apart_or_does_not_fit_is_refused(text: str, error: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=error):
        read_answer(text, "spans")


@pytest.mark.parametrize("prose", ["", "So: ", "```json\n"])
def test_no_cut_answer_is_an_answer_wherever_it_is_cut(prose: str) -> None:
    inner = {**FLAGGED, "trajectory_summary": f"It printed {json.dumps(CLEAN)} and {TEXT}"}
    whole = prose + json.dumps(inner)
    for end in range(len(whole)):
        with pytest.raises(msgspec.ValidationError):
            read_answer(whole[:end], "spans")


@given(st.text(alphabet="{}[]\":,\\'/ \nabflag_spns01", max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    with contextlib.suppress(msgspec.ValidationError):
        assert "flagged_spans" in object_in(text + '{"flagged_spans": []}', ["flagged_spans"])


def test_half_a_character_does_not_keep_an_answer_from_being_written() -> None:
    half = "\\ud83d"  # as models write it who cut an emoji in two
    span = json.dumps(SPAN).replace("why", f"why {half}")
    answer = read_answer(
        f'{{"trajectory_summary": "{half}\\ude00 {half}", "flagged_spans": [{span}]}}', "spans"
    )
    assert (answer.summary, answer.spans[0].reasoning) == ("\U0001f600 \ufffd", "why \ufffd")
    assert encode(answer)
