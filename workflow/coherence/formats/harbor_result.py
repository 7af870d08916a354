"""What a Harbor trial's own files say of it: result.json, config.json, the verifier's and exception.txt."""

import re
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple

from coherence.formats import Source, narrow
from coherence.formats.deviations import Deviations
from coherence.formats.documents import Document, load, read_bytes
from coherence.formats.outcomes import by_reward, choose_reward
from coherence.records import Outcome, SourceFile

_EXCEPTION_LINE = re.compile(r"([A-Za-z_][\w.]*)(?::\s|:?$)")
UNNAMED_EXCEPTION: Final = "unnamed exception"
MAX_NAME: Final = 100  # characters of an exception's name


class TrialFiles:
    """The files of one trial: each is read once, its digest and deviations are kept."""

    def __init__(self, base: Path, folder: str, files: tuple[str, ...]) -> None:
        self._base = base
        self.prefix = "" if folder == "." else f"{folder}/"
        self._files = frozenset(files)
        self.sources: list[SourceFile] = []
        self.notes: list[Deviations] = []

    def key(self, name: str) -> str | None:
        """Return the key of a file of the trial that exists."""
        key = f"{self.prefix}{name}"
        return key if key in self._files else None

    def names(self, ending: str) -> tuple[str, ...]:
        """Return the names of the trial's files that end so, sorted; a trial's own before its steps'."""
        names = (key.removeprefix(self.prefix) for key in self._files if key.endswith(ending))
        return tuple(sorted(names, key=lambda name: (name.count("/"), name)))

    def json(self, name: str) -> Document | None:
        """Read one of the trial's JSON files; None where there is none."""
        key = self.key(name)
        if key is None:
            return None
        document = load(self._base, key)
        self.notes.append(document.notes)
        if document.source is not None:
            self.sources.append(document.source)
        return document

    def text(self, name: str) -> tuple[str, Deviations] | None:
        """Read one of the trial's text files, "" where it cannot be read; None where there is none."""
        key = self.key(name)
        if key is None:
            return None
        notes = Deviations(key)
        self.notes.append(notes)
        try:
            data, source = read_bytes(self._base, key)
        except OSError:
            return "", notes
        self.sources.append(source)
        return data.decode("utf-8", "replace"), notes


class TrialResult(NamedTuple):
    """The facts of one trial; each is None where its files do not say."""

    task: str
    attempt: str
    backbone: str | None
    scaffold: str | None
    outcome: Outcome
    steps: tuple[str, ...]
    output_tokens: float | None


def read_result(files: TrialFiles, folder: str, source: Source) -> TrialResult:
    """Read what is known of the trial in the folder of this name."""
    result, notes = _result(files)
    config = narrow.mapping(result.get("config"), "config", notes)
    if not config and (own := files.json("config.json")) is not None:
        config = narrow.mapping(own.value, "config.json", own.notes)
    agent = narrow.mapping(config.get("agent"), "config.agent", notes)
    info = narrow.mapping(result.get("agent_info"), "agent_info", notes)
    model = narrow.mapping(info.get("model_info"), "agent_info.model_info", notes)
    usage = narrow.mapping(result.get("agent_result"), "agent_result", notes)
    steps = narrow.objects(result.get("step_results"), "step_results", notes)
    return TrialResult(
        task=_task(result, config, folder, notes),
        attempt=narrow.text(result.get("trial_name"), "trial_name", notes) or folder,
        backbone=_first_text(notes, model_name=agent.get("model_name"), model_info=model.get("name")),
        scaffold=_first_text(notes, agent_info=info.get("name"), agent=agent.get("name")),
        outcome=_outcome(result, files, source, notes),
        steps=tuple(name for step in steps if isinstance(name := step.get("step_name"), str)),
        output_tokens=narrow.number(usage.get("n_output_tokens"), "n_output_tokens", notes),
    )


def _result(files: TrialFiles) -> tuple[dict[str, Any], Deviations]:
    document = files.json("result.json")
    if document is None:
        files.notes.append(notes := Deviations(files.prefix + "result.json"))
        notes.add("result_missing")
        return {}, notes
    if document.problem is not None or not isinstance(document.value, dict):
        document.notes.add("result_unreadable", document.problem or "its top level is not an object")
        return {}, document.notes
    return document.value, document.notes


def _first_text(notes: Deviations, **values: object) -> str | None:
    texts = (narrow.text(value, field, notes) for field, value in values.items())
    return next(filter(None, texts), None)


def _task(result: dict[str, Any], config: dict[str, Any], folder: str, notes: Deviations) -> str:
    named = narrow.text(result.get("task_name"), "task_name", notes)
    if named:
        return named
    task = narrow.mapping(config.get("task"), "config.task", notes)
    configured = _first_text(notes, name=task.get("name"), path=task.get("path"))
    notes.add("task_from_config" if configured else "task_from_directory")
    return (configured and PurePosixPath(configured).name) or folder


def _outcome(result: dict[str, Any], files: TrialFiles, source: Source, notes: Deviations) -> Outcome:
    exception = _exception(result, files, notes)
    verdict = narrow.mapping(result.get("verifier_result"), "verifier_result", notes)
    rewards = narrow.mapping(verdict.get("rewards"), "rewards", notes)
    if not rewards:
        rewards, notes = _rewards_on_disk(files) or ({}, notes)
    if not rewards:
        reason = f"no reward ({exception})" if exception else "no reward"
        return by_reward(None, source.pass_reward, reason, exception)
    reward, reason = choose_reward(rewards, source.reward_key, notes)
    return by_reward(reward, source.pass_reward, reason, exception)


def _rewards_on_disk(files: TrialFiles) -> tuple[dict[str, Any], Deviations] | None:
    """Return what the verifier wrote; a reward.json wins over a reward.txt."""
    document = files.json("verifier/reward.json")
    if document is not None and isinstance(document.value, dict) and document.value:
        document.notes.add("reward_from_disk")
        return document.value, document.notes
    if document is not None:
        document.notes.add("reward_unreadable", document.problem or "it is not an object with a reward")
    written = files.text("verifier/reward.txt")
    if written is None:
        return None
    text, notes = written
    try:
        reward = float(text)
    except ValueError:
        notes.add("reward_unreadable", "it is not a number")
        return None
    notes.add("reward_from_disk")
    return {"reward": reward}, notes


def _exception(result: dict[str, Any], files: TrialFiles, notes: Deviations) -> str | None:
    steps = narrow.objects(result.get("step_results"), "step_results", notes)
    for record in (result, *steps):
        if record.get("exception_info") is not None:
            info = narrow.mapping(record["exception_info"], "exception_info", notes)
            name = narrow.text(info.get("exception_type"), "exception_type", notes)
            return name[:MAX_NAME] if name else UNNAMED_EXCEPTION
    written = files.text("exception.txt")
    if written is None:
        return None
    for line in reversed(written[0].splitlines()):
        match = _EXCEPTION_LINE.match(line)
        if match:
            return match[1].rpartition(".")[2][:MAX_NAME]
    return UNNAMED_EXCEPTION
