"""Verdicts recorded in a table's row."""

from collections.abc import Mapping
from typing import Final, get_args

from msgspec import structs

from coherence.formats.cells import UNKNOWN, Row
from coherence.records import Judgement, Span, Substrate
from coherence.vocabulary import CONFLICT_TYPES, MAX_CONFIDENCE, MIN_CONFIDENCE, ConflictType

_FLAGGED: Final = frozenset({"flagged"})
_UNFLAGGED: Final = frozenset({"unflagged"})
_SUBSTRATES: Final[dict[str, Substrate]] = {name: name for name in get_args(Substrate)}
_MAX_STEP: Final = 10**9


def read_judgement(
    row: Row, trajectory: str, judge: str, columns: Mapping[str, str], basis: str
) -> Judgement:
    """Return the verdict of one judge on the row's trajectory; an empty cell is unjudged, not unflagged.

    A verdict with a rating and no column for the flag is unjudged too, and its rating is read by itself.
    """
    flagged = row.truth(columns.get("flagged"), _FLAGGED, _UNFLAGGED)
    rating = row.whole(columns.get("rating"), MIN_CONFIDENCE, MAX_CONFIDENCE)
    substrate = _substrate(row, columns.get("substrate"))
    common = Judgement(
        trajectory, judge, "recorded", "unflagged", rating=rating, substrate=substrate, basis=basis
    )
    if flagged is None:
        word = row.text(columns.get("flagged")) or ""
        silent = "rating only" if rating is not None and "flagged" not in columns else "missing"
        reason = row.text(columns.get("reason")) or (silent if word.lower() in UNKNOWN else "unparsable")
        return structs.replace(common, state="unjudged", reason=reason)
    if not flagged:
        return common
    spans = _spans(row, columns)
    return structs.replace(common, state="flagged", spans=spans, spans_known=bool(spans))


def _substrate(row: Row, column: str | None) -> Substrate:
    word = (row.text(column) or "unknown").lower()
    if word not in _SUBSTRATES:
        row.note(column, word)
    return _SUBSTRATES.get(word, "unknown")


def _spans(row: Row, columns: Mapping[str, str]) -> tuple[Span, ...]:
    acknowledged = row.whole(columns.get("acknowledgment_step"), -_MAX_STEP, _MAX_STEP)
    acted = row.whole(columns.get("action_step"), -_MAX_STEP, _MAX_STEP)
    confidence = row.whole(columns.get("confidence"), MIN_CONFIDENCE, MAX_CONFIDENCE)
    types = _conflict_types(row, columns.get("type"))
    if acknowledged is None or acted is None:
        return ()
    return tuple(
        Span(
            span_id=number,
            start_step=min(acknowledged, acted),
            end_step=max(acknowledged, acted),
            acknowledgment_step=acknowledged,
            acknowledgment_quote="",
            action_step=acted,
            action_quote="",
            conflict_type=conflict_type,
            confidence=confidence,
        )
        for number, conflict_type in enumerate(types, 1)
    )


def _conflict_types(row: Row, column: str | None) -> list[ConflictType]:
    """Return the types a cell names; "other" where it names none or one that is not in the vocabulary."""
    names = [name.strip() for name in (row.text(column) or "other").split(";")]
    for name in names:
        if name not in CONFLICT_TYPES:
            row.note(column, name)
    return [name if name in CONFLICT_TYPES else "other" for name in names]
