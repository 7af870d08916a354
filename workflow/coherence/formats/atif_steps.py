"""The steps of one ATIF document: numbered, with thoughts found and results paired."""

from itertools import pairwise
from typing import Any, Final, NamedTuple

from coherence.formats import narrow
from coherence.formats.arguments import read_arguments
from coherence.formats.deviations import Deviations
from coherence.formats.observations import content_text, read_observations, read_results
from coherence.formats.thoughts import GLUED, is_reasoning, place
from coherence.records import Call, Step, StepSource, Subagent

MAX_STEP_ID: Final = 10**9  # larger ids are nonsense
_SOURCES: Final[dict[str, StepSource]] = {
    "system": "system",
    "user": "user",
    "agent": "agent",
    "assistant": "agent",  # this and the next are not ATIF's, but what other formats say
    "human": "user",
}


class Mention(NamedTuple):
    """A reference to a sub-agent, and the step it is made in; None where that step is left out."""

    step: int | None
    reference: dict[str, Any]


class Segment(NamedTuple):
    """What one document gives: the main agent's steps, those of side chains, references to sub-agents."""

    steps: list[Step]
    sidechains: list[Subagent]
    mentions: list[Mention]
    last: int


class SegmentReader:
    """Reads the steps of one document; `after` is the last step number of the segments before it."""

    def __init__(self, agent: str, after: int, notes: Deviations) -> None:
        self._agent = agent
        self._after = after
        self._notes = notes
        self._steps: list[Step] = []
        self._sidechains: dict[str, tuple[int | None, list[Step]]] = {}
        self._mentions: list[Mention] = []
        self._last_reasoning: tuple[object, object] | None = None

    def read(self, raw_steps: list[Any]) -> Segment:
        """Read all steps; copied context is left out."""
        numbers = self._numbers(raw_steps)
        apart = not all(_sidechain(raw) for raw in raw_steps if _source(raw) == "agent")
        for number, raw in zip(numbers, raw_steps, strict=True):
            if isinstance(raw, dict):
                self._read(raw, number, apart)
            else:
                self._notes.add("step_not_object", f"step {number}")
        sidechains = [Subagent(name, parent, tuple(run)) for name, (parent, run) in self._sidechains.items()]
        return Segment(self._steps, sidechains, self._mentions, numbers[-1] if numbers else self._after)

    def _numbers(self, raw_steps: list[Any]) -> list[int]:
        ids: list[Any] = [raw.get("step_id") if isinstance(raw, dict) else None for raw in raw_steps]
        if not _is_rising(ids):
            self._notes.add("step_ids_renumbered")
            ids = list(range(1, len(ids) + 1))
        if not ids or ids[0] > self._after:
            return ids
        return [self._after + number for number in ids]

    def _read(self, raw: dict[str, Any], number: int, apart: bool) -> None:
        copied = raw.get("is_copied_context") is True
        results = read_results(raw.get("observation"), self._notes)
        self._mention(results, None if copied else number)
        if copied:
            self._notes.add("copied_context", f"step {number}")
            return
        chain = _sidechain(raw) if apart else None
        if chain is None:
            self._steps.append(self._step(raw, number, results))
            return
        self._notes.add("sidechain", f"step {number}")
        parent = self._steps[-1].number if self._steps else None
        self._sidechains.setdefault(chain, (parent, []))[1].append(self._step(raw, number, results))

    def _mention(self, results: list[dict[str, Any]], step: int | None) -> None:
        for result in results:
            references = result.get("subagent_trajectory_ref")
            if references is not None:
                references = [references] if isinstance(references, dict) else references
                for reference in narrow.objects(references, "subagent_trajectory_ref", self._notes):
                    self._mentions.append(Mention(step, reference))

    def _step(self, raw: dict[str, Any], number: int, results: list[dict[str, Any]]) -> Step:
        source = _source(raw)
        if source != raw.get("source"):
            self._notes.add("step_source_unknown", f"step {number}")
        timestamp = narrow.text(raw.get("timestamp"), "timestamp", self._notes)
        message = content_text(raw.get("message"), "message", self._notes) or ""
        if source != "agent":
            self._last_reasoning = None
            if raw.get("tool_calls") or raw.get("reasoning_content"):
                self._notes.add("agent_field_elsewhere", f"step {number}")
            observations = read_observations(results, (), number, self._notes)
            return Step(number, source, message, observations=observations, timestamp=timestamp)
        calls = read_calls(raw.get("tool_calls"), self._notes)
        speech = place(message, self._unglued(self._reasoning(raw), number), calls, self._agent)
        observations = read_observations(results, calls, number, self._notes)
        return Step(number, source, speech.message, speech.thoughts, speech.calls, observations, timestamp)

    def _unglued(self, reasoning: str | None, number: int) -> str | None:
        glued = GLUED.match(reasoning) if reasoning else None
        if reasoning is None or glued is None:
            return reasoning
        self._notes.add("glued_none", f"step {number}")
        return reasoning[glued.end() :]

    def _reasoning(self, raw: dict[str, Any]) -> str | None:
        """Return the reasoning, unless it repeats that of the step before in the same turn.

        Writers repeat a turn's reasoning on each of its steps, under one timestamp.
        """
        reasoning = content_text(raw.get("reasoning_content"), "reasoning_content", self._notes)
        if not is_reasoning(reasoning):
            return None
        this = (reasoning, raw.get("timestamp"))
        repeated = this == self._last_reasoning
        self._last_reasoning = this
        return None if repeated else reasoning


def read_calls(raw_calls: object, notes: Deviations) -> tuple[Call, ...]:
    """Return a step's tool calls; lost or odd arguments stay visible."""
    if not raw_calls:
        return ()
    calls = []
    for raw in narrow.objects(raw_calls, "tool_calls", notes):
        name = narrow.text(raw.get("function_name"), "function_name", notes)
        if not name:
            notes.add("call_unnamed")
        call_id = narrow.text(raw.get("tool_call_id"), "tool_call_id", notes)
        calls.append(Call(name or "", read_arguments(raw.get("arguments"), notes), call_id or None))
    return tuple(calls)


def _is_rising(ids: list[Any]) -> bool:
    if not all(type(number) is int and 1 <= number <= MAX_STEP_ID for number in ids):
        return False
    return all(before < after for before, after in pairwise(ids))


def _source(raw: object) -> StepSource:
    source = raw.get("source") if isinstance(raw, dict) else None
    return _SOURCES.get(source, "system") if isinstance(source, str) else "system"


def _sidechain(raw: object) -> str | None:
    """Return the name of the sub-agent a step is marked as belonging to, if any."""
    extra = raw.get("extra") if isinstance(raw, dict) else None
    if not isinstance(extra, dict) or extra.get("is_sidechain") is not True:
        return None
    name = extra.get("agent_id")
    return name if isinstance(name, str) and name else "sidechain"
