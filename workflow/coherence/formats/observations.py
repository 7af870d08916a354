"""What came back from tool calls: content as text, and each result paired with its call."""

from collections.abc import Sequence
from typing import Any

from coherence.formats import narrow
from coherence.formats.deviations import Deviations
from coherence.formats.thoughts import THINK_ACKNOWLEDGMENT, think_text
from coherence.records import Call, Observation

_SILENT_CALLS = {"think", "finish"}  # scaffolds record no result of these


def content_text(content: object, field: str, notes: Deviations) -> str | None:
    """Return content as text: parts joined by lines, images and audio as placeholders."""
    if isinstance(content, list):
        return "\n".join(_part_text(part, notes) for part in content)
    return narrow.text(content, field, notes)


def _part_text(part: object, notes: Deviations) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        kind, source = part.get("type"), part.get("source")
        if kind == "text":
            return narrow.text(part.get("text"), "text", notes) or ""
        if kind in ("image", "audio") and isinstance(source, dict):
            return f"[{kind}: {source.get('media_type')} {source.get('path')}]"
    notes.add("content_part_unknown")
    return "[part of unknown type]"


def read_results(raw: object, notes: Deviations) -> list[dict[str, Any]]:
    """Return the result objects of a step's raw observation."""
    return narrow.objects(narrow.mapping(raw, "observation", notes).get("results"), "results", notes)


def read_observations(
    results: Sequence[dict[str, Any]], calls: Sequence[Call], step: int, notes: Deviations
) -> tuple[Observation, ...]:
    """Return the observations in file order, each with the id of its call; think acknowledgments dropped."""
    read = [
        Observation(
            content_text(result.get("content"), "content", notes),
            narrow.text(result.get("source_call_id"), "source_call_id", notes) or None,
        )
        for result in results
    ]
    if not read and not calls:
        return ()
    _note_oddities(read, calls, step, notes)
    paired = _pair(read, calls)
    thinks = {call.call_id for call in calls if think_text(call) is not None}
    return tuple(result for result in paired if not (thinks and _is_acknowledgment(result, thinks)))


def _pair(results: list[Observation], calls: Sequence[Call]) -> list[Observation]:
    """Give results without id the ids of the calls without result, where there are as many."""
    if all(result.call_id is not None for result in results):
        return results
    named = {result.call_id for result in results}
    waiting = [call.call_id for call in calls if call.call_id not in named or call.call_id is None]
    if len(waiting) != sum(result.call_id is None for result in results):
        return results
    ids = iter(waiting)
    return [
        result if result.call_id is not None else Observation(result.text, next(ids)) for result in results
    ]


def _is_acknowledgment(result: Observation, thinks: set[str | None]) -> bool:
    text = (result.text or "").strip()
    return text == THINK_ACKNOWLEDGMENT or (not text and result.call_id in thinks)


def _note_oddities(results: list[Observation], calls: Sequence[Call], step: int, notes: Deviations) -> None:
    ids = [call.call_id for call in calls if call.call_id is not None]
    if len(set(ids)) < len(ids):
        notes.add("call_id_repeated", f"step {step}")
    named = {result.call_id for result in results}
    if not named - {None} <= set(ids):
        notes.add("observation_of_unknown_call", f"step {step}")
    if None not in named and any(
        call.call_id not in named and call.name.lower() not in _SILENT_CALLS for call in calls
    ):
        notes.add("call_without_observation", f"step {step}")
