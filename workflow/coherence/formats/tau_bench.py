"""tau-bench's result files: a JSON list with a result for each trial of each task, its messages in `traj`.

Each system, user and assistant message is a step, numbered by its place; tool messages are the observations
of the assistant message before them. A crashed trial has an error in its info, no messages and reward 0: as
everywhere the reward decides, and the exception stands beside it. Task ids are numbers within a domain that
no file names, so a task's name holds a digest of what it asks.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from coherence.errors import InputError
from coherence.files import digest, encode
from coherence.formats import Reading, Source, Unit, narrow
from coherence.formats.deviations import Deviations
from coherence.formats.documents import Document, load
from coherence.formats.folders import base_of, walk
from coherence.formats.identity import existing, relative_key, safe_id
from coherence.formats.observations import content_text, read_observations
from coherence.formats.outcomes import by_reward
from coherence.formats.thoughts import place
from coherence.formats.tool_calls import read_calls
from coherence.formats.unreadable import unreadable
from coherence.records import Outcome, Step, StepSource, Trajectory, Trial

SCAFFOLD: Final = "tau-bench"
HEAD: Final = 1 << 20  # bytes in which a file shows what it is
_KEYS: Final = (b'"task_id"', b'"traj"', b'"reward"')
_SOURCES: Final[dict[str, StepSource]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "agent",
}
_MAX_EXCEPTION: Final = 80  # characters; the error's text may be long


def is_results(path: Path) -> bool:
    """Whether a file looks like a list of results; False where it cannot be read."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError:
        return False
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[") and all(key in head for key in _KEYS)


def discover(root: Path) -> Iterator[Unit]:
    """Yield the result file, or each JSON file below a folder, sorted by key."""
    if root.is_file():
        keys = [root.name]
    elif root.is_dir():
        paths = (folder.path / name for folder in walk(root) for name in folder.files)
        keys = sorted(relative_key(path, root) for path in paths if path.suffix == ".json")
    else:
        raise InputError(f"{root}: there is no such file or folder")
    yield from (Unit(key, existing(base_of(root), [key])) for key in keys)


def read(root: Path, unit: Unit, source: Source) -> Iterator[Reading]:
    """Yield a reading for each result; a file that holds no list is one unreadable reading."""
    document = load(base_of(root), unit.key)
    problem = document.problem
    if problem is None and not isinstance(document.value, list):
        problem = "not a tau-bench result file: it is no list"
    if problem is not None:
        sources = () if document.source is None else (document.source,)
        trial = unreadable(unit, source, "the file cannot be read", problem, sources)
        yield Reading(trial, None, document.notes.records())
        return
    seen: set[str] = set()
    notes = document.notes  # what was noted of the file as a whole goes with the first result
    for place_in_list, raw in enumerate(document.value, 1):
        yield _reading(raw, place_in_list, _File(document, unit, source, seen), notes)
        notes = Deviations(unit.key)


class _File:
    """Where a result stands: its file, the dataset, and the names that are taken."""

    def __init__(self, document: Document, unit: Unit, source: Source, seen: set[str]) -> None:
        self.sources = (document.source,) if document.source is not None else ()
        self.unit = unit
        self.source = source
        self.seen = seen

    def name(self, task: str, attempt: str, number: int, notes: Deviations) -> str:
        """Return a result's name, with its place in the list where the name is taken."""
        name = f"task {task} trial {attempt}"
        if name in self.seen:
            notes.add("id_repeated", name)
            name = f"{name} (result {number})"
        self.seen.add(name)
        return name


def _reading(raw: object, number: int, file: _File, notes: Deviations) -> Reading:
    result = narrow.mapping(raw, f"result {number}", notes)
    info = narrow.mapping(result.get("info"), "info", notes)
    task = _task(result, info, number, notes)
    attempt = _number_text(result.get("trial"))
    if attempt is None:
        notes.add("trial_missing", f"result {number}")
        attempt = f"result {number}"
    steps = tuple(read_steps(narrow.items(result.get("traj"), "traj", notes), notes))
    name = file.name(task, attempt, number, notes)
    key = f"{file.unit.key}#{name}"
    trial = Trial(
        id=safe_id(name, file.source.apart + key),
        dataset=file.source.dataset,
        task=task,
        attempt=attempt,
        root=file.source.root,
        key=key,
        outcome=_outcome(result, info, file.source.pass_reward, notes),
        status="ok" if steps else "no_trajectory",
        reason=None if steps else "the result has no messages",
        backbone=file.source.backbone,
        scaffold=file.source.scaffold or SCAFFOLD,
        sources=file.sources,
    )
    return Reading(trial, Trajectory(trial, steps) if steps else None, notes.records())


def _number_text(value: object) -> str | None:
    """Return a number or a word as text."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if abs(value) < 10**18 else None
    return value.strip() or None if isinstance(value, str) else None


def _task(result: dict[str, Any], info: dict[str, Any], number: int, notes: Deviations) -> str:
    task = _number_text(result.get("task_id"))
    if task is None:
        notes.add("task_id_missing", f"result {number}")
        return f"result {number}"
    asked = narrow.mapping(info.get("task"), "info.task", notes)
    told = [asked[name] for name in ("user_id", "instruction") if isinstance(asked.get(name), str)]
    return f"{task}-{digest(encode(told))[:6]}" if told else task


def _outcome(result: dict[str, Any], info: dict[str, Any], pass_reward: float, notes: Deviations) -> Outcome:
    error = info.get("error")
    exception = error.strip()[:_MAX_EXCEPTION] or None if isinstance(error, str) else None
    reward = narrow.number(result.get("reward"), "reward", notes)
    return by_reward(reward, pass_reward, "the result has no reward", exception)


def read_steps(messages: list[Any], notes: Deviations) -> Iterator[Step]:
    """Yield the steps of a run's messages."""
    objects = narrow.objects(messages, "traj", notes)
    number = 0
    waiting: list[dict[str, Any]] = []  # a message of its own, and what it brought back
    for message in objects:
        if waiting and not _opens(message, notes):
            waiting.append(message)
            continue
        if waiting:
            number += 1
            yield _step(waiting, number, notes)
        waiting = [message]
    if waiting:
        yield _step(waiting, number + 1, notes)


def _opens(message: dict[str, Any], notes: Deviations) -> bool:
    """Whether a message is a step; one of an unknown role is taken as a result of the one before."""
    role = message.get("role")
    known = isinstance(role, str) and role in _SOURCES
    if not known and role not in ("tool", "function"):
        notes.add("message_role_unknown")
    return known


def _step(messages: list[dict[str, Any]], number: int, notes: Deviations) -> Step:
    first, *following = messages
    role = first.get("role")
    source = _SOURCES.get(role, "user") if isinstance(role, str) else "user"
    text = content_text(first.get("content"), "content", notes) or ""
    results = [
        {"content": message.get("content"), "source_call_id": message.get("tool_call_id")}
        for message in following
    ]
    if source != "agent":
        return Step(number, source, text, observations=read_observations(results, (), number, notes))
    reasoning = content_text(first.get("reasoning_content"), "reasoning_content", notes)
    calls = tuple(read_calls(first.get("tool_calls"), notes))
    speech = place(text, reasoning, calls, SCAFFOLD)
    observations = read_observations(results, calls, number, notes)
    return Step(number, "agent", speech.message, speech.thoughts, speech.calls, observations)
