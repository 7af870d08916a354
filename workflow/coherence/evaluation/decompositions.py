"""The decompositions by name: what each makes of a group's attempts, and what may be said about it."""

from typing import Final

import numpy as np

from coherence.errors import ConfigError
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.outcome_kinds import Attempts
from coherence.evaluation.outcome_points import verified_parts
from coherence.evaluation.wording import NONE
from coherence.incoherence.divergence import classes_seen, kl_answers, kl_vectors
from coherence.incoherence.modal import domingos, modal_margin, seed_modal
from coherence.incoherence.parts import Estimator, Floats, Ints, Parts
from coherence.incoherence.squares import (
    BRIER,
    KOHAVI_WOLPERT,
    Nested,
    Spread,
    Vectors,
    answer_spread,
    nested,
    number_spread,
    squared,
    vector_spread,
)
from coherence.incoherence.tallies import Tally, tally

LABELS: Final = {
    NONE: NONE,
    "kohavi_wolpert": "Kohavi-Wolpert",
    "modal_margin": "modal margin",
    "brier": "Brier",
    "kl": "KL (geometric mean)",
    "domingos": "Domingos",
    "tests": "tests (coverage error)",
    "squared_error": "squared error",
    "seed_modal": "modal rule of the seed",
}
BINARY: Final = "binary: a function of the pass rates"
NO_AGGREGATE: Final = "does not add up over tasks: components only"
UNEQUAL: Final = "unequal attempts a task: not to be compared with other groups"
REPRODUCTION: Final = "for reproduction only: parts do not add up"
SQUARES: Final = ("kohavi_wolpert", "brier", "tests", "squared_error")


def decompose(attempts: Attempts, name: str, settings: IncoherenceSettings) -> Parts:
    """Return the parts of each task by a decomposition.

    Where there are contexts, the unbiased estimates by squared distance use pairs of different contexts only;
    where there are verifications, all of them. Other estimates see the verifications of an attempt together.
    """
    inside = nested_parts(attempts, name, settings)
    return inside.parts if inside is not None else plain(attempts, name, settings.estimator, settings.delta)


def plain(attempts: Attempts, name: str, estimator: Estimator, delta: float) -> Parts:
    """Return the parts of each task by a decomposition, without regard to contexts."""
    if name in SQUARES:
        return squared(_spread(attempts, name), estimator)
    if name == "kl" and attempts.vectors is not None:
        return kl_vectors(attempts.vectors, estimator, delta)
    counts = tally_of(attempts)
    if name == "kl":
        return kl_answers(counts, classes_seen(counts), estimator, delta)
    if name == "modal_margin":
        return modal_margin(counts, estimator)
    if name == "seed_modal":
        return seed_modal(counts)
    if name == "domingos":
        found = domingos(counts)
        few = counts.n < 2
        error, bias, variance = (
            np.where(few, np.nan, field) for field in (found.error, found.bias, found.variance)
        )
        return Parts(counts.n, error, bias, variance, "plug-in", adds_up=False)
    raise ConfigError(f"no decomposition is called {name!r}; there are {', '.join(LABELS)}")


def nested_parts(attempts: Attempts, name: str, settings: IncoherenceSettings) -> Nested | None:
    """Return the parts over contexts or from verifications, None where there are none or no such estimate."""
    if name not in SQUARES or settings.estimator != "unbiased":
        return None
    if attempts.group.verified is not None:
        return verified_parts(attempts, name)
    contexts = attempts.contexts()
    if contexts is None:
        return None
    keys = attempts.item * (int(contexts.max(initial=0)) + 1) + contexts
    order = np.argsort(keys, kind="stable")
    cells, cell = np.unique(keys[order], return_inverse=True)
    owner = cells // (int(contexts.max(initial=0)) + 1)
    return nested(_spread(attempts, name), _cell_spread(attempts, name, order, cell, owner), owner)


def tally_of(attempts: Attempts) -> Tally:
    """Return the counts of the answers, or of passes and failures."""
    return tally(attempts.item, np.asarray(attempts.answer, np.int64), np.asarray(attempts.target, np.int64))


def note_of(kind: str, name: str) -> str:
    """Return what a reader must know about a row, "" for nothing."""
    notes = {"domingos": NO_AGGREGATE, "seed_modal": REPRODUCTION}
    said = [BINARY] if kind == "passed" else []
    return "; ".join([*said, *([notes[name]] if name in notes else [])])


def _spread(attempts: Attempts, name: str) -> Spread:
    if attempts.vectors is not None:
        return vector_spread(attempts.vectors, "mean" if name == "tests" else "sum")
    return _code_spread(name, attempts.item, attempts.answer, attempts.target)


def _cell_spread(attempts: Attempts, name: str, order: Ints, cell: Ints, owner: Ints) -> Spread:
    """Return the spread with each context of each item as an item of its own."""
    vectors = attempts.vectors
    if vectors is None:
        return _code_spread(name, cell, attempts.answer[order], attempts.target[owner])
    length = vectors.width[vectors.item]
    start = np.cumsum(length) - length
    moved = Vectors(
        cell,
        vectors.width[owner],
        vectors.values[_ranges(start[order], length[order])],
        np.zeros(int(vectors.width[owner].sum())),  # only the scatter within contexts is asked for
    )
    return vector_spread(moved, "mean" if name == "tests" else "sum")


def _code_spread(name: str, item: Ints, answer: Ints | Floats, target: Ints | Floats) -> Spread:
    if name == "squared_error":
        return number_spread(item, np.asarray(answer, float), np.asarray(target, float))
    counts = tally(item, np.asarray(answer, np.int64), np.asarray(target, np.int64))
    return answer_spread(counts, BRIER if name == "brier" else KOHAVI_WOLPERT)


def _ranges(start: Ints, length: Ints) -> Ints:
    """Return start, start + 1, ... of each range of this length, one after another."""
    before = np.repeat(np.cumsum(length) - length, length)
    return np.asarray(np.repeat(start, length) + np.arange(int(length.sum())) - before)
