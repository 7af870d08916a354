"""The outcomes of a group as numbers to decompose: answers, tests, probabilities, numbers, passes."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from coherence.errors import InputError
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.outcome_vectors import probability_vectors, test_vectors
from coherence.evaluation.repeated import Group
from coherence.incoherence.contract import KINDS
from coherence.incoherence.parts import Bools, Floats, Ints
from coherence.incoherence.squares import Vectors
from coherence.records import Record

DECIDES: Final = "outcomes.NAME.kind decides"  # which of two kinds that attempts of one group have
TARGETS: Final = {"answer": "target", "probabilities": "target", "number": "target_number"}


class Attempts(Record, frozen=True, eq=False):
    """A group's attempts with an outcome of one kind, sorted by item (a task).

    `rows` are their places in the group; `tasks` numbers each item's task in the dataset. `answer` and
    `target` are codes of answers, or for numbers the numbers; vectors stand in `vectors`. `left_out` counts
    attempts by reason.
    """

    group: Group
    kind: str
    rows: Ints
    item: Ints
    tasks: Ints
    answer: Ints | Floats
    target: Ints | Floats
    vectors: Vectors | None
    left_out: dict[str, int]

    @property
    def items(self) -> int:
        """The number of tasks."""
        return len(self.tasks)

    def only(self, chosen: Bools) -> "Attempts":
        """Return some of the attempts; all items stay, some without attempts."""
        vectors = self.vectors
        if vectors is not None:
            cells = np.repeat(chosen, vectors.width[vectors.item])
            vectors = Vectors(vectors.item[chosen], vectors.width, vectors.values[cells], vectors.target)
        answer = self.answer[chosen] if len(self.answer) else self.answer
        return Attempts(
            self.group,
            self.kind,
            self.rows[chosen],
            self.item[chosen],
            self.tasks,
            answer,
            self.target,
            vectors,
            self.left_out,
        )

    def values(self, column: str) -> Floats:
        """Return a numeric column of the attempts, NaN where it is unknown."""
        return np.asarray(self.group.numbers(column)[self.rows])

    def contexts(self, own: Ints | None = None) -> Ints | None:
        """Return the contexts of the attempts as codes, None where no context of the group is known.

        An attempt of unknown context is a context of its own: it shares nothing that is known. `own` numbers
        the attempts where a row is a verification.
        """
        if not self.group.known("context").any():
            return None
        codes = pd.factorize(self.group.frame["context"].astype(object))[0][self.rows]
        attempt = np.arange(len(codes)) if own is None else own
        return np.where(codes < 0, codes.max(initial=-1) + 1 + attempt, codes).astype(np.int64)


def kinds_of(group: Group, settings: IncoherenceSettings) -> tuple[str, ...]:
    """Return the kinds of outcome of a group, the most telling first and pass or fail last.

    Of two kinds that each have attempts of their own, only the one more attempts have is there, unless the
    settings name another: a group is not compared by two halves of itself. A kind without any target counts
    only where there is no other, so that its attempts are left out by name.
    """
    there = {kind: _there(group, kind) for kind in KINDS}
    found = [kind for kind in KINDS if there[kind].any()]
    found = found or [kind for kind in KINDS if group.known(kind).any()]
    named = settings.kinds.get(group.dataset)
    if named is not None:
        return tuple(kind for kind in found if kind in (named, "passed"))
    chosen: list[str] = []
    for kind in sorted(found, key=lambda kind: -int(there[kind].sum())):
        if not any(_apart(kind, other, there) for other in chosen):
            chosen.append(kind)
    return tuple(kind for kind in found if kind in chosen)


def _apart(one: str, other: str, there: Mapping[Any, Bools]) -> bool:
    """Return whether each of two kinds has attempts that the other has not; pass or fail goes with any."""
    if "passed" in (one, other):
        return False
    return bool((there[one] & ~there[other]).any() and (there[other] & ~there[one]).any())


def _there(group: Group, kind: str) -> Bools:
    known = group.known(kind)
    return known & group.known(TARGETS[kind]) if kind in TARGETS else known


def attempts_of(group: Group, kind: str) -> Attempts:
    """Return the attempts of a group that have an outcome of a kind, the others counted by reason.

    Raise InputError, naming the group, where a table was not read from a file and has no such outcomes.
    """
    left_out = dict(group.left_out)
    keep = np.ones(len(group.frame), np.bool_)
    there = {one: _there(group, one) for one in KINDS}
    for other in (one for one in KINDS if _apart(kind, one, there)):
        reason = f"only {_NAMES[other]}, not {_NAMES[kind]}: {DECIDES}"
        keep = _keep(group.known(kind) | ~there[other], reason, left_out, keep)
    keep = _keep(group.known(kind), f"no {_NAMES[kind]}", left_out, keep)
    target = TARGETS.get(kind)
    if target is not None:
        keep = _keep(group.known(target), "no target", left_out, keep)
        keep = _keep(_one_target(group, target, keep), "task with different targets", left_out, keep)
    if kind in _CHECKS:
        for reason, good in _CHECKS[kind](group, keep).items():
            keep = _keep(good, reason, left_out, keep)
    rows = np.flatnonzero(keep)
    tasks, item = np.unique(group.task[rows], return_inverse=True)
    first = np.searchsorted(item, np.arange(len(tasks)))
    try:
        answer, goal, vectors = _BUILD[kind](group.frame.iloc[rows], item, first)
    except InputError as error:
        raise InputError(f"outcomes: dataset {group.dataset!r}, group {group.name!r}: {error}") from error
    return Attempts(group, kind, rows, item, tasks, answer, goal, vectors, left_out)


def _keep(good: Bools, reason: str, left_out: dict[str, int], among: Bools) -> Bools:
    lost = among & ~good
    if lost.any():
        left_out[reason] = left_out.get(reason, 0) + int(lost.sum())
    return among & good


def _one_target(group: Group, column: str, among: Bools) -> Bools:
    codes = pd.factorize(group.frame[column].astype(object))[0]
    most, least = np.full(len(group.tasks), -1), np.full(len(group.tasks), len(codes))
    np.maximum.at(most, group.task[among], codes[among])
    np.minimum.at(least, group.task[among], codes[among])
    return np.asarray((most == least)[group.task])


def _check_tests(group: Group, among: Bools) -> dict[str, Bools]:
    tests = group.frame["tests"].astype(object)
    names = pd.Series(tests[among].unique(), dtype=object)
    wrong = names[~names.str.fullmatch("[01-]+").astype(bool)]
    if len(wrong):
        raise InputError(
            f"outcomes: dataset {group.dataset!r}, group {group.name!r}: `tests` has "
            f"{str(wrong.iloc[0])[:40]!r}; give a character a test: 1 passed, 0 failed, - no result"
        )
    length = tests.str.len().fillna(-1).to_numpy(dtype=np.int64)
    most, least = np.zeros(len(group.tasks), np.int64), np.full(len(group.tasks), np.iinfo(np.int64).max)
    np.maximum.at(most, group.task[among], length[among])
    np.minimum.at(least, group.task[among], length[among])
    ran = tests.str.contains("[01]").fillna(value=False).to_numpy(dtype=bool)
    return {
        "task with vectors of different lengths": (most == least)[group.task],
        "no test has a result": ran,
    }


def _check_numbers(group: Group, among: Bools) -> dict[str, Bools]:
    both = ~(np.isnan(group.numbers("number")) | np.isnan(group.numbers("target_number")))
    return {"number or target not finite or too large": both | ~among}


Built = tuple[Ints | Floats, Ints | Floats, Vectors | None]
NONE: Final = np.array([], dtype=np.int64)


def _answers(frame: pd.DataFrame, item: Ints, first: Ints) -> Built:
    both = pd.concat([frame["answer"].astype(object), frame["target"].astype(object)])
    codes = np.asarray(pd.factorize(both, sort=True)[0], dtype=np.int64)
    return codes[: len(frame)], codes[len(frame) :][first], None


def _passes(frame: pd.DataFrame, item: Ints, first: Ints) -> Built:
    return frame["passed"].to_numpy(dtype=np.int64), np.ones(len(first), np.int64), None


def _numbers(frame: pd.DataFrame, item: Ints, first: Ints) -> Built:
    number, target = (frame[name].to_numpy(dtype=float) for name in ("number", "target_number"))
    return number, target[first], None


def _tests(frame: pd.DataFrame, item: Ints, first: Ints) -> Built:
    return NONE, NONE, test_vectors(frame["tests"].astype(object), item, first)


def _probabilities(frame: pd.DataFrame, item: Ints, first: Ints) -> Built:
    given, target = frame["probabilities"].astype(object), frame["target"].astype(object)
    return NONE, NONE, probability_vectors(given.tolist(), item, target.iloc[first].tolist())


_NAMES: Final = {
    "answer": "answer",
    "tests": "test results",
    "probabilities": "probabilities",
    "number": "number",
    "passed": "outcome",
}
_CHECKS: Final[dict[str, Callable[[Group, Bools], dict[str, Bools]]]] = {
    "tests": _check_tests,
    "number": _check_numbers,
}
_BUILD: Final[dict[str, Callable[[Any, Ints, Ints], Built]]] = {
    "answer": _answers,
    "tests": _tests,
    "probabilities": _probabilities,
    "number": _numbers,
    "passed": _passes,
}
