"""The report: numbered tables and figures with their datasets' notes, flagged spans, and a reading guide."""

import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest
from hostile import HOSTILE
from html_document import Document
from report_samples import audit, page, report, span, trial

from coherence.records import QuoteCheck, Span
from coherence.report.blocks import (
    Block,
    DatasetNote,
    Figure,
    OutcomeNote,
    Prose,
    Report,
    Section,
    SpanCard,
    SpanList,
    Table,
)
from coherence.report.pages import render_page
from coherence.report.report import render_audit, render_report

SIMULATED = DatasetNote("made", 2, 1, 1, 0, simulated="planted verdicts")
REAL = DatasetNote("real", 3, 1, 1, 1)
TABLE = Table("Rates", "With n.", ("Dataset", "Failed", "Note"), (("made", "1/2 (50 %; 3 to 97)", "-"),))
Render = Callable[[str], str]
DOCUMENTS: dict[str, Render] = {
    "page": lambda text: render_page(page(text)),
    "report": lambda text: render_report(report(text)),
    "audit": lambda text: render_audit(audit(text)),
}
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
FORBIDDEN = ("style", "srcset", "action", "formaction", "ping", "target")
FOREIGN = (
    "script",
    "iframe",
    "object",
    "embed",
    "form",
    "link",
    "base",
    "svg",
    "template",
    "button",
    "input",
)


def document(*blocks: Block) -> Document:
    return Document(render_report(Report("T", "default", (SIMULATED, REAL), (Section("Results", blocks),))))


def listed(*cards: SpanCard, total: int | None = None) -> SpanList:
    return SpanList("detector", "real", cards, len(cards) if total is None else total, 1)


def test_tables_and_figures_are_numbered_apart() -> None:
    figure = Figure("Gaps", "n = 3.", b"<svg/>", "alt")
    seen = document(TABLE, figure, TABLE)
    titles = [e.text for e in seen.find("b") if e.text.startswith(("Table", "Figure"))]
    assert titles == ["Table 1. Rates.", "Figure 1. Gaps.", "Table 2. Rates."]


def test_a_table_has_a_caption_and_a_region_to_scroll() -> None:
    seen = document(TABLE)
    caption = seen.by_id("table-1-caption")
    regions = [e for e in seen.elements if e.attributes.get("aria-labelledby") == "table-1-caption"]
    assert (caption.tag, caption.text, [e.attributes["tabindex"] for e in regions]) == (
        "caption",
        "Table 1. Rates. With n.",
        ["0"],
    )


def test_columns_of_numbers_are_set_as_numbers() -> None:
    row = ("a", "1,234", "+47 (19 to 65)", "7 left")
    seen = document(Table("T", "c", ("Name", "n", "Gap", "Word"), (row,)))
    cells = [e for e in seen.find("td") if e.text in row]
    assert ["number" in e.classes for e in cells] == [True, True, False]


def test_an_empty_cell_is_shown_as_a_dash() -> None:
    seen = document(Table("T", "c", ("a", "b"), (("left", ""), ("right", "x"))))
    assert "–" in [e.text for e in seen.find("td")]


def test_a_row_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="a row of 1 cells under 2 columns"):
        Table("T", "c", ("a", "b"), (("only",),))


BLOCKS = {
    "table": Table("T", "c", ("a",), (("1",),), datasets=("made", "real")),
    "figure": Figure("F", "c", b"<svg/>", "alt", datasets=("made",)),
    "prose": Prose(("Words.",), datasets=("made",)),
    "spans": SpanList("detector", "made", (SpanCard(trial(), span("x")),), 1, 1),
}


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_every_block_of_a_simulated_dataset_says_so(block: Block) -> None:
    run, at_block = document(block).find("p", "simulated")
    assert run.text == at_block.text == "Simulated data. made: planted verdicts"


def test_a_block_of_real_runs_has_no_such_banner() -> None:
    real = Table("T", "c", ("a",), (("1",),), datasets=("real",))
    assert len(document(real).find("p", "simulated")) == 1


def test_a_dataset_without_a_note_is_refused() -> None:
    with pytest.raises(ValueError, match="no note on dataset 'other'"):
        document(Prose(("x",), datasets=("other",)))


def test_a_figure_is_embedded_with_its_words() -> None:
    (image,) = document(Figure("F", "c", b"<svg>\xc3\xa9</svg>", 'gap "47"')).find("img")
    head, _, data = image.attributes["src"].partition(",")
    assert (head, unquote(data), image.attributes["alt"]) == (
        "data:image/svg+xml",
        "<svg>\xe9</svg>",
        'gap "47"',
    )


def test_a_bounded_list_says_how_many_there_are() -> None:
    text = document(listed(SpanCard(trial(), span("x")), total=1234)).by_id("spans-1").text
    assert ("1,234 spans in 1 trajectory" in text, "1 of 1,234; all in spans.csv." in text) == (True, True)


def test_a_whole_list_does_not() -> None:
    assert "spans.csv" not in document(listed(SpanCard(trial(), span("x")))).by_id("spans-1").text


def test_a_span_links_to_its_step_on_the_page_percent_encoded() -> None:
    card = SpanCard(trial(id='a b/é"%#?', dataset="d'"), span("x"))
    assert "pages/d%27/a%20b%2F%C3%A9%22%25%23%3F.html#step-1" in document(listed(card)).links


def test_a_quote_found_elsewhere_is_linked_where_it_stands() -> None:
    check = QuoteCheck("wrong_step", 1, "thought", 0, 0, 1)
    other = Span(1, 5, 9, 5, "x", 9, "y", "other", acknowledgment_check=check)
    assert "pages/d/t1.html#step-1" in document(listed(SpanCard(trial(), other))).links


def test_without_a_page_there_is_no_link() -> None:
    links = document(listed(SpanCard(trial(), span("x"), linked=False))).links
    assert [link for link in links if link.startswith("pages")] == []


@pytest.mark.parametrize("word", ["no proof of strained coherence", "no clearance to deploy", "is unjudged"])
def test_the_reading_guide_says_what_a_flag_is_not(word: str) -> None:
    guide = [e for e in document().find("section") if e.attributes["aria-labelledby"] == "reading"]
    assert word in guide[0].text


def test_files_of_outcomes_are_told_of_beside_the_datasets() -> None:
    sets = (
        OutcomeNote("kept", 5200, 13, 80, 2118, 2664, 418, note="From a leaderboard."),
        OutcomeNote("drawn", 20, 1, 4, 8, 12, 0, simulated="drawn at random"),
    )
    text = render_report(Report("T", "default", (REAL,), (), outcomes=sets))
    assert "5,200" in text
    assert "<bdi>kept</bdi>.</b> From a leaderboard." in text
    assert "drawn at random" in text
    assert "Files of repeated outcomes" not in render_report(Report("T", "default", (REAL,), ()))


def test_every_link_within_the_report_arrives() -> None:
    seen = Document(render_report(report("x")))
    assert {link[1:] for link in seen.links if link.startswith("#")} - set(seen.ids) == set()


@pytest.mark.parametrize("render", DOCUMENTS.values(), ids=DOCUMENTS)
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_nothing_is_loaded_and_nothing_runs(render: Render, text: str) -> None:
    attributes = [pair for element in Document(render(text)).elements for pair in element.attributes.items()]
    assert [pair for pair in attributes if not _is_inert(*pair)] == []


@pytest.mark.parametrize("render", DOCUMENTS.values(), ids=DOCUMENTS)
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_is_written_is_utf_8_without_control_characters(render: Render, text: str) -> None:
    html = render(text).encode("utf-8").decode()
    assert [letter for letter in html if ord(letter) < 32 and letter not in "\n\t"] == []


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_changes_no_element(text: str) -> None:
    seen = Document(render_report(report(text)))
    assert (seen.skeleton, seen.comments) == (Document(render_report(report("x"))).skeleton, [])


@pytest.mark.parametrize("render", DOCUMENTS.values(), ids=DOCUMENTS)
def test_no_foreign_element(render: Render) -> None:
    assert [element.tag for element in Document(render("x")).elements if element.tag in FOREIGN] == []


@pytest.mark.parametrize("render", DOCUMENTS.values(), ids=DOCUMENTS)
def test_the_policy_comes_before_anything_it_governs(render: Render) -> None:
    metas = [e for e in Document(render("x")).elements if e.tag in ("meta", "style", "title")]
    places = [e.attributes.get("content") for e in metas]
    assert (places.index(POLICY), metas[0].attributes) == (1, {"charset": "utf-8"})


@pytest.mark.parametrize("render", DOCUMENTS.values(), ids=DOCUMENTS)
def test_the_style_sheet_fetches_nothing(render: Render) -> None:
    (style,) = Document(render("x")).find("style")
    assert [word for word in ("url(", "@import", "@font-face", "http", "<") if word in style.text] == []


@pytest.mark.parametrize("render", DOCUMENTS.values(), ids=DOCUMENTS)
def test_the_first_link_skips_to_the_content(render: Render) -> None:
    seen = Document(render("x"))
    assert (seen.links[0], seen.by_id("content").tag) == ("#content", "main")


@pytest.mark.parametrize("render", DOCUMENTS.values(), ids=DOCUMENTS)
def test_headings_descend_one_level_at_a_time(render: Render) -> None:
    levels = [int(e.tag[1]) for e in Document(render("x")).elements if e.tag in ("h1", "h2", "h3", "h4")]
    steps = [after - before for before, after in pairwise(levels)]
    assert (levels[0], levels.count(1), max(steps)) == (1, 1, 1)


def test_the_same_input_gives_the_same_bytes_in_every_process() -> None:
    code = (
        "import hashlib, report_samples as s; from coherence.report.pages import render_page; "
        "from coherence.report.report import render_report; "
        "made = render_page(s.page('a<b')) + render_report(s.report('a<b')); "
        "print(hashlib.sha256(made.encode()).hexdigest())"
    )
    folder = str(Path(__file__).parent)
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=folder,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert (len(digests), {len(digest) for digest in digests}) == (1, {65})


def _is_inert(name: str, value: str) -> bool:
    if name == "href":
        beside = ("../../report.html", "report.html", "audit.html")
        return value.startswith(("#", "pages/")) or value in beside
    if name == "src":
        return value.startswith("data:image/svg+xml,") and not set(value) & set('<>&"#')
    return not name.startswith("on") and name not in FORBIDDEN
