"""The page for a reader: every step, the instructions, and nothing that would tell the answer."""

import inspect

import pytest
from hostile import HOSTILE
from html_document import Document
from report_samples import page

from coherence.records import Call, Observation, Step, Thought, Transcript
from coherence.report.label_pages import render_label_page
from coherence.vocabulary import CONFLICT_TYPES

TRANSCRIPT = Transcript(
    "task__a-1",
    (
        Step(1, "user", "Do it."),
        Step(4, "agent", thoughts=(Thought("That is odd.", "reasoning"),), calls=(Call("sh", {"c": "ls"}),)),
        Step(5, "agent", "Done anyway.", observations=(Observation("a\nb"),)),
    ),
)


def test_every_step_is_there_under_its_number() -> None:
    found = Document(render_label_page(TRANSCRIPT, "set"))
    headings = [
        element.text.split()[1]
        for element in found.elements
        if "step-" in element.attributes.get("id", "") and element.tag == "h3"
    ]
    assert headings == ["1", "4", "5"]
    text = found.elements[0].text
    assert all(words in text for words in ("That is odd.", "Done anyway.", "Do it."))


def test_the_instructions_name_every_type_and_state() -> None:
    text = Document(render_label_page(TRANSCRIPT, "set")).elements[0].text
    assert all(name in text for name in (*CONFLICT_TYPES, "flagged", "unflagged", "unjudged"))
    assert "Blank is not unflagged" in text


def test_it_is_blind() -> None:
    # A renderer that is never given outcome or verdicts cannot tell them.
    assert set(inspect.signature(render_label_page).parameters) == {"transcript", "dataset", "simulated"}
    html = render_label_page(TRANSCRIPT, "set")
    for word in (
        "✗ failed",
        "✓ passed",
        "Outcome",
        "reward",
        "What the judges say",
        "report.html",
        "Backbone",
    ):
        assert word not in html


def test_it_stands_alone() -> None:
    found = Document(render_label_page(TRANSCRIPT, "set", "made up"))
    assert [e.tag for e in found.elements if {"src", "action"} & set(e.attributes) or e.tag == "script"] == []
    links = [e.attributes["href"] for e in found.elements if "href" in e.attributes]
    assert [link for link in links if not link.startswith("#")] == []
    assert "made up" in found.elements[0].text


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_stays_text(text: str) -> None:
    found = Document(render_label_page(page(text).transcript, text, text))
    assert not {"script", "img", "base", "plaintext"} & {element.tag for element in found.elements}
    assert not any(name.startswith("on") for element in found.elements for name in element.attributes)
