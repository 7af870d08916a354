"""Answers as short strings, one letter an attempt, and every sample that chance can give."""

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from coherence.incoherence.parts import Floats, Ints
from coherence.incoherence.squares import Vectors
from coherence.incoherence.tallies import Tally, tally


def answers(*items: tuple[str, str]) -> Tally:
    """Items as (answers, target): ("BBBAC", "A")."""
    item = np.repeat(np.arange(len(items)), [len(given) for given, _ in items])
    given = np.array([ord(letter) for letters, _ in items for letter in letters], dtype=np.int64)
    return tally(item, given, np.array([ord(target) for _, target in items]))


def vectors(*items: tuple[Sequence[Sequence[float]], Sequence[float]]) -> Vectors:
    """Items as (attempts, target), each attempt a vector as long as the target."""
    return Vectors(
        item=np.repeat(np.arange(len(items)), [len(attempts) for attempts, _ in items]),
        width=np.array([len(target) for _, target in items]),
        values=np.array([value for attempts, _ in items for vector in attempts for value in vector]),
        target=np.array([value for _, target in items for value in target], dtype=float),
    )


def every_sample(chances: Sequence[float], attempts: int) -> tuple[Ints, Floats]:
    """All samples of so many attempts, a row each, and the chance of each."""
    samples = np.array(list(product(range(len(chances)), repeat=attempts)))
    return samples, np.prod(np.array(chances)[samples], axis=1)


def expected(
    chances: Sequence[float], attempts: int, of: Callable[[Tally], Floats], target: int = 1
) -> float:
    """The exact expectation of a value of the tally, over all samples."""
    samples, weight = every_sample(chances, attempts)
    item = np.repeat(np.arange(len(samples)), attempts)
    return float(weight @ of(tally(item, samples.ravel(), np.full(len(samples), target))))
