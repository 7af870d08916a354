"""What the analysis of repeated outcomes is told."""

from collections.abc import Iterable
from typing import Final

from coherence.errors import ConfigError
from coherence.evaluation.repeated import LARGEST
from coherence.incoherence.contract import KINDS, LENGTHS, LOSSES
from coherence.incoherence.divergence import DELTA
from coherence.incoherence.paired import Permutations
from coherence.incoherence.parts import Estimator
from coherence.records import Record

BY_KIND: Final[dict[str, tuple[str, ...]]] = {
    "answer": ("kohavi_wolpert", "modal_margin", "kl", "domingos", "brier", "seed_modal"),
    "tests": ("tests",),
    "probabilities": ("brier", "kl"),
    "number": ("squared_error",),
    "passed": ("kohavi_wolpert", "seed_modal"),
}


class IncoherenceSettings(Record, frozen=True):
    """Choices of one analysis.

    `decompositions` are those shown where the kind of outcome allows them; the first that a kind allows is
    its main one, that strata, pairs and figures use. `kinds` gives by dataset the one kind of outcome to
    decompose beside pass or fail (else every kind its attempts have). `lengths` are the columns to divide
    tasks by, into `bins` buckets of equally many; `votes` the sizes of ensembles; `delta` smooths KL.

    `pairs` gives by dataset the groups to compare (None: those that share the scaffold or the backbone, or
    all where neither is known). `weights` are those of each loss in the weighted distance, in which
    `rubric_best` is the best rubric score. `simulated` says by dataset what is not real about it.
    """

    estimator: Estimator = "unbiased"
    permutations: Permutations = Permutations()
    decompositions: tuple[str, ...] = ("kohavi_wolpert", "modal_margin", "brier", "tests", "squared_error")
    kinds: dict[str, str] = {}
    lengths: tuple[str, ...] = ("reasoning_tokens", "output_tokens", "steps", "calls", "seconds")
    bins: int = 4
    votes: tuple[int, ...] = (1, 2, 3, 5, 7, 9, 15, 25)
    delta: float = DELTA
    pairs: dict[str, tuple[tuple[str, str], ...]] = {}
    weights: dict[str, float] = {}
    rubric_best: float = 1.0
    simulated: dict[str, str] = {}

    def check(self) -> None:
        """Raise ConfigError where a name is none of those there are, or a number makes no sense."""
        names: dict[str, tuple[Iterable[str], set[str]]] = {
            "decompositions": (self.decompositions, {name for kind in BY_KIND.values() for name in kind}),
            "kinds": (self.kinds.values(), set(KINDS)),
            "lengths": (self.lengths, set(LENGTHS)),
            "weights": (self.weights, set(LOSSES)),
        }
        for field, (given, known) in names.items():
            wrong = sorted(set(given) - known)
            if wrong:
                raise ConfigError(
                    f"incoherence.{field}: no {wrong[0]!r}; there are {', '.join(sorted(known))}"
                )
        if min((self.bins, self.permutations.number, *self.votes)) < 1 or not 0 < self.delta < 1:
            raise ConfigError("incoherence: bins, permutations and votes must be at least 1, delta in (0, 1)")
        if not all(0 <= weight <= LARGEST for weight in self.weights.values()):
            raise ConfigError(f"incoherence.weights: a weight must be from 0 to {LARGEST:g}")
        if not abs(self.rubric_best) <= LARGEST:
            raise ConfigError(f"incoherence.rubric_best: must be a number of at most {LARGEST:g}")

    def decompositions_of(self, kind: str) -> tuple[str, ...]:
        """Return the chosen decompositions of a kind, its usual one where none is chosen."""
        return tuple(name for name in self.decompositions if name in BY_KIND[kind]) or BY_KIND[kind][:1]
