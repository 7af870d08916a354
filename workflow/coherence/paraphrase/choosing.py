"""Which flagged trajectories are rewritten: those named, or a sample over conflict types and confidences."""

import random
from collections.abc import Iterable, Sequence
from typing import Annotated, Final

from msgspec import Meta

from coherence.files import digest
from coherence.records import Judgement, Record, Trial
from coherence.vocabulary import CONFLICT_TYPES, MAX_CONFIDENCE, MIN_CONFIDENCE, ConflictType

CHOSEN: Final = "chosen"
Level = Annotated[int, Meta(ge=MIN_CONFIDENCE, le=MAX_CONFIDENCE)]


class Choice(Record, frozen=True, forbid_unknown_fields=True):
    """What is rewritten: `named` trajectories (id, task or attempt), else a sample of the flagged ones.

    A sample has at most `size` trajectories (None: all that qualify) whose surest span has a confidence
    within `confidence`; it takes every conflict type in turn and, within one, the confidence met least.
    """

    named: tuple[str, ...] = ()
    size: Annotated[int, Meta(ge=1)] | None = None
    seed: Annotated[int, Meta(ge=0)] = 20260607
    confidence: tuple[Level, Level] = (2, 4)

    def __post_init__(self) -> None:
        """Refuse a range that holds nothing."""
        if self.confidence[0] > self.confidence[1]:
            raise ValueError("`confidence` is a range, its lower end first")


class Considered(Record, frozen=True):
    """One trajectory, or a name without one, that came up: `chosen`, or why it was not.

    `conflict_type` and `confidence` are those of its surest span, None where they are not known.
    """

    name: str
    standing: str
    trajectory: str | None = None
    conflict_type: ConflictType | None = None
    confidence: int | None = None


def surest(judgement: Judgement) -> tuple[ConflictType | None, int | None]:
    """Return type and confidence of the span that flags with the highest confidence, the first of equals."""
    spans = [span for span in judgement.spans if span.flags]
    if not spans:
        return None, None
    best = max(spans, key=lambda span: span.confidence or 0)
    return best.conflict_type, best.confidence


def choose(trials: Sequence[Trial], words: dict[str, Judgement], choice: Choice) -> tuple[Considered, ...]:
    """Return everything considered of the trials compared, in their order; names that fit none come last.

    `words` has the judgement that stands for each trial's samples.
    """
    if choice.named:
        return tuple(_named(trials, words, choice.named))
    flagged = [_considered(trial, words[trial.id], choice) for trial in trials if _is_flagged(trial, words)]
    able = [one for one in flagged if one.standing == CHOSEN]
    kept = {one.trajectory for one in _sample(able, choice)}
    return tuple(
        one if one.standing != CHOSEN or one.trajectory in kept else _standing(one, "not in the sample")
        for one in flagged
    )


def _is_flagged(trial: Trial, words: dict[str, Judgement]) -> bool:
    return trial.id in words and words[trial.id].state == "flagged"


def _named(
    trials: Sequence[Trial], words: dict[str, Judgement], names: Iterable[str]
) -> Iterable[Considered]:
    wanted = set(names)
    for trial in trials:
        fitting = wanted & {trial.id, trial.task, trial.attempt}
        if fitting:
            word = words.get(trial.id)
            state = "without text" if trial.status != "ok" else word.state if word else "not judged"
            kind, confidence = surest(word) if word else (None, None)
            standing = CHOSEN if state == "flagged" else state
            yield Considered(min(fitting), standing, trial.id, kind, confidence)
    known = {name for trial in trials for name in (trial.id, trial.task, trial.attempt)}
    yield from (Considered(name, "not among those compared") for name in names if name not in known)


def _considered(trial: Trial, word: Judgement, choice: Choice) -> Considered:
    kind, confidence = surest(word)
    low, high = choice.confidence
    if trial.status != "ok":
        standing = "without text"
    elif kind is None:
        standing = "flagged without a span"
    elif confidence is None:
        standing = "no confidence given"
    else:
        standing = CHOSEN if low <= confidence <= high else "confidence out of range"
    return Considered(trial.task, standing, trial.id, kind, confidence)


def _standing(one: Considered, standing: str) -> Considered:
    return Considered(one.name, standing, one.trajectory, one.conflict_type, one.confidence)


def _sample(able: Sequence[Considered], choice: Choice) -> list[Considered]:
    """Return the sample: a type at a time, its confidence met least, drawn by seed and id."""
    order = sorted(able, key=lambda one: digest(one.trajectory or ""))
    random.Random(choice.seed).shuffle(order)  # noqa: S311 - a draw to be repeated, no secret
    waiting = {kind: [one for one in order if one.conflict_type == kind] for kind in CONFLICT_TYPES}
    met = dict.fromkeys(range(MIN_CONFIDENCE, MAX_CONFIDENCE + 1), 0)
    kept: list[Considered] = []
    while any(waiting.values()):
        for one in (min(left, key=lambda one: met[one.confidence or 0]) for left in waiting.values() if left):
            if choice.size is not None and len(kept) == choice.size:
                return kept
            kept.append(one)
            met[one.confidence or 0] += 1
            waiting[one.conflict_type or "other"].remove(one)
    return kept
