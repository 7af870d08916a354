"""One row of an annotation sheet: which cells belong together, and what each may hold."""

from collections.abc import Mapping
from typing import Final

import msgspec

from coherence.judges import quotes
from coherence.records import Span, Transcript
from coherence.vocabulary import CONFLICT_TYPES, MAX_CONFIDENCE, MIN_CONFIDENCE

STATES: Final = ("flagged", "unflagged", "unjudged")
SPAN: Final = ("type", "acknowledgment_step", "acknowledgment_quote", "action_step", "action_quote")
FIRST: Final = "write flagged, unflagged or unjudged"


class RowError(ValueError):
    """What is wrong in a row, in which column, and what to do."""

    def __init__(self, row: int, column: str, text: str) -> None:
        super().__init__(f"row {row}, {column}: {text}")


def filled(row: int, cells: Mapping[str, str]) -> None:
    """Raise RowError for a row in which cells are missing, or filled without use."""
    state = cells["state"].lower()
    if state not in STATES:
        said = f"{cells['state']!r} is no state; " if state else "is blank, and other cells are not; "
        raise RowError(row, "state", said + FIRST)
    extra = [name for name in (*SPAN, "confidence") if cells[name]]
    missing = [name for name in SPAN if not cells[name]]
    if state == "flagged" and missing:
        raise RowError(row, missing[0], "is blank; a flag needs its type, both steps and both quotes")
    if state != "flagged" and extra:
        raise RowError(row, extra[0], f"is filled, and the state is {state}; clear it or write flagged")
    if state == "unjudged" and not cells["remark"]:
        raise RowError(row, "remark", "is blank; say why it could not be judged")


def span_of(number: int, row: int, cells: Mapping[str, str], transcript: Transcript) -> Span | None:
    """Return the span of a filled row, None where it is no flag; RowError for what cannot be."""
    if cells["state"].lower() != "flagged":
        return None
    kind = cells["type"].lower().replace(" ", "_")
    if kind not in CONFLICT_TYPES:
        raise RowError(row, "type", f"{cells['type']!r} is none of {', '.join(CONFLICT_TYPES)}")
    known = {step.number for step in transcript.steps}
    acknowledged, acted = (
        _step(row, column, cells[column], known) for column in ("acknowledgment_step", "action_step")
    )
    if acted < acknowledged:
        raise RowError(row, "action_step", f"{acted} comes before the acknowledgment in {acknowledged}")
    span = Span(
        span_id=number,
        start_step=acknowledged,
        end_step=acted,
        acknowledgment_step=acknowledged,
        acknowledgment_quote=cells["acknowledgment_quote"],
        action_step=acted,
        action_quote=cells["action_quote"],
        conflict_type=kind,
        confidence=_confidence(row, cells["confidence"]),
        reasoning=cells["remark"],
    )
    return _as_typed(span, transcript)


def _as_typed(span: Span, transcript: Transcript) -> Span:
    """Return the span, its quotes without the apostrophe that keeps a spreadsheet from calculating them.

    That apostrophe goes only where the quote is found without it and not with it.
    """
    (checked,) = quotes.checked([span], transcript)
    for role, check in (("acknowledgment", checked.acknowledgment_check), ("action", checked.action_check)):
        quote = getattr(span, f"{role}_quote")
        if check.verdict == "absent" and quote.startswith("'"):
            span = msgspec.structs.replace(span, **{f"{role}_quote": quote[1:]})
    return span


def _step(row: int, column: str, text: str, known: set[int]) -> int:
    number = _whole(text)
    if number is None or number not in known:
        raise RowError(row, column, f"{text!r} is no step of this trajectory; write the number on its page")
    return number


def _confidence(row: int, text: str) -> int | None:
    number = _whole(text) if text else None
    if text and (number is None or not MIN_CONFIDENCE <= number <= MAX_CONFIDENCE):
        raise RowError(
            row, "confidence", f"{text!r}; write {MIN_CONFIDENCE} to {MAX_CONFIDENCE}, or leave it blank"
        )
    return number


def _whole(text: str) -> int | None:
    """Return a whole number, also as spreadsheets write it ("3.0"); None where it is none."""
    digits = text.removesuffix(".0")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None
