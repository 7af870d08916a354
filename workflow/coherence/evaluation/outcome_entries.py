"""The outcomes of two groups as vectors with the same places: a product of them needs more than distances."""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Final

import numpy as np
import pandas as pd

from coherence.evaluation.outcome_kinds import Attempts
from coherence.evaluation.outcome_vectors import PASSED, read_probabilities
from coherence.incoherence.parts import Bools, Floats, Ints, divided, sums
from coherence.incoherence.shared_environments import Entries
from coherence.incoherence.squares import BRIER, KOHAVI_WOLPERT

Taken = tuple[Attempts, Bools]
Built = tuple[Floats, Entries]


def entries(first: Taken, second: Taken) -> tuple[Built, Built]:
    """Return of some attempts of each group the squared distances to the target, and their vectors.

    Both have outcomes of one kind. Distances are those of Brier for answers: `scale_of` a decomposition
    makes them its own.
    """
    return _BUILD[first[0].kind](first, second)


def scale_of(decomposition: str) -> float:
    """Return what squared distances of entries are multiplied by."""
    return KOHAVI_WOLPERT if decomposition == "kohavi_wolpert" else BRIER


def _texts(side: Taken, column: str) -> list[str]:
    attempts, chosen = side
    texts: list[str] = attempts.group.frame[column].iloc[attempts.rows[chosen]].tolist()
    return texts


def _answers(first: Taken, second: Taken) -> tuple[Built, Built]:
    texts = [_texts(side, "answer") for side in (first, second)]
    codes = pd.factorize(np.array([*chain.from_iterable(texts)], dtype=object))[0]
    return _one_hot(first, codes[: len(texts[0])]), _one_hot(second, codes[len(texts[0]) :])


def _passes(first: Taken, second: Taken) -> tuple[Built, Built]:
    return _one_hot(first, first[0].answer[first[1]]), _one_hot(second, second[0].answer[second[1]])


def _one_hot(side: Taken, codes: Ints | Floats) -> Built:
    attempts, chosen = side
    wrong = attempts.answer[chosen] != attempts.target[attempts.item[chosen]]
    n = len(wrong)
    return 2.0 * wrong, Entries(np.arange(n), np.asarray(codes, np.int64), np.ones(n))


def _numbers(first: Taken, second: Taken) -> tuple[Built, Built]:
    return _number(first), _number(second)


def _number(side: Taken) -> Built:
    attempts, chosen = side
    value, item = np.asarray(attempts.answer[chosen], float), attempts.item[chosen]
    n = len(value)
    # About the mean of its task, for squares of large numbers would swallow their differences.
    mean = divided(
        sums(value, item, attempts.items), np.bincount(item, minlength=attempts.items).astype(float)
    )
    vectors = Entries(np.arange(n), np.zeros(n, np.int64), value - mean[item])
    return (value - np.asarray(attempts.target, float)[item]) ** 2, vectors


def _tests(first: Taken, second: Taken) -> tuple[Built, Built]:
    return _test_results(first), _test_results(second)


def _test_results(side: Taken) -> Built:
    """Return vectors whose squared distances are means over the tests that the group has of the task."""
    attempts, chosen = side
    texts = _texts(side, "tests")
    length = np.fromiter(map(len, texts), np.int64, len(texts))
    owner = np.repeat(np.arange(len(texts)), length)
    passed = np.flatnonzero(np.frombuffer("".join(texts).encode("ascii"), dtype=np.uint8) == PASSED)
    place = passed - (np.cumsum(length) - length)[owner[passed]]
    assert attempts.vectors is not None  # noqa: S101 - tests are vectors
    width = attempts.vectors.width[attempts.item[chosen]].astype(float)
    loss = 1 - np.bincount(owner[passed], minlength=len(texts)) / width
    return loss, Entries(owner[passed], place, 1 / np.sqrt(width[owner[passed]]))


def _probabilities(first: Taken, second: Taken) -> tuple[Built, Built]:
    read = [read_probabilities(_texts(side, "probabilities")) for side in (first, second)]
    names = [list(chain.from_iterable(given)) for given in read]
    targets = [_texts(side, "target") for side in (first, second)]
    every = np.array([*chain(*names, *targets)], dtype=object)
    codes = np.split(pd.factorize(every)[0], np.cumsum([len(some) for some in (*names, *targets)])[:-1])
    return _options(read[0], codes[0], codes[2]), _options(read[1], codes[1], codes[3])


def _options(read: Sequence[dict[str, float]], place: Ints, target: Ints) -> Built:
    length = np.fromiter(map(len, read), np.int64, len(read))
    value = np.fromiter(chain.from_iterable(each.values() for each in read), float, int(length.sum()))
    owner = np.repeat(np.arange(len(read)), length)
    right = sums(value * (place == target[owner]), owner, len(read))
    return sums(value**2, owner, len(read)) - 2 * right + 1, Entries(owner, place, value)


_BUILD: Final[dict[str, Callable[[Taken, Taken], tuple[Built, Built]]]] = {
    "answer": _answers,
    "tests": _tests,
    "probabilities": _probabilities,
    "number": _numbers,
    "passed": _passes,
}
