"""Groups compared on the tasks they share: who errs more, and whose error scatters more.

Attempts in the same environments are compared with each other where there are enough (`environment_pairs`).
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from msgspec.structs import replace

from coherence.errors import ConfigError
from coherence.evaluation import wording
from coherence.evaluation.environment_pairs import BY_TASK, Marks, marks_of, matched
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.main_parts import MainParts, main_parts
from coherence.evaluation.outcome_kinds import kinds_of
from coherence.evaluation.repeated import Group
from coherence.incoherence.paired import Paired, paired
from coherence.incoherence.shared_environments import Shared
from coherence.records import Record
from coherence.stats.multiplicity import benjamini_hochberg

MOST_PAIRS: Final = 10_000
NO_COMMON_KIND: Final = "no kind of outcome that both have"


class Used(Record, frozen=True):
    """How many attempts of a group are compared; `left_out` counts by reason those without a partner."""

    attempts: int = 0
    left_out: dict[str, int] = {}

    @property
    def n_left_out(self) -> int:
        """How many attempts have no partner."""
        return sum(self.left_out.values())

    @property
    def left_out_text(self) -> str:
        """Which attempts have no partner, by reason."""
        return wording.left_out(**self.left_out)


class PairedRow(Record, frozen=True):
    """Two groups of a dataset on their common tasks, first less second.

    `same` says what they share. `error_q` and `incoherence_q` are p adjusted over the dataset's pairs.
    `paired_by` says what makes partners of attempts: their task, or their environment too, of which there are
    `environments`; `by_task` says why not.
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
    paired_by: str = BY_TASK
    by_task: str = ""
    environments: int | None = None
    first_used: Used = Used()
    second_used: Used = Used()
    shared: Shared = Shared()
    simulated: str = ""


def pairs(groups: Sequence[Group], settings: IncoherenceSettings) -> Iterator[PairedRow]:
    """Yield the pairs of groups of one dataset, with adjusted p."""
    chosen = _chosen(groups, settings)
    if len(chosen) > MOST_PAIRS and groups[0].dataset not in settings.pairs:
        some = f"{len(chosen):,} pairs: more than {MOST_PAIRS:,}"
        reason = f"{some} are compared only where the config names them"
        yield _not_compared(groups[0], (wording.NONE, wording.NONE), reason)
        return
    known: dict[tuple[str, str], MainParts | None] = {}
    kinds = {group.name: kinds_of(group, settings) for group in groups}
    marks = marks_of(groups)
    rows = []
    for first, second in chosen:
        kind = next((kind for kind in kinds[first.name] if kind in kinds[second.name]), "")
        for group in (first, second):
            if (group.name, kind) not in known:
                known[group.name, kind] = main_parts(group, settings, kind)
        sides = [known[group.name, kind] for group in (first, second)]
        if sides[0] is None or sides[1] is None:
            rows.append(_not_compared(first, (first.name, second.name), NO_COMMON_KIND))
        else:
            rows.append(_row(sides[0], sides[1], settings, marks))
    error = benjamini_hochberg([row.found.error.p if row.found.error else None for row in rows])
    ratio = benjamini_hochberg([row.found.incoherence.p if row.found.incoherence else None for row in rows])
    for row, one, other in zip(rows, error, ratio, strict=True):
        yield replace(row, error_q=one, incoherence_q=other)


def _not_compared(group: Group, names: tuple[str, str], reason: str) -> PairedRow:
    none = wording.NONE
    found = Paired(0, reason=reason)
    return PairedRow(group.dataset, *names, "", none, none, found, simulated=group.simulated)


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


def _row(
    first: MainParts, second: MainParts, settings: IncoherenceSettings, marks: dict[str, Marks]
) -> PairedRow:
    match = matched(first, second, marks)
    known = match.parts[0].known & match.parts[1].known
    used = [
        Used(int(parts.n[known].sum()), left_out)
        for parts, left_out in zip(match.parts, match.left_out, strict=True)
    ]
    return PairedRow(
        dataset=first.dataset,
        first=first.group.name,
        second=second.group.name,
        same=_shared(first.group, second.group) or "",
        kind=first.kind,
        decomposition=first.decomposition,
        found=paired(*match.parts, settings.permutations),
        paired_by=match.by,
        by_task=match.by_task,
        environments=match.environments,
        first_used=used[0],
        second_used=used[1],
        shared=match.shared,
        simulated=first.group.simulated,
    )
