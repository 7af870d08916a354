"""Attempts as points whose squared distances a decomposition measures, and parts from verifications."""

from typing import Final

import numpy as np
from scipy.sparse import csr_array

from coherence.evaluation.outcome_kinds import Attempts, attempts_of
from coherence.incoherence.levels import Points
from coherence.incoherence.parts import Floats, Ints, Parts, divided
from coherence.incoherence.squares import BRIER, KOHAVI_WOLPERT, Nested, Vectors
from coherence.incoherence.verified import verified

SCALES: Final = {"kohavi_wolpert": KOHAVI_WOLPERT, "brier": BRIER}


def points_of(found: Attempts, name: str) -> Points:
    """Return the outcomes as points for one of the decompositions by squared distance."""
    if found.vectors is not None:
        width = found.vectors.width.astype(float)
        scale = divided(np.ones(found.items), width) if name == "tests" else np.ones(found.items)
        return Points(found.item, _of_vectors(found.vectors), scale)
    target = found.target[found.item]
    if name == "squared_error":
        away = csr_array((np.asarray(found.answer, float) - target)[:, None])
        return Points(found.item, away, np.ones(found.items))
    away = _of_answers(np.asarray(found.answer, np.int64), np.asarray(target, np.int64))
    return Points(found.item, away, np.full(found.items, SCALES[name]))


def _of_answers(answer: Ints, target: Ints) -> csr_array:
    """Return a 1 at the answer less a 1 at the target: nothing where they are the same."""
    wrong = np.flatnonzero(answer != target)
    rows = np.concatenate([wrong, wrong])
    columns = np.concatenate([answer[wrong], target[wrong]])
    values = np.repeat([1.0, -1.0], len(wrong))
    return csr_array((values, (rows, columns)), shape=(len(answer), int(columns.max(initial=0)) + 1))


def _of_vectors(vectors: Vectors) -> csr_array:
    width = vectors.width[vectors.item]
    ends = np.cumsum(width)
    place = np.arange(int(width.sum())) - np.repeat(ends - width, width)
    begin = np.cumsum(vectors.width) - vectors.width
    away = vectors.values.astype(float) - vectors.target[np.repeat(begin[vectors.item], width) + place]
    shape = (len(width), int(vectors.width.max(initial=0)))
    return csr_array((away, place, np.concatenate([[0], ends])), shape=shape)


def verified_parts(found: Attempts, name: str) -> Nested | None:
    """Return the parts of the attempts from all their verifications, None where there are none."""
    told = found.group.verified
    if told is None:
        return None
    every = attempts_of(told.group, found.kind)
    every = every.only(np.isin(told.attempt[every.rows], found.rows))
    attempt = np.unique(told.attempt[every.rows], return_inverse=True)[1]
    made = verified(points_of(every, name), attempt, every.contexts(attempt))
    return _over(made, every.tasks, found.tasks)


def _over(made: Nested, tasks: Ints, wanted: Ints) -> Nested:
    """Return the parts of the wanted tasks, NaN of those that have none."""
    _, here, there = np.intersect1d(tasks, wanted, return_indices=True)

    def of(values: Floats) -> Floats:
        placed = np.full(len(wanted), np.nan)
        placed[there] = values[here]
        return placed

    parts = made.parts
    n = np.nan_to_num(of(parts.n.astype(float))).astype(np.int64)
    parts = Parts(n, of(parts.error), of(parts.bias), of(parts.variance), parts.estimator)
    verification = None if made.verification is None else of(made.verification)
    return Nested(parts, of(made.sampling), of(made.context), verification)
