import csv
import io
from pathlib import Path

import pytest

from coherence.evaluation.spans import FIELDS, SpanRow, span_rows, span_schema, write_spans
from coherence.evaluation.table import Row
from coherence.files import read_lines
from coherence.records import SPAN_SCHEMA, Judgement, QuoteCheck, Span

HOSTILE = 'says "=1+1", then | $x$ & <b>\n\ttwo lines, é, \u202e, \x1b[31m'


def span(number: int, quote: str = "the sizes differ") -> Span:
    return Span(
        span_id=number,
        start_step=3,
        end_step=7,
        acknowledgment_step=3,
        acknowledgment_quote=quote,
        action_step=7,
        action_quote="upload",
        conflict_type="constraint_vs_derivation",
        confidence=None,
        reasoning="never settled",
        acknowledgment_check=QuoteCheck("wrong_step", 4, "thought", 1, 10, 26),
    )


def judged(trajectory: str, *spans: Span, sample: int = 0) -> Judgement:
    return Judgement(trajectory, "detector", "llm", "flagged", spans=spans, sample=sample)


def row(name: str) -> Row:
    return Row(name, "set", f"task of {name}", "2", "failed", "ok")


def test_a_span_as_a_row() -> None:
    (made,) = span_rows({"detector": [judged("a", span(1))]}, [row("a")], "planted")
    assert (made.schema, made.dataset, made.trajectory, made.task) == (SPAN_SCHEMA, "set", "a", "task of a")
    assert (made.judge, made.span_id, made.confidence, made.simulated) == ("detector", 1, None, "planted")
    assert (made.acknowledgment_step, made.acknowledgment_found_step) == (3, 4)
    assert (made.acknowledgment_verdict, made.acknowledgment_start, made.acknowledgment_end) == (
        "wrong_step",
        10,
        26,
    )
    assert (made.action_verdict, made.action_found_step) == ("not_checkable", None)


def test_spans_come_by_judge_row_sample_and_span() -> None:
    judgements = {
        "detector": [judged("b", span(1), span(2)), judged("a", span(1), sample=1), judged("a", span(1))],
        "rules": [judged("a", span(5))],
    }
    made = [(r.judge, r.trajectory, r.sample, r.span_id) for r in span_rows(judgements, [row("a"), row("b")])]
    assert made == [
        ("detector", "a", 0, 1),
        ("detector", "a", 1, 1),
        ("detector", "b", 0, 1),
        ("detector", "b", 0, 2),
        ("rules", "a", 0, 5),
    ]


def test_both_files_hold_hostile_quotes_unchanged(tmp_path: Path) -> None:
    spans = list(span_rows({"detector": [judged("a", span(1, HOSTILE))]}, [row("a")]))
    table, lines = write_spans(spans, tmp_path)
    assert list(read_lines(lines, SpanRow)) == spans
    (record,) = csv.DictReader(io.StringIO(table.read_text("utf-8"), newline=""))
    assert record["acknowledgment_quote"] == HOSTILE
    assert tuple(record) == FIELDS


def test_every_line_names_its_schema_and_every_field(tmp_path: Path) -> None:
    _, lines = write_spans(span_rows({"detector": [judged("a", span(1))]}, [row("a")]), tmp_path)
    (line,) = read_lines(lines, dict)
    assert set(line) == set(FIELDS)
    assert line["schema"] == "coherence/span/1"


def test_no_spans_are_a_header_and_an_empty_file(tmp_path: Path) -> None:
    table, lines = write_spans([], tmp_path)
    assert table.read_text("utf-8") == ",".join(FIELDS) + "\n"
    assert lines.read_bytes() == b""


@pytest.mark.parametrize("field", FIELDS)
def test_the_schema_describes_every_field(field: str) -> None:
    assert span_schema()["$defs"]["SpanRow"]["properties"][field]["description"]
