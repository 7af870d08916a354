"""mini-swe-agent's `<instance>.traj.json` files at any depth, with SWE-bench reports of their outcome.

Step n is the n-th assistant message; what comes before the first is numbered up to 0, and what follows an
assistant message is its observation. A report is looked for, in this order: `report.json` beside the
trajectory; `logs/**/<instance>/report.json` in its folder or one above; `report.json`, `results_summary.json`
or `results.json` there.
"""

import posixpath
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from coherence.errors import InputError
from coherence.formats import Reading, Source, Unit, narrow
from coherence.formats.deviations import Deviations
from coherence.formats.documents import Document, load
from coherence.formats.fenced import split_reply, without_label
from coherence.formats.folders import base_of, listing, walk
from coherence.formats.identity import existing, relative_key, safe_id
from coherence.formats.observations import content_text, read_observations
from coherence.formats.outcomes import by_reward
from coherence.formats.swe_bench import SUMMARIES, ReportIndex, read_resolved, read_tests
from coherence.formats.thoughts import Speech, is_reasoning, place
from coherence.formats.tool_calls import read_calls
from coherence.formats.verifier_tests import Results, with_tests
from coherence.records import Outcome, Step, Thought, Trajectory, Trial, TrialStatus

SUFFIX: Final = ".traj.json"
SCAFFOLD: Final = "mini-swe-agent"
_RESULT_ROLES: Final = ("user", "tool", "exit", "system")


def discover(root: Path) -> Iterator[Unit]:
    """Yield the trajectories below `root`, sorted by key; an unreadable folder is an InputError."""
    if not root.exists():
        raise InputError(f"{root}: there is no such file or folder")
    base = base_of(root)
    folders = walk(root) if root.is_dir() else [listing(base)]
    keys = [
        relative_key(folder.path / name, base)
        for folder in folders
        for name in folder.files
        if name.endswith(SUFFIX) or name in SUMMARIES
    ]
    index = ReportIndex(keys)
    runs = [key for key in sorted(keys) if key.endswith(SUFFIX)]
    crowd = Counter(posixpath.dirname(key) for key in runs)
    for key in runs:
        if root.is_dir() or key == root.name:
            files = existing(base, (key, *index.for_instance(key, _instance(key))))
            yield Unit(key, files, alone=crowd[posixpath.dirname(key)] == 1)


def read(root: Path, unit: Unit, source: Source) -> Iterator[Reading]:
    """Yield the unit's one reading; never raises for what its files hold."""
    base = base_of(root)
    document = load(base, unit.key)
    problem = document.problem or _problem(document.value)
    value: dict[str, Any] = {} if problem else document.value
    info = narrow.mapping(value.get("info"), "info", document.notes)
    instance = narrow.text(value.get("instance_id"), "instance_id", document.notes) or _instance(unit.key)
    outcome, results, reports = _outcome(base, unit, instance, info)
    steps = () if problem else tuple(read_steps(value["messages"], document.notes))
    status: TrialStatus = "unreadable" if problem else "ok" if steps else "no_trajectory"
    documents = [document, *reports]
    trial = Trial(
        id=safe_id(_instance(unit.key), source.apart + unit.key),
        dataset=source.dataset,
        task=instance,
        attempt=unit.key,
        root=source.root,
        key=unit.key,
        outcome=outcome,
        status=status,
        reason=problem or (None if steps else "the trajectory has no messages"),
        backbone=source.backbone or _model(info),
        scaffold=source.scaffold or SCAFFOLD,
        sources=tuple(item.source for item in documents if item.source is not None),
    )
    deviations = tuple(record for item in documents for record in item.notes.records())
    trajectory = Trajectory(trial, steps) if status == "ok" else None
    yield Reading(trial, trajectory, deviations, tests=results.of(trial.id))


def read_steps(messages: list[Any], notes: Deviations) -> Iterator[Step]:
    """Yield the steps of a run's messages."""
    objects = narrow.objects(messages, "messages", notes)
    replies = [index for index, message in enumerate(objects) if message.get("role") == "assistant"]
    first = replies[0] if replies else len(objects)
    for index, message in enumerate(objects[:first]):
        role = message.get("role")
        text = content_text(message.get("content"), "content", notes) or ""
        yield Step(index - first + 1, "system" if role == "system" else "user", text)
    for number, (start, end) in enumerate(pairwise([*replies, len(objects)]), 1):
        yield _read_turn(objects[start], objects[start + 1 : end], number, notes)


def _read_turn(
    reply: dict[str, Any], following: list[dict[str, Any]], number: int, notes: Deviations
) -> Step:
    text = content_text(reply.get("content"), "content", notes) or ""
    reasoning = content_text(reply.get("reasoning_content"), "reasoning_content", notes)
    calls = tuple(read_calls(reply.get("tool_calls"), notes))
    if calls:
        speech = place(without_label(text), reasoning, calls, SCAFFOLD)
    else:
        speech = _with_reasoning(split_reply(text), reasoning)
    for message in following:
        if message.get("role") not in _RESULT_ROLES:
            notes.add("message_role_unknown", f"after assistant message {number}")
    results = [
        {"content": message.get("content"), "source_call_id": message.get("tool_call_id")}
        for message in following
    ]
    observations = read_observations(results, calls or speech.calls, number, notes)
    return Step(number, "agent", speech.message, speech.thoughts, speech.calls, observations)


def _with_reasoning(speech: Speech, reasoning: str | None) -> Speech:
    if reasoning is None or not is_reasoning(reasoning):
        return speech
    rest = tuple(thought for thought in speech.thoughts if thought.text.strip() != reasoning.strip())
    message = "" if speech.message.strip() == reasoning.strip() else speech.message
    return Speech(message, speech.calls, (Thought(reasoning, "reasoning"), *rest))


def _problem(value: object) -> str | None:
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        return None
    return "not a mini-swe-agent trajectory: it is no object with a list of messages"


def _instance(key: str) -> str:
    return posixpath.basename(key).removesuffix(SUFFIX)


def _model(info: dict[str, Any]) -> str | None:
    notes = Deviations("")
    config = narrow.mapping(info.get("config"), "config", notes)
    model = narrow.mapping(config.get("model"), "config.model", notes)
    return narrow.text(model.get("model_name"), "model_name", notes)


def _outcome(
    base: Path, unit: Unit, instance: str, info: dict[str, Any]
) -> tuple[Outcome, Results, list[Document]]:
    """Return what the first report that names the instance says, its tests, and the reports read for it."""
    status = info.get("exit_status")
    exception = status if isinstance(status, str) and status.lower() not in ("", "submitted") else None
    reports: list[Document] = []
    for key in (key for key in unit.files if key != unit.key):
        report = load(base, key)
        reports.append(report)
        if report.problem is not None:
            report.notes.add("report_unreadable", report.problem)
        resolved = read_resolved(report.value, instance, own=_is_own(key, unit))
        if resolved is not None:
            outcome = by_reward(float(resolved), 1.0, exception=exception)
            results = read_tests(report.value, instance, report.notes, own=_is_own(key, unit))
            return with_tests(outcome, results, report.notes), results, reports
    unknown = by_reward(None, 1.0, "no report says whether it was resolved", exception)
    return unknown, Results(), reports


def _is_own(report: str, unit: Unit) -> bool:
    """Whether a report is about this trajectory alone."""
    folder = posixpath.dirname(report)
    beside = folder == posixpath.dirname(unit.key)
    return posixpath.basename(folder) == _instance(unit.key) or (beside and unit.alone)
