"""How much of each group's error is scatter: a row a dataset, group, outcome and decomposition."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pandas as pd
from msgspec.structs import replace

from coherence.evaluation import wording
from coherence.evaluation.decompositions import (
    UNEQUAL,
    nested_parts,
    note_of,
    plain,
)
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.outcome_kinds import Attempts, attempts_of, kinds_of
from coherence.evaluation.repeated import Group
from coherence.incoherence.aggregates import Aggregate, aggregate, ratio_of_sums
from coherence.incoherence.contract import KINDS
from coherence.incoherence.parts import Ints, Parts, incomparable
from coherence.incoherence.squares import Nested
from coherence.records import Record

ONE_CONTEXT: Final = "attempts in one context count as independent"
ONE_ENVIRONMENT: Final = "attempts in one environment (seed) count as independent"
NEVER_WRONG: Final = "never wrong"
TOGETHER: Final = "verifications of an attempt taken together"


class Incoherence(Record, frozen=True):
    """The parts of the error of one group by one decomposition; `main` marks the group's headline row.

    `plug_in` is the plug-in incoherence. `sampling` and `context` are the mean variances within contexts and
    what contexts add, `verification` that within attempts. `contrary` counts attempts whose answer and whose
    pass or fail disagree, `disagree` those of the group whose verifications do.
    """

    dataset: str
    group: str
    kind: str
    decomposition: str
    found: Aggregate
    estimator: str
    main: bool = False
    scaffold: str | None = None
    backbone: str | None = None
    plug_in: float | None = None
    sampling: float | None = None
    context: float | None = None
    verification: float | None = None
    left_out: dict[str, int] = {}
    contrary: int = 0
    disagree: int = 0
    note: str = ""
    simulated: str = ""

    @property
    def left_out_text(self) -> str:
        """What was left out and why."""
        few = {
            "too few attempts (tasks)": self.found.too_few,
            "one context only (tasks)": self.found.one_context,
        }
        return wording.left_out(**self.left_out, **few)


def incoherence(group: Group, settings: IncoherenceSettings) -> Iterator[Incoherence]:
    """Yield the rows of a group, its main one first: pass or fail only where nothing else is known."""
    kinds = kinds_of(group, settings)
    if not kinds:
        yield _without_outcomes(group, settings)
    for place, kind in enumerate(kinds):
        attempts = attempts_of(group, kind)
        for number, name in enumerate(settings.decompositions_of(kind)):
            yield _row(attempts, name, settings, main=place == 0 and number == 0)


def _without_outcomes(group: Group, settings: IncoherenceSettings) -> Incoherence:
    """Return the row of a group without outcomes, or without those of the kind that the settings name."""
    others = int(np.logical_or.reduce([group.known(kind) for kind in KINDS]).sum())
    lost = {
        f"another outcome than {settings.kinds.get(group.dataset)}": others,
        "no outcome": len(group.frame) - others,
    }
    return Incoherence(
        dataset=group.dataset,
        group=group.name,
        kind=wording.NONE,
        decomposition=wording.NONE,
        found=Aggregate(0),
        estimator=settings.estimator,
        main=True,
        scaffold=group.scaffold,
        backbone=group.backbone,
        left_out={**group.left_out, **{reason: count for reason, count in lost.items() if count}},
        simulated=group.simulated,
    )


def _row(attempts: Attempts, name: str, settings: IncoherenceSettings, *, main: bool) -> Incoherence:
    group, kind = attempts.group, attempts.kind
    inside = nested_parts(attempts, name, settings)
    parts = plain(attempts, name, settings.estimator, settings.delta) if inside is None else inside.parts
    plug_in = plain(attempts, name, "plug-in", settings.delta)
    known = plug_in.take(parts.known)
    adds = name != "domingos"
    found = aggregate(parts)
    together = TOGETHER if group.verified is not None and inside is None else ""
    few = found.untold if adds else ""
    notes = (note_of(kind, name), *_notes(found, parts), few, together, *_dependent(attempts, inside))
    row = Incoherence(
        dataset=group.dataset,
        group=group.name,
        kind=kind,
        decomposition=name,
        found=found if adds else replace(found, incoherence=None, jackknife=None, delta=None, untold=""),
        estimator=parts.estimator,
        main=main,
        scaffold=group.scaffold,
        backbone=group.backbone,
        plug_in=ratio_of_sums(known.variance, known.error) if adds else None,
        left_out=attempts.left_out,
        contrary=_contrary(attempts),
        disagree=0 if group.verified is None else group.verified.disagree,
        note="; ".join(said for said in notes if said),
        simulated=group.simulated,
    )
    return row if inside is None else replace(row, **_within(inside, parts))


def _notes(found: Aggregate, parts: Parts) -> tuple[str, str]:
    never_wrong = NEVER_WRONG if found.items and found.error == 0 else ""
    return never_wrong, UNEQUAL if parts.known.any() and incomparable(parts) else ""


def _dependent(attempts: Attempts, inside: Nested | None) -> Iterator[str]:
    """Yield what of the attempts the estimates take as independent though it may not be."""
    frame = attempts.group.frame[["context", "seed"]].iloc[attempts.rows]
    if inside is None and _repeats(attempts.item, frame["context"]):
        yield ONE_CONTEXT
    if _repeats(attempts.item, frame["seed"]):
        yield ONE_ENVIRONMENT


def _repeats(item: Ints, names: "pd.Series[Any]") -> bool:
    """Return whether two attempts at one task share a known name."""
    known = names.notna().to_numpy(dtype=bool)
    if not known.any():
        return False
    return bool(pd.DataFrame({"item": item[known], "name": names[known].astype(object)}).duplicated().any())


def _within(inside: Nested, parts: Parts) -> dict[str, float | None]:
    """Return the mean variances within contexts, between them and within attempts, each where it is known."""
    found: dict[str, float | None] = {}
    both = parts.known & ~np.isnan(inside.sampling)
    if both.any():
        found |= {
            "sampling": float(inside.sampling[both].mean()),
            "context": float(inside.context[both].mean()),
        }
    if inside.verification is not None:
        verified = parts.known & ~np.isnan(inside.verification)
        found["verification"] = float(inside.verification[verified].mean()) if verified.any() else None
    return found


def _contrary(attempts: Attempts) -> int:
    if attempts.kind != "answer":
        return 0
    passed = attempts.group.frame["passed"].iloc[attempts.rows]
    right = attempts.answer == attempts.target[attempts.item]
    known = passed.notna().to_numpy(dtype=bool)
    return int((passed[known].to_numpy(dtype=bool) != right[known]).sum())
