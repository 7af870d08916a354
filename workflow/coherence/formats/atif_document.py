"""One ATIF document: whether it is one, what it says of itself, its steps, and what it refers to."""

import posixpath
import re
from collections.abc import Iterator
from typing import Any, Final

from coherence.formats import narrow
from coherence.formats.atif_steps import Segment, SegmentReader
from coherence.formats.deviations import Deviations
from coherence.formats.documents import Document

VERSIONS: Final = frozenset(f"ATIF-v1.{minor}" for minor in range(9))
MAX_SUBAGENT_DEPTH: Final = 20  # sub-agents of sub-agents beyond this are hostile, not real

_CONTINUATION = re.compile(r"\.cont-(\d+)\.json$")


def problem_of(document: Document) -> str | None:
    """Say why a file is no ATIF trajectory, or None where it is one."""
    if document.problem is not None:
        return document.problem
    value = document.value
    if not isinstance(value, dict):
        return f"not an ATIF trajectory: its top level is a {narrow.kind(value)}, not an object"
    steps = value.get("steps")
    if not isinstance(steps, list):
        return "not an ATIF trajectory: it has no list of steps"
    named = str(value.get("schema_version")).startswith("ATIF") or isinstance(value.get("agent"), dict)
    if named or any(isinstance(step, dict) and "source" in step for step in steps):
        return None
    return "not an ATIF trajectory: it names no schema version, no agent and no step's source"


def agent_name(value: dict[str, Any]) -> str:
    """Return the name of a document's agent, "" where there is none."""
    agent = value.get("agent")
    name = agent.get("name") if isinstance(agent, dict) else None
    return name if isinstance(name, str) else ""


def model_name(value: dict[str, Any]) -> str | None:
    """Return the model a document names for its agent, else for its first step that names one."""
    agents = [value.get("agent"), *value["steps"]]
    for named in (agent.get("model_name") for agent in agents if isinstance(agent, dict)):
        if isinstance(named, str) and named not in ("", "unknown"):
            return named
    return None


def read_segment(document: Document, after: int) -> Segment:
    """Read a document's own steps, numbered on from `after`."""
    value, notes = document.value, document.notes
    _note_header(value, notes)
    return SegmentReader(agent_name(value), after, notes).read(value["steps"])


def _note_header(value: dict[str, Any], notes: Deviations) -> None:
    version = narrow.text(value.get("schema_version"), "schema_version", notes)
    if version is None:
        notes.add("schema_version_missing")
    elif version not in VERSIONS:
        notes.add("schema_version_unknown", version[:40])
    if not agent_name(value):
        notes.add("agent_unnamed")
    total = narrow.mapping(value.get("final_metrics"), "final_metrics", notes).get("total_steps")
    if total is not None and total != len(value["steps"]):
        notes.add("total_steps_mismatch", f"{str(total)[:20]}, but {len(value['steps'])} steps")
    partial = narrow.mapping(value.get("extra"), "extra", notes).get("partial_trajectory")
    if partial is not None:
        reason = partial.get("reason") if isinstance(partial, dict) else partial
        notes.add("partial_trajectory", str(reason)[:80])


def embedded(document: Document) -> dict[str, Document]:
    """Return the sub-agents a document embeds, by trajectory_id or, without one, by position."""
    children = narrow.objects(
        document.value.get("subagent_trajectories"), "subagent_trajectories", document.notes
    )
    found: dict[str, Document] = {}
    for position, child in enumerate(children):
        name = child.get("trajectory_id")
        unique = name if isinstance(name, str) and name not in found else f"#{position}"
        found[unique] = document._replace(value=child, source=None)
    return found


def resolve(key: str, reference: str) -> str:
    """Return the key a reference in the file `key` points to; an absolute path counts by its last part."""
    name = posixpath.basename(reference) if posixpath.isabs(reference) else reference
    return posixpath.normpath(posixpath.join(posixpath.dirname(key), name))


def segment_number(key: str) -> int:
    """Return n for a file named as the n-th continuation, else 0."""
    match = _CONTINUATION.search(key)
    return int(match[1]) if match else 0


def references(value: dict[str, Any], depth: int = MAX_SUBAGENT_DEPTH) -> Iterator[str]:
    """Yield each file name a document points to, as a continuation or as a sub-agent."""
    notes = Deviations("")
    paths = [value.get("continued_trajectory_ref")]
    segment = SegmentReader("", 0, notes).read(narrow.items(value.get("steps"), "steps", notes))
    paths += [mention.reference.get("trajectory_path") for mention in segment.mentions]
    yield from (path for path in paths if isinstance(path, str) and path)
    for child in narrow.objects(value.get("subagent_trajectories"), "subagent_trajectories", notes):
        if depth:
            yield from references(child, depth - 1)
