"""What becomes of the tasks of a group with any number of votes, by each rule of taking attempts together."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from coherence.evaluation.decompositions import plain, tally_of
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.main_parts import MainParts
from coherence.evaluation.outcome_kinds import Attempts
from coherence.evaluation.outcome_points import points_of
from coherence.incoherence.context_ensembles import (
    ballots,
    contexts_of,
    geometric_over_contexts,
    majority_over_contexts,
)
from coherence.incoherence.ensembles import Ensemble, averaged, geometric_means, majority
from coherence.incoherence.parts import Ints
from coherence.incoherence.verified import verified
from coherence.records import Record

MAJORITY: Final = "majority"
ARITHMETIC: Final = "arithmetic mean"
GEOMETRIC: Final = "geometric mean"
VOTED: Final = ("answer", "passed")
SQUARES_OF: Final = {"tests": "tests", "number": "squared_error", "probabilities": "brier"}


class Curve(Record, frozen=True, eq=False):
    """One rule of one group: what becomes of its tasks with any number of votes.

    `voters` counts each task's attempts, or its contexts where several attempts share one: each vote is then
    of another context. A task with less than `fewest` is never known; a variance needs `each` for every vote.
    """

    main: MainParts
    rule: str
    of: Callable[[int], Ensemble]
    voters: Ints
    of_contexts: bool = False
    fewest: int = 1
    each: int = 1

    def lost(self, found: Ensemble) -> Counter[str]:
        """Count the tasks without an error by reason, and those whose variance alone was not computed."""
        unknown, no_variance = np.isnan(found.error), np.isnan(found.variance)
        few = unknown & (self.voters < max(found.votes, self.fewest))
        enough = self.voters >= max(self.each * found.votes, 2)
        return Counter(
            {
                "few_contexts" if self.of_contexts else "too_few": int(few.sum()),
                "not_computed": int((unknown & ~few).sum()),
                "not_parted": int((~unknown & no_variance & enough).sum()),
            }
        )


def curves_of(main: MainParts, settings: IncoherenceSettings) -> Iterator[Curve]:
    """Yield the curves of a group by the rules that its kind of outcome allows."""
    attempts, contexts = main.attempts, shared_contexts(main.attempts)
    if contexts is not None:
        yield from _over_contexts(main, contexts, settings)
        return
    voters = np.bincount(attempts.item, minlength=attempts.items)
    if main.kind in VOTED:
        counts = tally_of(attempts)
        yield Curve(main, MAJORITY, lambda votes: majority(counts, votes), voters, each=2)
        return
    parts = plain(attempts, SQUARES_OF[main.kind], "unbiased", settings.delta)
    yield Curve(main, ARITHMETIC, lambda votes: averaged(parts, votes), voters, fewest=2)
    vectors = attempts.vectors
    if main.kind == "probabilities" and vectors is not None:
        yield Curve(main, GEOMETRIC, lambda votes: geometric_means(vectors, votes, settings.delta), voters)


def shared_contexts(attempts: Attempts) -> Ints | None:
    """Return the contexts of the attempts, None where no two attempts at a task are known to share one."""
    contexts = attempts.contexts()
    if contexts is None:
        return None
    cells = np.unique(np.stack([attempts.item, contexts]), axis=1).shape[1]
    return contexts if cells < len(contexts) else None


def _over_contexts(main: MainParts, contexts: Ints, settings: IncoherenceSettings) -> Iterator[Curve]:
    attempts = main.attempts
    voters = contexts_of(attempts.item, contexts, attempts.items)
    if main.kind in VOTED:
        answer, target = (np.asarray(each, np.int64) for each in (attempts.answer, attempts.target))
        given = ballots(attempts.item, contexts, answer, target)
        yield Curve(
            main,
            MAJORITY,
            lambda votes: majority_over_contexts(given, votes),
            voters,
            of_contexts=True,
            each=2,
        )
        return
    # Each context counts once, as in the other rules: its attempts are what it may give a vote to.
    own = np.unique(np.stack([attempts.item, contexts]), axis=1, return_inverse=True)[1]
    parts = verified(points_of(attempts, SQUARES_OF[main.kind]), own).parts
    yield Curve(main, ARITHMETIC, lambda votes: averaged(parts, votes), voters, True, fewest=2)
    vectors = attempts.vectors
    if main.kind == "probabilities" and vectors is not None:
        yield Curve(
            main,
            GEOMETRIC,
            lambda votes: geometric_over_contexts(vectors, contexts, votes, settings.delta),
            voters,
            of_contexts=True,
        )
