"""Groups compared on the tasks they share: who errs more, and whose error scatters more."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Final

import numpy as np
from msgspec.structs import replace

from coherence.errors import ConfigError
from coherence.evaluation import wording
from coherence.evaluation.decompositions import BINARY, LABELS, note_of
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.main_parts import MainParts, main_parts
from coherence.evaluation.outcome_kinds import kinds_of
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table, interval_fields
from coherence.evaluation.repeated import Group
from coherence.evaluation.wording import share
from coherence.incoherence.paired import PAIRED_DELTA, PAIRED_T, SIGN_FLIP, Difference, Paired, paired
from coherence.records import Record
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.multiplicity import BENJAMINI_HOCHBERG, benjamini_hochberg

MOST_PAIRS: Final = 10_000


class PairedRow(Record, frozen=True):
    """Two groups of a dataset on their common tasks, first less second.

    `same` says what they share. `error_q` and `incoherence_q` are p adjusted over the dataset's pairs.
    """

    dataset: str
    first: str
    second: str
    same: str
    kind: str
    decomposition: str
    found: Paired
    error_q: float | None = None
    incoherence_q: float | None = None
    simulated: str = ""


def pairs(groups: Sequence[Group], settings: IncoherenceSettings) -> Iterator[PairedRow]:
    """Yield the pairs of groups of one dataset, with adjusted p."""
    chosen = _chosen(groups, settings)
    if len(chosen) > MOST_PAIRS and groups[0].dataset not in settings.pairs:
        yield _too_many(groups[0], len(chosen))
        return
    known: dict[tuple[str, str], MainParts | None] = {}
    kinds = {group.name: kinds_of(group, settings) for group in groups}
    rows = []
    for first, second in chosen:
        kind = next((kind for kind in kinds[first.name] if kind in kinds[second.name]), None)
        if kind is not None:
            for group in (first, second):
                if (group.name, kind) not in known:
                    known[group.name, kind] = main_parts(group, settings, kind)
            sides = [known[group.name, kind] for group in (first, second)]
            if sides[0] is not None and sides[1] is not None:
                rows.append(_row(sides[0], sides[1], settings))
    error = benjamini_hochberg([row.found.error.p if row.found.error else None for row in rows])
    ratio = benjamini_hochberg([row.found.incoherence.p if row.found.incoherence else None for row in rows])
    for row, one, other in zip(rows, error, ratio, strict=True):
        yield replace(row, error_q=one, incoherence_q=other)


def _too_many(group: Group, pairs_found: int) -> PairedRow:
    reason = f"{pairs_found:,} pairs: more than {MOST_PAIRS:,} are compared only where the config names them"
    found = Paired(0, reason=reason)
    names = (wording.NONE, wording.NONE, "", wording.NONE, wording.NONE)
    return PairedRow(group.dataset, *names, found, simulated=group.simulated)


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
        f"{path}_q": f"{path}_q",
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


def _p(found: Difference | None) -> str:
    return wording.NONE if found is None else wording.p_value(found.p)


_COLUMNS: Final[dict[str, Callable[[PairedRow], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "First": lambda row: row.first,
    "Second": lambda row: row.second,
    "Same": lambda row: row.same or wording.NONE,
    "Decomposition": lambda row: LABELS[row.decomposition],
    "Tasks": lambda row: wording.count(row.found.items),
    "Error": lambda row: _text(row.found.error),
    "p": lambda row: _p(row.found.error),
    "q": lambda row: wording.p_value(row.error_q),
    "Incoherence": lambda row: _text(row.found.incoherence),
    "p of incoherence": lambda row: _p(row.found.incoherence),
    "q of incoherence": lambda row: wording.p_value(row.incoherence_q),
    "Note": lambda row: (
        "; ".join(said for said in (row.found.reason, note_of(row.kind, row.decomposition)) if said)
        or wording.NONE
    ),
}


def table(rows: Sequence[PairedRow], settings: IncoherenceSettings) -> Table:
    """Return `incoherence_paired`."""
    draws = f"{settings.permutations.number:,} swaps, seed {settings.permutations.seed}; all where fewer"
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="incoherence_paired",
        title="Groups compared on common tasks",
        caption=(
            f"First less second, over the tasks known in both. Error: {LEVEL_TEXT} {PAIRED_T} interval; "
            f"incoherence: {LEVEL_TEXT} {PAIRED_DELTA} interval, both over tasks. p: {SIGN_FLIP} ({draws}), "
            f"studentised for incoherence. q: p adjusted by {BENJAMINI_HOCHBERG} over the dataset's pairs. "
            "Unless the config names pairs, groups are compared that share the scaffold or the backbone, or "
            "all where neither is known. "
            f'"{BINARY}" holds for the difference too.'
        ),
    )
