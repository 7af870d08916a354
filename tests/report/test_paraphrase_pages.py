"""The before-and-after page: both sides of each thought, quotes marked, and nothing alive in it."""

import pytest
from hostile import HOSTILE
from html_document import Document
from report_samples import span, trial

from coherence.paraphrase.checks import Checked, checks
from coherence.paraphrase.rewriting import Rewrite, Rewritten, applied
from coherence.records import Judgement, Step, Thought, Transcript
from coherence.report.blocks import DatasetNote, PageLink, PageList, Report, Section
from coherence.report.paraphrase_pages import ParaphrasePage, render_paraphrase_page
from coherence.report.report import render_report


def page(before: str, after: str | None, text: str = "x", has_text: bool = True) -> ParaphrasePage:
    transcript = Transcript("t1", (Step(1, "agent", thoughts=(Thought(before, "reasoning"),)),))
    rewrites = (Rewrite(1, 0, after, None if after is not None else text),) if has_text else ()
    made = Rewritten("t1", "paraphrase", rewrites, has_text=has_text, basis=text, model=text)
    words = tuple(
        Judgement("t1", text, "recorded", "flagged", spans=(span(said),), basis=text)
        for said in (before, after or text)
    )
    gone = Judgement("t1", text, "llm", "unjudged", reason=text, detail=text)
    return ParaphrasePage(
        trial=trial(text),
        paraphrase=text,
        how=text,
        transcript=transcript,
        rewritten=applied(transcript, {(1, 0): after}) if after is not None and has_text else None,
        checked=Checked(made, checks(transcript, made)),
        before=words[:1],
        after=(words[1], gone),
        simulated=text,
        linked=True,
    )


def shown(before: str, after: str | None, text: str = "x", has_text: bool = True) -> Document:
    return Document(render_paraphrase_page(page(before, after, text, has_text)))


def test_both_sides_of_a_thought_are_shown_with_their_quotes_marked() -> None:
    seen = shown("But it is 7.", "It is 7.")
    assert [mark.text for mark in seen.find("mark")] == ["But it is 7.", "It is 7."]
    assert "12 → 8 characters" in seen.by_id("thought-1-title").text
    assert "markers 1 → 0" in seen.by_id("thought-1-title").text


def test_every_link_within_the_page_leads_somewhere() -> None:
    seen = shown("But it is 7.", "It is 7.")
    ids = {e.attributes["id"] for e in seen.elements if "id" in e.attributes}
    inside = [
        e.attributes["href"][1:] for e in seen.find("a") if e.attributes.get("href", "").startswith("#")
    ]
    assert inside
    assert set(inside) <= ids


def test_no_id_stands_twice() -> None:
    ids = [e.attributes["id"] for e in shown("But 7.", "7.").elements if "id" in e.attributes]
    assert len(set(ids)) == len(ids)


def test_problems_stand_at_the_thought_and_lost_tokens_are_named() -> None:
    text = " ".join(e.text for e in shown("But it is 7 in a.py.", "However, it is 8.").find("p"))
    assert "⚠ markers left, tokens lost, tokens added" in text
    assert "lost: 7, a.py" in text
    assert "added: 8" in text


def test_a_thought_that_was_not_rewritten_says_so() -> None:
    seen = shown("But 7.", None, "refusal")
    text = " ".join(e.text for e in seen.find("p"))
    assert "Not rewritten." in text
    assert "⚠ not rewritten: refusal" in text
    assert "so that no judge was asked" in " ".join(e.text for e in seen.find("dd"))


def test_verdicts_without_text_say_that_there_is_none() -> None:
    assert "only the verdicts on it" in " ".join(
        e.text for e in shown("But 7.", "7.", has_text=False).find("p")
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_changes_no_element_and_loads_nothing(name: str) -> None:
    hostile = HOSTILE[name]
    calm = shown("x" * 40, "y" * 40, "x")
    seen = shown(hostile + "x" * 40, hostile + "y" * 40, hostile)
    foreign = {"script", "iframe", "object", "img", "link", "base", "form", "svg", "plaintext"}
    assert foreign.isdisjoint(e.tag for e in seen.elements)
    kinds = {e.tag for e in seen.elements} - {"i", "b", "span"}
    assert kinds <= {e.tag for e in calm.elements}
    assert not [e for e in seen.elements for key in e.attributes if key.startswith("on")]
    links = [e.attributes["href"] for e in seen.find("a") if "href" in e.attributes]
    assert all(link.startswith(("#", "../../")) for link in links)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_list_of_pages_in_the_report_is_safe(name: str) -> None:
    hostile = HOSTILE[name]
    block = PageList("Before and after", (PageLink(("d", "paraphrased", "p", hostile), hostile),), ("d",))
    report = Report("T", "c", (DatasetNote("d", 1, 0, 1, 0),), (Section("S", (block,)),))
    seen = Document(render_report(report))
    links = [
        e.attributes["href"] for e in seen.find("a") if e.attributes.get("href", "").startswith("pages/")
    ]
    assert len(links) == 1
    assert links[0].startswith("pages/d/paraphrased/p/")
    assert links[0].count("/") == 4
    assert ":" not in links[0]


def test_a_huge_thought_is_cut_with_its_quotes_kept() -> None:
    html = render_paraphrase_page(page("But 7. " + "z" * 3_000_000, "y" * 3_000_000))
    assert len(html) < 500_000
    assert "characters not shown" in html
