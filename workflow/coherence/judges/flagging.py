"""What an absent quote does to a flag: the one place, for every judge whose spans flag.

keep     the span is kept and does not flag; where no other span is left to flag, nothing has been verified
flag     the span flags all the same
reject   one such span is enough: the judgement is not believed

A judgement that is not believed is unjudged(unverified). Only an absent acknowledgment counts: a quote that
could not be looked up, as in verdicts without text, is not absent. A flag that rests on no span (a rating, a
verdict that does not say where) stands, its spans are marked all the same.
"""

from typing import Literal

from msgspec.structs import replace

from coherence.records import Judgement, Span

AbsentQuote = Literal["keep", "flag", "reject"]


def verified(judgement: Judgement, absent_quote: AbsentQuote, by_spans: bool) -> Judgement:
    """Return the judgement as its quotes bear it out; `by_spans` tells whether its flag rests on spans."""
    spans = tuple(
        replace(span, flags=absent_quote == "flag" or not _absent(span)) for span in judgement.spans
    )
    judgement = replace(judgement, spans=spans)
    absent = sum(not span.flags for span in spans)
    believed = absent == 0 or (absent < len(spans) and absent_quote == "keep")
    if judgement.state != "flagged" or not by_spans or believed:
        return judgement
    why = f"the acknowledgment quotes of {absent} of {len(spans)} spans are not in the transcript"
    detail = "; ".join(filter(None, (judgement.detail, why)))
    return replace(judgement, state="unjudged", reason="unverified", detail=detail)


def _absent(span: Span) -> bool:
    return span.acknowledgment_check.verdict == "absent"
