"""Outcomes of what this workflow itself ingests and judges: repeated attempts, and repeated judgements."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from coherence.incoherence.contract import Counted
from coherence.incoherence.outcomes import Outcomes, conform
from coherence.incoherence.verifier_vectors import ReadTests, vectors
from coherence.records import Entry, Judgement

NO_REPEATS: Final = "no task was attempted twice by one group"
ASKED_ONCE: Final = "the judge was asked once"
NO_TESTS: Final = "no result of any test, but other attempts have some (kept)"
STEPS_FEATURE: Final = "agent_steps"  # what table-only datasets call the agent's steps, if they bring them


def from_entries(
    dataset: str, entries: Sequence[Entry], exclusions: Mapping[str, str], read: ReadTests = lambda _: None
) -> Outcomes:
    """Return the trials of a dataset in which some task has two attempts, else none of them and why.

    A trial is one attempt; a group is a scaffold with its backbone. `exclusions` gives by
    trial id why a trial takes no part. Trials without a trajectory count: they have an outcome.
    `read` returns the single tests of a trial.
    """
    left_out = Counter(exclusions[e.trial.id] for e in entries if e.trial.id in exclusions)
    kept = [entry for entry in entries if entry.trial.id not in exclusions]
    rows = [_attempt(entry) for entry in kept]
    counted = [Counted(dataset, reason, count, "trials") for reason, count in sorted(left_out.items())]
    often = Counter((row["group"], row["task"]) for row in rows)
    _name_apart(rows)
    if max(often.values(), default=0) < 2:
        return Outcomes(
            conform(pd.DataFrame()), (*counted, Counted(dataset, NO_REPEATS, len(rows), "trials"))
        )
    reasons = Counter(e.trial.outcome.reason or "" for e in _unknown(entries, exclusions))
    counted += [
        Counted(dataset, f"outcome unknown (kept): {reason or 'no reason given'}", count, "trials")
        for reason, count in sorted(reasons.items())
    ]
    tests = vectors(kept, read)
    for row in rows:
        row["tests"] = tests.get(row["trial"])
    if tests and len(tests) < len(rows):
        counted.append(Counted(dataset, NO_TESTS, len(rows) - len(tests), "trials"))
    return Outcomes(conform(pd.DataFrame(rows)), tuple(counted))


def _name_apart(rows: Sequence[dict[str, Any]]) -> None:
    """Name the attempts by their trials where two of one task have the same name."""
    names = Counter((row["group"], row["task"], row["attempt"]) for row in rows)
    for row in rows if max(names.values(), default=0) > 1 else ():
        row["attempt"] = row["trial"]


def _unknown(entries: Iterable[Entry], exclusions: Mapping[str, str]) -> Iterator[Entry]:
    for entry in entries:
        if entry.trial.id not in exclusions and entry.trial.outcome.status == "unknown":
            yield entry


def _attempt(entry: Entry) -> dict[str, Any]:
    trial, outcome = entry.trial, entry.trial.outcome
    is_read = trial.status == "ok"
    known = outcome.status != "unknown"
    named = [name for name in (trial.scaffold, trial.backbone) if name]
    return {
        "dataset": trial.dataset,
        "group": " ".join(named) or trial.dataset,
        "scaffold": trial.scaffold,
        "backbone": trial.backbone,
        "task": trial.task,
        "attempt": trial.attempt,
        "trial": trial.id,
        "passed": outcome.status == "passed" if known else None,
        "reward": outcome.reward,
        "steps": entry.agent_steps if is_read else entry.features.get(STEPS_FEATURE),
        "calls": entry.calls if is_read else None,
        "stop_reason": outcome.exception,
        "trajectory": trial.id if is_read or trial.status == "no_text" else None,
    }


def from_judgements(
    dataset: str, judge: str, words: Sequence[Judgement], reference: Mapping[str, Judgement] | None = None
) -> Outcomes:
    """Return the samples of a judge that was asked more than once: how far it is of one mind.

    A task is a trajectory, an attempt a sample, the answer what `answer` says. The target is the reference's
    answer where there is one. Trajectories without thoughts are left out, for nobody is asked about them.
    """
    name = f"{dataset} judged by {judge}"
    asked = [word for word in words if word.substrate != "none"]
    often = Counter(word.trajectory for word in asked)
    if max(often.values(), default=0) < 2:
        return Outcomes(conform(pd.DataFrame()), (Counted(name, ASKED_ONCE, len(asked), "judgements"),))
    targets = {} if reference is None else {key: answer(word) for key, word in reference.items()}
    rows = [_sample(name, judge, word, targets.get(word.trajectory)) for word in asked]
    lost = Counter(f"unjudged (kept, no answer): {w.reason}" for w in asked if w.state == "unjudged")
    lost["without thoughts, nobody is asked"] = len(words) - len(asked)
    lost["answer without target (kept)"] = sum(r["answer"] is not None and r["target"] is None for r in rows)
    counted = (Counted(name, reason, count, "judgements") for reason, count in sorted(lost.items()) if count)
    return Outcomes(conform(pd.DataFrame(rows)), tuple(counted))


def _sample(name: str, judge: str, word: Judgement, target: str | None) -> dict[str, Any]:
    said = answer(word)
    return {
        "dataset": name,
        "group": judge,
        "backbone": word.model,
        "task": word.trajectory,
        "attempt": f"{word.sample}",
        "passed": None if said is None or target is None else said == target,
        "answer": said,
        "target": target,
        "stop_reason": word.reason,
        "trajectory": word.trajectory,
    }


def answer(word: Judgement) -> str | None:
    """Return "unflagged", or "flagged" with the conflict types; None where it is unjudged."""
    if word.state == "unjudged":
        return None
    types = sorted({span.conflict_type for span in word.spans if span.flags})
    return ": ".join([word.state, *([", ".join(types)] if types and word.state == "flagged" else [])])


def first_samples(words: Iterable[Judgement]) -> dict[str, Judgement]:
    """Return of each trajectory the first sample that was judged, as the word of a reference."""
    found: dict[str, list[Judgement]] = defaultdict(list)
    for word in words:
        if word.state != "unjudged":
            found[word.trajectory].append(word)
    return {name: min(said, key=lambda word: word.sample) for name, said in found.items()}
