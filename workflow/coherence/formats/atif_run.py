"""One ATIF run read whole: its segments joined, its sub-agents found, all from a known list of files.

A reference is only ever looked up in that list, so that none can lead outside the dataset.
"""

from collections.abc import Container, Iterable
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from coherence.formats import narrow
from coherence.formats.atif_document import (
    MAX_SUBAGENT_DEPTH,
    agent_name,
    embedded,
    model_name,
    problem_of,
    read_segment,
    resolve,
)
from coherence.formats.atif_steps import Mention, Segment
from coherence.formats.documents import Document, load
from coherence.records import Deviation, SourceFile, Step, Subagent

Part = tuple[Document, Segment]


class Run(NamedTuple):
    """A run as read; `problem` says why there are no steps, `readable` that it is not for a broken file."""

    steps: tuple[Step, ...]
    subagents: tuple[Subagent, ...]
    agent: str | None
    model: str | None
    problem: str | None
    readable: bool
    sources: tuple[SourceFile, ...]
    deviations: tuple[Deviation, ...]


class _Parent(NamedTuple):
    """Where a sub-agent hangs: the files and names above it, and below another sub-agent the main step."""

    files: tuple[str, ...]
    prefix: str = ""
    step: int | None = None

    def below(self, step: int | None) -> int | None:
        """Return the main agent's step for something found in this step of the parent."""
        return self.step if self.prefix else step


def read_run(base: Path, heads: Iterable[str], files: Container[str]) -> Run:
    """Read the run whose parts start with these files: one, or one for each step of a multi-step task."""
    return _RunReader(base, files).read(heads)


class _RunReader:
    def __init__(self, base: Path, files: Container[str]) -> None:
        self._base = base
        self._files = files
        self._documents: dict[str, Document] = {}
        self._subagents: list[Subagent] = []

    def read(self, heads: Iterable[str]) -> Run:
        parts: list[Part] = []
        problems: list[str] = []
        for head in heads:
            document = self._load(head)
            problem = problem_of(document)
            if problem is None:
                parts += self._segments(document, parts[-1][1].last if parts else 0)
            else:
                problems.append(problem)
                document.notes.add("trajectory_unreadable", problem)
        for document, segment in parts:
            self._find_subagents(document, segment, _Parent((document.key,)))
        steps = tuple(step for _, segment in parts for step in segment.steps)
        empty = "the trajectory has no steps" if parts else "there is no trajectory file"
        documents = self._documents.values()
        return Run(
            steps=steps,
            subagents=tuple(self._subagents),
            agent=next(filter(None, (agent_name(document.value) for document, _ in parts)), None),
            model=next(filter(None, (model_name(document.value) for document, _ in parts)), None),
            problem=None if steps else (problems or [empty])[0],
            readable=not problems or bool(parts),
            sources=tuple(document.source for document in documents if document.source is not None),
            deviations=tuple(record for document in documents for record in document.notes.records()),
        )

    def _load(self, key: str) -> Document:
        self._documents[key] = load(self._base, key)
        return self._documents[key]

    def _segments(self, head: Document, after: int) -> list[Part]:
        parts: list[Part] = []
        document: Document | None = head
        while document is not None:
            segment = read_segment(document, after)
            parts.append((document, segment))
            after = segment.last
            document = self._following(document)
        return parts

    def _following(self, document: Document) -> Document | None:
        field = "continued_trajectory_ref"
        reference = narrow.text(document.value.get(field), field, document.notes)
        if not reference:
            return None
        key = resolve(document.key, reference)
        if key not in self._files:
            document.notes.add("segment_missing", reference)
            return None
        if key in self._documents:
            document.notes.add("segment_cycle", reference)
            return None
        following = self._load(key)
        problem = problem_of(following)
        if problem is not None:
            document.notes.add("segment_unreadable", f"{reference}: {problem}")
            return None
        return following

    def _find_subagents(self, document: Document, segment: Segment, parent: _Parent) -> None:
        for chain in segment.sidechains:
            step = parent.below(chain.parent_step)
            self._subagents.append(Subagent(parent.prefix + chain.name, step, chain.steps))
        children = embedded(document)
        mentioned: set[str] = set()
        for mention in segment.mentions:
            name = mention.reference.get("trajectory_id")
            if not isinstance(name, str) or name not in children:
                self._add_mentioned_file(mention, document, parent)
            elif name not in mentioned:
                mentioned.add(name)
                self._add(children[name], parent, mention.step)
        for name, child in children.items():
            if name not in mentioned:
                self._add(child, parent, None)

    def _add_mentioned_file(self, mention: Mention, document: Document, parent: _Parent) -> None:
        path = narrow.text(mention.reference.get("trajectory_path"), "trajectory_path", document.notes)
        key = resolve(document.key, path) if path else ""
        if key in parent.files:
            document.notes.add("subagent_cycle", key)
        elif key not in self._files:
            document.notes.add("subagent_missing", path or "a reference without trajectory_path")
        elif key not in self._documents:
            self._add(self._load(key), parent, mention.step)

    def _add(self, child: Document, parent: _Parent, step: int | None) -> None:
        problem = problem_of(child)
        if len(parent.files) > MAX_SUBAGENT_DEPTH:
            problem = "sub-agents are nested too deeply"
        if problem is not None:
            child.notes.add("subagent_unreadable", problem)
            return
        parts = self._segments(child, 0)
        name = parent.prefix + (agent_name(child.value) or PurePosixPath(child.key).stem)
        steps = tuple(step for _, segment in parts for step in segment.steps)
        self._subagents.append(Subagent(name, parent.below(step), steps))
        below = _Parent((*parent.files, child.key), f"{name}/", parent.below(step))
        for document, segment in parts:
            self._find_subagents(document, segment, below)
