"""Single ATIF files (v1.0 to v1.8), or a folder of them at any depth.

A file that another one names as its continuation or as a sub-agent belongs to that one's unit. Left aside are
hidden files, the JSON files of Harbor's layout that are no trajectories (`NOT_TRAJECTORIES`, `*ctrf.json`),
and what lies in an `agent` folder under another name than `trajectory*.json`.
"""

import re
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Final

from coherence.errors import InputError
from coherence.formats import Reading, Source, Unit
from coherence.formats.atif_document import problem_of, references, resolve, segment_number
from coherence.formats.atif_run import Run, read_run
from coherence.formats.documents import load, read_bytes
from coherence.formats.folders import base_of, listing, walk
from coherence.formats.identity import existing, relative_key, safe_id, trial_name
from coherence.records import Deviation, Outcome, Trajectory, Trial, TrialStatus

NOT_TRAJECTORIES: Final = frozenset(
    {"result.json", "config.json", "lock.json", "reward.json", "agent_error.json", "last_llm_error.json"}
)
_REFERENCE_FIELDS: Final = (b"continued_trajectory_ref", b"trajectory_path")
_POINTS: Final = re.compile(rb'(?:continued_trajectory_ref|trajectory_path)"\s*:\s*"')  # null points nowhere


def discover(root: Path) -> Iterator[Unit]:
    """Yield the runs below `root`, sorted by key; an unreadable folder is an InputError."""
    base = base_of(root)
    if root.is_file():
        keys = [root.name]
        known = {name for name in listing(base).files if name.endswith(".json")}
    elif root.is_dir():
        keys = sorted(_candidates(root))
        known = set(keys)
    else:
        raise InputError(f"{root}: there is no such file or folder")
    pointers = {key: _pointers(base, key, known) for key in keys if key in known}
    pointed = {target for targets in pointers.values() for target in targets}
    covered: set[str] = set()
    units = []
    for key in [*(key for key in keys if key not in pointed), *keys]:
        if key not in covered:  # the second time round: files that only point to each other
            files = _closure(base, key, known, pointers)
            covered.update(files)
            units.append(Unit(key, existing(base, files)))
    yield from sorted(units, key=lambda unit: unit.key)


def read(root: Path, unit: Unit, source: Source) -> Iterator[Reading]:
    """Yield the unit's one reading; never raises for what its files hold."""
    base = base_of(root)
    run = read_run(base, [unit.key], frozenset(unit.files))
    name = trial_name(base, unit.key)
    trial = Trial(
        id=safe_id(name, source.apart + unit.key),
        dataset=source.dataset,
        task=name,
        attempt=unit.key,
        root=source.root,
        key=unit.key,
        outcome=Outcome("unknown", reason="no outcome in this format"),
        status=status_of(run),
        reason=run.problem,
        backbone=source.backbone or run.model,
        scaffold=source.scaffold or run.agent,
        sources=run.sources,
    )
    deviations = run.deviations
    if segment_number(unit.key):
        deviations = (*deviations, Deviation(unit.key, "segment_unreferenced"))
    yield Reading(trial, trajectory_of(trial, run), deviations)


def status_of(run: Run) -> TrialStatus:
    """Return what came of reading a run."""
    if run.problem is None:
        return "ok"
    return "no_trajectory" if run.readable else "unreadable"


def trajectory_of(trial: Trial, run: Run) -> Trajectory | None:
    """Return the run as a trajectory, None where there is nothing to read."""
    return None if run.problem else Trajectory(trial, run.steps, run.subagents)


def _candidates(root: Path) -> Iterator[str]:
    for folder in walk(root):
        for name in folder.files:
            if _is_candidate(folder.path.name, name):
                yield relative_key(folder.path / name, root)


def _is_candidate(folder: str, name: str) -> bool:
    if not name.lower().endswith(".json") or name in NOT_TRAJECTORIES or name.endswith("ctrf.json"):
        return False
    return folder != "agent" or name.startswith("trajectory")


def _pointers(base: Path, key: str, known: Container[str]) -> tuple[str, ...]:
    """Return the known files a file points to; it is parsed only where it holds such a field at all."""
    try:
        data, _ = read_bytes(base, key)
    except (OSError, ValueError):
        return ()
    if not any(field in data for field in _REFERENCE_FIELDS) or not _POINTS.search(data):
        return ()
    document = load(base, key)
    if problem_of(document) is not None:
        return ()
    targets = dict.fromkeys(resolve(key, reference) for reference in references(document.value))
    return tuple(target for target in targets if target in known and target != key)


def _closure(
    base: Path, key: str, known: Container[str], pointers: dict[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """Return the file and all it leads to."""
    found = {key: None}
    waiting = [key]
    while waiting:
        at = waiting.pop()
        if at not in pointers:
            pointers[at] = _pointers(base, at, known)
        new = [target for target in pointers[at] if target not in found]
        found.update(dict.fromkeys(new))
        waiting.extend(new)
    return tuple(found)
