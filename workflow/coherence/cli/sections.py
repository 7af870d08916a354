"""Sections of the config that stand for themselves: outcome files, and the analysis of repeated outcomes."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from coherence.incoherence.contract import Decomposition, Kind, Length, Loss, NullAs, OutcomeField

INGESTED = "repeats"  # what figures call all that no outcome file brings

Positive = Annotated[int, Meta(ge=1)]


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of every section: unknown keys are errors."""


class OutcomeSet(Section, frozen=True):
    """A file of outcomes of repeated attempts, made elsewhere."""

    path: str
    columns: dict[OutcomeField, str] = {}
    groups: list[str] | None = None
    kind: Kind | None = None
    null_as: NullAs = "unknown"
    pass_reward: float = 1.0
    scaffold: str | None = None
    backbone: str | None = None
    notes: str = ""
    simulated: str = ""


class Incoherence(Section, frozen=True):
    """Choices of the analysis of repeated outcomes."""

    seed: Annotated[int, Meta(ge=0)] = 20260607
    estimator: Literal["unbiased", "plug-in"] = "unbiased"
    decompositions: tuple[Decomposition, ...] = (
        "kohavi_wolpert",
        "modal_margin",
        "brier",
        "tests",
        "squared_error",
    )
    permutations: Positive = 2000
    bins: Annotated[int, Meta(ge=2)] = 4
    lengths: tuple[Length, ...] = ("reasoning_tokens", "output_tokens", "steps", "calls", "seconds")
    kinds: dict[str, Kind] = {}
    pairs: dict[str, list[tuple[str, str]]] = {}
    weights: dict[Loss, Annotated[float, Meta(ge=0)]] = {}
    rubric_best: float = 1.0
    reference: str | None = None
