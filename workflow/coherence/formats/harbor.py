"""Harbor job folders: one job, many at any depth, or one trial folder; each trial is a unit.

A trial folder has a result.json, an agent/trajectory.json, or a config.json beside other traces of a trial.
Read are only its result.json and config.json, the verifier's reward files and ctrf.json, exception.txt and
the files `trajectory*.json` in its `agent` folder, or for multi-step tasks in `steps/*/agent`, with
`steps/*/verifier/ctrf.json`.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

from coherence.errors import InputError
from coherence.formats import Reading, Source, Unit
from coherence.formats.atif import status_of, trajectory_of
from coherence.formats.atif_document import segment_number
from coherence.formats.atif_run import Run, read_run
from coherence.formats.folders import Listing, Seen, listing
from coherence.formats.harbor_result import TrialFiles, TrialResult, read_result
from coherence.formats.harbor_tests import read_tests, test_files
from coherence.formats.identity import existing, relative_key, safe_id
from coherence.records import Deviation, Step, Trial

TRIAL_FILES: Final = (
    "result.json",
    "config.json",
    "exception.txt",
    "verifier/reward.json",
    "verifier/reward.txt",
)
_TRACE_FILES: Final = {"trial.log", "exception.txt"}
_TRACE_FOLDERS: Final = {"agent", "verifier", "steps", "artifacts"}
_JOB_FIELD: Final = b'"n_total_trials"'
_HEAD_BYTES: Final = 4096  # a job's result.json has the field among its first
FEW_STEPS: Final = 2  # so few agent steps may be an adapter's stub of a longer run
MAX_TOKENS_PER_CHARACTER: Final = 10  # more than hidden reasoning explains
_STEP_FOLDER = re.compile(r"(?:^|/)steps/([^/]+)/agent$")


def discover(root: Path) -> Iterator[Unit]:
    """Yield the trials below `root`, sorted by key; an unreadable folder is an InputError."""
    if not root.is_dir():
        raise InputError(f"{root}: there is no such folder; a Harbor dataset is a folder of jobs")
    seen = Seen()
    waiting, trials, unsure = [root], [], []
    while waiting:
        path = waiting.pop()
        if not seen.first(path):
            continue
        here = listing(path)
        kind = _kind(here)
        if kind == "trial":
            trials.append(path)
        else:
            waiting.extend(path / name for name in reversed(here.folders))
        if kind == "unsure":
            unsure.append(path)
    jobs = {parent for path in (*trials, *unsure) for parent in path.parents}
    trials += [path for path in unsure if path not in jobs]
    yield from sorted((_unit(root, path) for path in trials), key=lambda unit: unit.key)


def _kind(here: Listing) -> Literal["trial", "unsure", "other"]:
    """Tell a trial folder from a job folder, which has files of the same names."""
    files, folders = set(here.files), set(here.folders)
    traces = bool(files & _TRACE_FILES or folders & _TRACE_FOLDERS)
    if "job.log" in files:
        return "other"
    if traces and files & {"result.json", "config.json"}:
        return "trial"
    if folders & _TRACE_FOLDERS and _trajectories(here.path):
        return "trial"
    if "result.json" in files and not _is_job_result(here.path / "result.json"):
        return "unsure"
    return "other"


def _is_job_result(path: Path) -> bool:
    if not path.is_file():  # opening a pipe would wait for ever
        return False
    try:
        with path.open("rb") as file:
            return _JOB_FIELD in file.read(_HEAD_BYTES)
    except OSError:
        return False


def _unit(root: Path, trial: Path) -> Unit:
    paths = [*(trial / name for name in TRIAL_FILES), *test_files(trial), *_trajectories(trial)]
    return Unit(relative_key(trial, root), existing(root, (relative_key(path, root) for path in paths)))


def _trajectories(trial: Path) -> list[Path]:
    folders = [trial / "agent"]
    if (trial / "steps").is_dir():
        folders += [trial / "steps" / name / "agent" for name in listing(trial / "steps").folders]
    return [path for folder in folders if folder.is_dir() for path in _json_files(folder)]


def _json_files(folder: Path) -> list[Path]:
    try:
        names = listing(folder).files
    except InputError:  # an agent may have closed its own folder; the trial counts all the same
        return []
    return [folder / name for name in names if name.startswith("trajectory") and name.endswith(".json")]


def read(root: Path, unit: Unit, source: Source) -> Iterator[Reading]:
    """Yield the trial's one reading; never raises for what its files hold."""
    folder = (root.absolute() / unit.key).name
    files = TrialFiles(root, unit.key, unit.files)
    result = read_result(files, folder, source)
    run = read_run(root, _heads(unit, result.steps), frozenset(unit.files))
    outcome, tests = read_tests(files, result.outcome)
    exception = outcome.exception
    trial = Trial(
        id=safe_id(folder, source.apart + unit.key),
        dataset=source.dataset,
        task=result.task,
        attempt=result.attempt,
        root=source.root,
        key=unit.key,
        outcome=outcome,
        status=status_of(run),
        reason=f"{run.problem} ({exception})" if run.problem and exception else run.problem,
        backbone=source.backbone or result.backbone or run.model,
        scaffold=source.scaffold or result.scaffold or run.agent,
        sources=(*files.sources, *run.sources),
    )
    own = (record for notes in files.notes for record in notes.records())
    deviations = (*own, *run.deviations, *_compare(unit, run, result))
    yield Reading(trial, trajectory_of(trial, run), deviations, tests=tests.of(trial.id))


def _heads(unit: Unit, steps: Sequence[str]) -> list[str]:
    """Return the first file of each part of the run: the trial's own, then each step's in their order."""
    heads: dict[str, str] = {}
    for key in unit.files:
        folder, name = posixpath.split(key)
        if posixpath.basename(folder) == "agent" and (name == "trajectory.json" or segment_number(name)):
            heads[folder] = min(heads.get(folder, key), key, key=segment_number)
    return [heads[folder] for folder in sorted(heads, key=lambda folder: _part_order(folder, steps))]


def _part_order(folder: str, steps: Sequence[str]) -> tuple[int, str]:
    match = _STEP_FOLDER.search(folder)
    if match is None:
        return -1, folder
    return (steps.index(match[1]) if match[1] in steps else len(steps)), folder


def _compare(unit: Unit, run: Run, result: TrialResult) -> Iterator[Deviation]:
    """Yield where the trial's files do not agree with each other."""
    read = {source.path for source in run.sources}
    heads = _heads(unit, result.steps)
    for key in unit.files:
        if segment_number(key) and (key in heads or key not in read):
            yield Deviation(key, "segment_unreferenced")
    if not heads or not run.readable:
        return
    if result.backbone and run.model and _bare(result.backbone) != _bare(run.model):
        yield Deviation(heads[0], "model_mismatch", f"{run.model}, but {result.backbone} in result.json")
    agent_steps = [step for step in run.steps if step.source == "agent"]
    tokens = result.output_tokens or 0
    if len(agent_steps) <= FEW_STEPS and tokens > MAX_TOKENS_PER_CHARACTER * _characters(agent_steps):
        detail = f"{len(agent_steps)} agent steps for {tokens:.0f} tokens"
        yield Deviation(heads[0], "trajectory_too_short", detail)


def _bare(model: str) -> str:
    return model.rpartition("/")[2].lower()


def _characters(steps: Iterable[Step]) -> int:
    texts = (text for step in steps for text in (step.message, *(thought.text for thought in step.thoughts)))
    arguments = (str(call.arguments) for step in steps for call in step.calls)
    return sum(map(len, (*texts, *arguments)))
