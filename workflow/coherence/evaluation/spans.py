"""Spans as rows: one flat record a span, in a versioned schema that other tools can read and write."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from coherence.evaluation.render import write_records
from coherence.evaluation.table import Row
from coherence.files import write_lines
from coherence.records import (
    SPAN_SCHEMA,
    Judgement,
    OutcomeStatus,
    QuoteCheck,
    QuoteField,
    QuoteVerdict,
    Record,
    Span,
)
from coherence.vocabulary import ConflictType


def _says(description: str) -> Meta:
    return Meta(description=description)


class SpanRow(Record, frozen=True, kw_only=True, omit_defaults=False):
    """One flagged span; step numbers are the trajectory's own, offsets count characters, null is unknown."""

    schema: Annotated[str, _says(f"always {SPAN_SCHEMA!r}")] = SPAN_SCHEMA
    dataset: Annotated[str, _says("dataset the trajectory belongs to")]
    trajectory: Annotated[str, _says("id of the trajectory within its dataset")]
    task: Annotated[str, _says("task the trajectory is an attempt at")]
    attempt: Annotated[str, _says("which attempt at the task")]
    outcome: Annotated[OutcomeStatus, _says("what came of the attempt; no judge sees it")]
    judge: Annotated[str, _says("who flagged the span")]
    sample: Annotated[int, _says("which of several judgements of the trajectory, from 0")] = 0
    span_id: Annotated[int, _says("number of the span within its judgement")]
    start_step: Annotated[int, _says("first step of the span")]
    end_step: Annotated[int, _says("last step of the span")]
    acknowledgment_step: Annotated[int, _says("step the judge names for the acknowledgment")]
    acknowledgment_quote: Annotated[str, _says("the agent's words that name the conflict")]
    action_step: Annotated[int, _says("step the judge names for the action")]
    action_quote: Annotated[str, _says("the agent's words or call that act against it")]
    conflict_type: Annotated[ConflictType, _says("kind of the conflict")]
    confidence: Annotated[int | None, _says("1 to 5")] = None
    reasoning: Annotated[str, _says("why the judge flags it")] = ""
    acknowledgment_verdict: Annotated[QuoteVerdict, _says("whether the quote stands in the trajectory")]
    acknowledgment_found_step: Annotated[int | None, _says("step in which it was found")] = None
    acknowledgment_field: Annotated[QuoteField | None, _says("field of that step")] = None
    acknowledgment_index: Annotated[int | None, _says("which thought or call of that step, from 0")] = None
    acknowledgment_start: Annotated[int | None, _says("offset of its first character there")] = None
    acknowledgment_end: Annotated[int | None, _says("offset after its last character there")] = None
    action_verdict: Annotated[QuoteVerdict, _says("as acknowledgment_verdict, for the action")]
    action_found_step: Annotated[int | None, _says("as acknowledgment_found_step, for the action")] = None
    action_field: Annotated[QuoteField | None, _says("as acknowledgment_field, for the action")] = None
    action_index: Annotated[int | None, _says("as acknowledgment_index, for the action")] = None
    action_start: Annotated[int | None, _says("as acknowledgment_start, for the action")] = None
    action_end: Annotated[int | None, _says("as acknowledgment_end, for the action")] = None
    flags: Annotated[bool, _says("false where its acknowledgment is absent and it does not count")] = True
    simulated: Annotated[str, _says("what is not real about the dataset, empty for real runs")] = ""


FIELDS: Final = SpanRow.__struct_fields__
_OWN: Final = tuple(name for name in Span.__struct_fields__ if not name.endswith("_check"))


def span_rows(
    judgements: Mapping[str, Iterable[Judgement]], rows: Iterable[Row], simulated: str = ""
) -> Iterator[SpanRow]:
    """Yield the spans of one dataset in the order of judges, rows, samples and spans."""
    order = list(rows)
    for judge, words in judgements.items():
        by_trajectory: dict[str, list[Judgement]] = {}
        for word in sorted(words, key=lambda word: word.sample):
            by_trajectory.setdefault(word.trajectory, []).append(word)
        for row in order:
            for word in by_trajectory.get(row.id, ()):
                for span in word.spans:
                    yield _span_row(row, judge, word.sample, span, simulated)


def span_schema() -> dict[str, Any]:
    """Return the JSON schema of a span row, each field described."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(SpanRow)}


def write_spans(spans: Iterable[SpanRow], folder: Path) -> tuple[Path, Path]:
    """Write spans.csv and spans.jsonl, and return the paths."""
    spans = list(spans)
    table, lines = folder / "spans.csv", folder / "spans.jsonl"
    write_records(table, (msgspec.structs.asdict(span) for span in spans), FIELDS)
    write_lines(lines, spans)
    return table, lines


def _span_row(row: Row, judge: str, sample: int, span: Span, simulated: str) -> SpanRow:
    return SpanRow(
        dataset=row.dataset,
        trajectory=row.id,
        task=row.task,
        attempt=row.attempt,
        outcome=row.outcome,
        judge=judge,
        sample=sample,
        simulated=simulated,
        **{name: getattr(span, name) for name in _OWN},
        **_check("acknowledgment", span.acknowledgment_check),
        **_check("action", span.action_check),
    )


def _check(quote: str, check: QuoteCheck) -> dict[str, Any]:
    return {
        f"{quote}_verdict": check.verdict,
        f"{quote}_found_step": check.step,
        f"{quote}_field": check.field,
        f"{quote}_index": check.index,
        f"{quote}_start": check.start,
        f"{quote}_end": check.end,
    }
