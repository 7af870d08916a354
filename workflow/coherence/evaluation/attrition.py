"""From trials found to trajectories compared: what is missing, and why (paper, section 3.1)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from coherence.records import Entry, Record, Trial

SUPERSEDED: Final = "superseded by a retry"
NOT_NEEDED: Final = "retry of a task without a crashed trial left"


class Missing(Record, frozen=True):
    """One trial without a place in the comparison."""

    dataset: str
    trajectory: str
    task: str
    root: str
    key: str
    outcome: str
    why: str
    detail: str = ""


class Attrition(Record, frozen=True):
    """How many trials of a dataset share one fate, and what outcome they have."""

    dataset: str
    fate: str
    n: int
    of: int
    passed: int = 0
    failed: int = 0
    unknown: int = 0


def is_crashed(trial: Trial) -> bool:
    """Whether a trial came to nothing: no trajectory to read, or an exception and no outcome."""
    no_outcome = trial.outcome.status == "unknown" and trial.outcome.exception is not None
    return trial.status in ("no_trajectory", "unreadable") or no_outcome


def by_task(trials: Iterable[Trial]) -> dict[str, list[Trial]]:
    """Return the trials of each task, in the order of their keys."""
    groups: dict[str, list[Trial]] = defaultdict(list)
    for trial in sorted(trials, key=lambda trial: trial.key):
        groups[trial.task].append(trial)
    return groups


def exclusions(entries: Sequence[Entry], retry_of: Mapping[str, str]) -> dict[str, str]:
    """Return why each trial that a retry concerns is left out, by trial id.

    `retry_of` maps a retry's dataset path to the path it retries. Each crashed trial gives its place to one
    retry of the same task (usable retries first); a retry that finds no crashed trial is left out itself, for
    it was drawn in knowledge of the outcome.
    """
    trials = [entry.trial for entry in entries]
    left_out: dict[str, str] = {}
    for retry_root, root in retry_of.items():
        retries = by_task(trial for trial in trials if trial.root == retry_root)
        originals = by_task(trial for trial in trials if trial.root == root and is_crashed(trial))
        for task, attempts in retries.items():
            crashed = [trial for trial in originals.get(task, []) if trial.id not in left_out]
            ranked = sorted(attempts, key=is_crashed)
            left_out |= {trial.id: SUPERSEDED for trial in crashed[: len(ranked)]}
            left_out |= {trial.id: NOT_NEEDED for trial in ranked[len(crashed) :]}
    return left_out


def fate(entry: Entry, left_out: Mapping[str, str]) -> str:
    """Return what became of a trial: why it is left out, or how it is compared."""
    trial = entry.trial
    if trial.id in left_out:
        return left_out[trial.id]
    if trial.status in ("no_trajectory", "unreadable"):
        after = f" after {trial.outcome.exception}" if trial.outcome.exception else ""
        return f"{trial.status.replace('_', ' ')}{after}"
    kind = "no text, features and verdicts only" if trial.status == "no_text" else "trajectory"
    return f"{kind}, outcome {'unknown' if trial.outcome.status == 'unknown' else 'known'}"


def missing(entries: Iterable[Entry], left_out: Mapping[str, str]) -> list[Missing]:
    """Return one row for each trial that is not compared, or whose outcome is unknown."""
    return [
        Missing(
            dataset=entry.trial.dataset,
            trajectory=entry.trial.id,
            task=entry.trial.task,
            root=entry.trial.root,
            key=entry.trial.key,
            outcome=entry.trial.outcome.status,
            why=fate(entry, left_out),
            detail=entry.trial.reason or entry.trial.outcome.reason or "",
        )
        for entry in entries
        if not fate(entry, left_out).endswith("outcome known")
    ]


def attrition(dataset: str, entries: Sequence[Entry], left_out: Mapping[str, str]) -> list[Attrition]:
    """Return the number of trials of each fate, the most frequent first; they add up to all trials."""
    fates: dict[str, Counter[str]] = defaultdict(Counter)
    for entry in entries:
        fates[fate(entry, left_out)][entry.trial.outcome.status] += 1
    ordered = sorted(fates.items(), key=lambda item: (-item[1].total(), item[0]))
    return [Attrition(dataset, name, counts.total(), len(entries), **counts) for name, counts in ordered]
