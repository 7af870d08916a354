"""A page and a report in which every string that data can bring is the same given text."""

from coherence.records import (
    Call,
    Judgement,
    Observation,
    Outcome,
    QuoteCheck,
    SourceFile,
    Span,
    Step,
    Thought,
    Transcript,
    Trial,
    Verified,
    VerifierTests,
)
from coherence.report.blocks import (
    Audit,
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
from coherence.report.pages import Page


def trial(text: str = "x", *, id: str = "t1", dataset: str = "d") -> Trial:
    return Trial(
        id=id,
        dataset=dataset,
        task=text,
        attempt=text,
        root=text,
        key=text,
        outcome=Outcome("failed", 0.0, text, text, Verified(0, 1)),
        status="ok",
        backbone=text,
        scaffold=text,
        sources=(SourceFile(text, "00"),),
    )


def span(text: str, quote_end: int | None = None) -> Span:
    """A span on step 1 whose quotes are the first characters of its thought and its observation."""
    end = len(text) if quote_end is None else quote_end
    return Span(
        span_id=1,
        start_step=1,
        end_step=1,
        acknowledgment_step=1,
        acknowledgment_quote=text[:end],
        action_step=1,
        action_quote=text[:end],
        conflict_type="other",
        reasoning=text,
        acknowledgment_check=QuoteCheck("exact", 1, "thought", 0, 0, end),
        action_check=QuoteCheck("exact", 1, "observation", 0, 0, end),
    )


def page(text: str) -> Page:
    step = Step(
        number=1,
        source="agent",
        message=text,
        thoughts=(Thought(text, "reasoning"),),
        calls=(Call(text, {text: text}),),
        observations=(Observation(text),),
        timestamp=text,
    )
    word = Judgement("t1", text, "llm", "flagged", detail=text, summary=text, spans=(span(text),))
    mute = Judgement("t1", text, "llm", "unjudged", reason=text, model=text, reply=text, basis=text)
    return Page(trial(text), Transcript("t1", (step,)), (word, mute), text, VerifierTests("t1", (), (text,)))


def report(text: str, svg: bytes = b"<svg xmlns='http://www.w3.org/2000/svg'/>") -> Report:
    blocks = (
        Table(text, text, (text, text), ((text, text), (text, "1")), note=text, datasets=(text,)),
        Figure(text, text, svg, alt=text, note=text, datasets=(text,)),
        Prose((text,), text, datasets=(text,)),
        SpanList(text, text, (SpanCard(trial(text, id=text, dataset=text), span(text)),), 2, 1, 1, text),
    )
    return Report(
        title=text,
        config=text,
        datasets=(DatasetNote(text, 3, 1, 1, 1, text, text, simulated=text),),
        sections=(Section(text, blocks, text),),
        outcomes=(OutcomeNote(text, 9, 2, 3, 1, 7, 1, note=text, simulated=text),),
        lead=(text,),
        beside=(("audit.html", text),),
        citation=(text,),
        provenance=((text, text),),
    )


def audit(text: str) -> Audit:
    table = Table(text, text, (text, text), ((text, text), (text, "1")), note=text)
    return Audit(text, text, (text,), (Section(text, (table, Prose((text,), text)), text),), (text,))
