"""Where the scatter of nested runs comes from: scaffolds, settings, contexts, attempts and verifications."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from coherence.evaluation import wording
from coherence.evaluation.backbones import OTHER_TESTS, joined, units_of, with_same_tests
from coherence.evaluation.error_incoherence import NEVER_WRONG
from coherence.evaluation.incoherence_settings import BY_KIND, IncoherenceSettings
from coherence.evaluation.outcome_kinds import Attempts, attempts_of, kinds_of
from coherence.evaluation.outcome_points import points_of
from coherence.evaluation.repeated import Group
from coherence.incoherence.aggregates import LEAST, TOO_FEW_TASKS, jackknife_t, ratio_of_sums
from coherence.incoherence.contract import KINDS
from coherence.incoherence.nesting import Components, Units, components
from coherence.incoherence.parts import Bools, Floats
from coherence.records import Record
from coherence.stats.intervals import Interval

BINARY_PARTS: Final = "binary: functions of the groups' pass rates by task"
NOT_PARTED: Final = "(not parted by scaffold)"
NO_BACKBONE: Final = "backbone or scaffold unknown (groups)"
NO_COMMON_KIND: Final = "no kind of outcome that two scaffolds have (groups)"
LONE_SCAFFOLD: Final = "the only scaffold of their backbone (groups)"


class Part(Record, frozen=True):
    """One part of the error: the mean over tasks, and the ratio of sums to the error."""

    value: float
    interval: Interval | None
    share: float | None
    share_interval: Interval | None


class NestedRow(Record, frozen=True):
    """The parts of the error of one backbone over scaffolds, or of one group whose runs are nested.

    The parts that are known add up to `error`, over `tasks` in which all of them are. `scaffolds` are those
    tried there, from `fewest` to `most` a task; `outcomes` are the attempts' verifications. `left_out` counts
    by reason, attempts where it says nothing else.
    """

    dataset: str
    name: str
    kind: str
    decomposition: str
    is_backbone: bool
    main: bool = False
    tasks: int = 0
    groups: int = 0
    scaffolds: int = 0
    fewest: int | None = None
    most: int | None = None
    attempts: int = 0
    outcomes: int = 0
    error: float | None = None
    bias: Part | None = None
    scaffold: Part | None = None
    setting: Part | None = None
    context: Part | None = None
    sampling: Part | None = None
    verification: Part | None = None
    left_out: dict[str, int] = {}
    note: str = ""
    simulated: str = ""

    @property
    def of(self) -> str:
        """What the row is about."""
        return "backbone" if self.is_backbone else "group"

    @property
    def left_out_text(self) -> str:
        """What was left out and why."""
        return wording.left_out(**self.left_out)


def nested_rows(groups: Sequence[Group], settings: IncoherenceSettings) -> Iterator[NestedRow]:
    """Yield the backbones of one dataset with several scaffolds, then the groups nested by themselves.

    Groups that no backbone's row can take in are counted in a row of their own, where other groups of the
    dataset have a scaffold and a backbone.
    """
    kinds = {group.name: kinds_of(group, settings) for group in groups}
    by_backbone: dict[str, list[Group]] = {}
    for group in groups:
        if group.backbone is not None and group.scaffold is not None:
            by_backbone.setdefault(group.backbone, []).append(group)
    several = {name: own for name, own in by_backbone.items() if _scaffolds(own) > 1}
    for name, own in several.items():
        yield from _kinds_of_backbone(name, own, kinds)
    for group in groups:
        if group.verified is not None or group.frame["context"].notna().any():
            for place, kind in enumerate(kinds[group.name]):
                yield _row([group], group.name, kind, main=place == 0)
    if by_backbone:
        yield from _others(groups, by_backbone, several)


def _scaffolds(groups: Sequence[Group]) -> int:
    return len({group.scaffold for group in groups})


def _kinds_of_backbone(
    name: str, groups: Sequence[Group], kinds: dict[str, tuple[str, ...]]
) -> Iterator[NestedRow]:
    """Yield a row for each kind of outcome that several scaffolds have, the most telling first."""
    place = 0
    for kind in KINDS:
        having = [group for group in groups if kind in kinds[group.name]]
        if _scaffolds(having) > 1:
            lost = {f"without any {kind} (groups)": len(groups) - len(having)}
            yield _row(having, name, kind, main=place == 0, lost=lost, by_scaffold=True)
            place += 1
    if not place:
        yield _unparted(groups, name, {NO_COMMON_KIND: len(groups)})


def _others(
    groups: Sequence[Group], by_backbone: dict[str, list[Group]], several: dict[str, list[Group]]
) -> Iterator[NestedRow]:
    placed = sum(map(len, by_backbone.values()))
    alone = placed - sum(map(len, several.values()))
    lost = {NO_BACKBONE: len(groups) - placed, LONE_SCAFFOLD: alone}
    if any(lost.values()):
        yield _unparted(groups, NOT_PARTED, {reason: count for reason, count in lost.items() if count})


def _unparted(groups: Sequence[Group], name: str, left_out: dict[str, int]) -> NestedRow:
    return NestedRow(
        dataset=groups[0].dataset,
        name=name,
        kind=wording.NONE,
        decomposition=wording.NONE,
        is_backbone=True,
        groups=sum(left_out.values()),
        left_out=left_out,
        simulated=groups[0].simulated,
    )


def _row(
    members: Sequence[Group],
    name: str,
    kind: str,
    *,
    main: bool,
    lost: dict[str, int] | None = None,
    by_scaffold: bool = False,
) -> NestedRow:
    whole, differ = joined(members, name), 0
    if kind == "tests":
        whole, differ = with_same_tests(whole)
    usable = attempts_of(whole, kind)
    units = units_of(usable)
    found = components(points_of(usable, BY_KIND[kind][0]), units, by_scaffold=by_scaffold)
    tasks = {f"{reason} (tasks)": int(which.sum()) for reason, which in found.lost.items()}
    every = {**usable.left_out, **(lost or {}), f"{OTHER_TESTS} (tasks)": differ, **tasks}
    # Contexts and verifications tell more than the pass rates of groups do.
    is_binary = kind == "passed" and not {"context", "verification"} & set(found.parts)
    note = [BINARY_PARTS] if is_binary else []
    if found.known.any() and not found.error[found.known].any():
        note.append(NEVER_WRONG)
    elif found.known.any() and (found.error[found.known] > 0).sum() < LEAST:
        note.append(TOO_FEW_TASKS)
    return NestedRow(
        dataset=whole.dataset,
        name=name,
        kind=kind,
        decomposition=BY_KIND[kind][0],
        is_backbone=by_scaffold,
        main=main,
        groups=len(members),
        left_out={reason: count for reason, count in every.items() if count},
        note="; ".join(note),
        simulated=whole.simulated,
        **_sizes(usable, units, found.known),
        **_parts(found),
    )


def _sizes(usable: Attempts, units: Units, known: Bools) -> dict[str, Any]:
    """Return the numbers of tasks, scaffolds, attempts and outcomes that the parts rest on."""
    used = known[usable.item]
    pairs = np.unique(np.column_stack([usable.item[used], units.scaffold[used]]), axis=0)
    a_task = np.unique(pairs[:, 0], return_counts=True)[1]
    return {
        "tasks": int(known.sum()),
        "scaffolds": len(np.unique(pairs[:, 1])),
        "fewest": int(a_task.min()) if len(a_task) else None,
        "most": int(a_task.max()) if len(a_task) else None,
        "attempts": len(np.unique(units.attempt[used])),
        "outcomes": int(used.sum()),
    }


def _parts(found: Components) -> dict[str, Any]:
    known = found.known
    if not known.any():
        return {}
    error = found.error[known]
    return {"error": float(error.mean()), **{n: _part(v[known], error) for n, v in found.parts.items()}}


def _part(values: Floats, error: Floats) -> Part:
    return Part(
        value=float(values.mean()),
        interval=jackknife_t(values, np.ones(len(values))),
        share=ratio_of_sums(values, error),
        share_interval=jackknife_t(values, error),
    )
