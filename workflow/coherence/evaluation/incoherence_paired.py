"""Groups compared on the tasks they share: who errs more, and whose error scatters more."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Final

import numpy as np
from msgspec.structs import replace

from coherence.errors import ConfigError
from coherence.evaluation import wording
from coherence.evaluation.decompositions import BINARY, LABELS, note_of
from coherence.evaluation.error_incoherence import interval_fields, share
from coherence.evaluation.incoherence_settings import KINDS, IncoherenceSettings
from coherence.evaluation.main_parts import MainParts, main_parts
from coherence.evaluation.outcome_kinds import kinds_of
from coherence.evaluation.readings import marked, simulation_note
from coherence.evaluation.render import Table, records, shown
from coherence.evaluation.repeated import Group
from coherence.incoherence.paired import PAIRED_DELTA, PAIRED_T, SIGN_FLIP, Difference, Paired, paired
from coherence.records import Record
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.multiplicity import HOLM, holm


class PairedRow(Record, frozen=True):
    """Two groups of a dataset on their common tasks, first less second.

    `same` says what they share. The adjusted p hold for all pairs of the dataset together.
    """

    dataset: str
    first: str
    second: str
    same: str
    kind: str
    decomposition: str
    found: Paired
    error_p_adjusted: float | None = None
    incoherence_p_adjusted: float | None = None
    simulated: str = ""


def pairs(groups: Sequence[Group], settings: IncoherenceSettings) -> Iterator[PairedRow]:
    """Yield the pairs of groups of one dataset, with p adjusted by Holm."""
    known: dict[tuple[str, str], MainParts | None] = {}
    rows = []
    for first, second in _chosen(groups, settings):
        kind = _common_kind(first, second, settings)
        if kind is not None:
            for group in (first, second):
                if (group.name, kind) not in known:
                    known[group.name, kind] = main_parts(group, settings, kind)
            sides = [known[group.name, kind] for group in (first, second)]
            if sides[0] is not None and sides[1] is not None:
                rows.append(_row(sides[0], sides[1], settings))
    error = holm([row.found.error.p if row.found.error else None for row in rows])
    ratio = holm([row.found.incoherence.p if row.found.incoherence else None for row in rows])
    for row, one, other in zip(rows, error, ratio, strict=True):
        yield replace(row, error_p_adjusted=one, incoherence_p_adjusted=other)


def _chosen(groups: Sequence[Group], settings: IncoherenceSettings) -> list[tuple[Group, Group]]:
    if not groups:
        return []
    named = {group.name: group for group in groups}
    wanted = settings.pairs.get(groups[0].dataset)
    if wanted is not None:
        lost = sorted({name for pair in wanted for name in pair} - set(named))
        if lost:
            raise ConfigError(
                f"incoherence.pairs: dataset {groups[0].dataset!r} has no group {lost[0]!r}; "
                f"there are {', '.join(map(repr, sorted(named)[:20]))}"
            )
        return [(named[first], named[second]) for first, second in wanted]
    return [pair for pair in combinations(groups, 2) if _shared(*pair) is not None]


def _shared(first: Group, second: Group) -> str | None:
    """Return what two groups share, None where they differ in both scaffold and backbone."""
    same = [
        name
        for name in ("scaffold", "backbone")
        if (value := getattr(first, name)) is not None and value == getattr(second, name)
    ]
    if same:
        return ", ".join(same)
    is_known = any(getattr(group, name) for group in (first, second) for name in ("scaffold", "backbone"))
    return None if is_known else ""


def _common_kind(first: Group, second: Group, settings: IncoherenceSettings) -> str | None:
    both = set(kinds_of(first, settings)) & set(kinds_of(second, settings))
    return next((kind for kind in KINDS if kind in both), None)


def _row(first: MainParts, second: MainParts, settings: IncoherenceSettings) -> PairedRow:
    _, one, other = np.intersect1d(first.outcomes.tasks, second.outcomes.tasks, return_indices=True)
    return PairedRow(
        dataset=first.dataset,
        first=first.group.name,
        second=second.group.name,
        same=_shared(first.group, second.group) or "",
        kind=first.kind,
        decomposition=first.decomposition,
        found=paired(first.parts.take(one), second.parts.take(other), settings.permutations),
        simulated=first.group.simulated,
    )


def _difference_fields(path: str) -> dict[str, str]:
    return {
        f"{path}_difference": f"found.{path}.value",
        **interval_fields(f"found.{path}.interval", f"{path}_difference"),
        f"{path}_p": f"found.{path}.p",
        f"{path}_p_holm": f"{path}_p_adjusted",
        f"{path}_swaps": f"found.{path}.swaps",
        f"{path}_exact": f"found.{path}.exact",
    }


FIELDS: Final[dict[str, str]] = {
    **{name: name for name in ("dataset", "first", "second", "same")},
    "outcome": "kind",
    "decomposition": "decomposition",
    "tasks": "found.items",
    **_difference_fields("error"),
    **_difference_fields("incoherence"),
    "not_applicable": "found.reason",
    "simulated": "simulated",
}


def _text(found: Difference | None) -> str:
    return wording.NONE if found is None else share(found.value, found.interval)


_COLUMNS: Final[dict[str, Callable[[PairedRow], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "First": lambda row: row.first,
    "Second": lambda row: row.second,
    "Same": lambda row: row.same or wording.NONE,
    "Decomposition": lambda row: LABELS[row.decomposition],
    "Tasks": lambda row: wording.count(row.found.items),
    "Error": lambda row: _text(row.found.error),
    "p, adjusted": lambda row: wording.p_value(row.error_p_adjusted),
    "Incoherence": lambda row: _text(row.found.incoherence),
    "p, adjusted ": lambda row: wording.p_value(row.incoherence_p_adjusted),
    "Note": lambda row: (
        "; ".join(said for said in (row.found.reason, note_of(row.kind, row.decomposition)) if said)
        or wording.NONE
    ),
}


def table(rows: Sequence[PairedRow], settings: IncoherenceSettings) -> Table:
    """Return `incoherence_paired`."""
    draws = f"{settings.permutations.number:,} swaps, seed {settings.permutations.seed}; all where fewer"
    return Table(
        name="incoherence_paired",
        title="Groups compared on common tasks",
        caption=(
            f"First less second, over the tasks known in both. Error: {LEVEL_TEXT} {PAIRED_T} interval; "
            f"incoherence: {LEVEL_TEXT} {PAIRED_DELTA} interval. p: {SIGN_FLIP} ({draws}), studentised for "
            f"incoherence, adjusted by {HOLM} over the dataset's pairs. Unless the config names pairs, groups are "
            "compared that share the scaffold or the backbone, or all where neither is known. "
            f'"{BINARY}" holds for the difference too.'
        ),
        columns=tuple(_COLUMNS),
        rows=shown(rows, _COLUMNS),
        fields=tuple(FIELDS),
        records=records(rows, FIELDS),
        note=simulation_note((row.dataset, row.simulated) for row in rows),
        datasets=tuple(dict.fromkeys(row.dataset for row in rows)),
    )
