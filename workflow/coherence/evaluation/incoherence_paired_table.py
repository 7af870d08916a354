"""The table of groups compared with each other."""

from collections.abc import Callable, Sequence
from typing import Final

from coherence.evaluation import wording
from coherence.evaluation.decompositions import BINARY, LABELS, note_of
from coherence.evaluation.environment_pairs import BY_TASK, NO_SEEDS
from coherence.evaluation.incoherence_paired import PairedRow
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table, interval_fields
from coherence.evaluation.wording import share
from coherence.incoherence.aggregates import JACKKNIFE_T, NO_INTERVAL
from coherence.incoherence.paired import PAIRED_DELTA, PAIRED_T, SIGN_FLIP, Difference
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.multiplicity import BENJAMINI_HOCHBERG


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
    "paired_by": "paired_by",
    "by_task_because": "by_task",
    "environments": "environments",
    "first_attempts": "first_used.attempts",
    "second_attempts": "second_used.attempts",
    "first_without_partner": "first_used.n_left_out",
    "second_without_partner": "second_used.n_left_out",
    "first_left_out": "first_used.left_out_text",
    "second_left_out": "second_used.left_out_text",
    **_difference_fields("error"),
    **_difference_fields("incoherence"),
    "tasks_of_shared_variance": "shared.items",
    "shared_variance": "shared.covariance",
    "shared_of_first": "shared.first",
    **interval_fields("shared.first_interval", "shared_of_first"),
    "shared_of_second": "shared.second",
    **interval_fields("shared.second_interval", "shared_of_second"),
    "shared_unknown_because": "shared.reason",
    "not_applicable": "found.reason",
    "simulated": "simulated",
}


def _text(found: Difference | None) -> str:
    return wording.NONE if found is None else share(found.value, found.interval)


def _p(found: Difference | None) -> str:
    return wording.NONE if found is None else wording.p_value(found.p)


def _by(row: PairedRow) -> str:
    """Return "task", or what makes partners with the numbers of environments and attempts."""
    if row.paired_by == BY_TASK:
        return BY_TASK
    attempts = f"{row.first_used.attempts:,} and {row.second_used.attempts:,} attempts"
    return f"{row.paired_by}: {row.environments:,} environments, {attempts}"


def _common(row: PairedRow) -> str:
    if row.shared.first is None and row.shared.second is None:
        return wording.NONE
    shares = ((row.shared.first, row.shared.first_interval), (row.shared.second, row.shared.second_interval))
    return "; ".join(share(*each) for each in shares)


def _note(row: PairedRow) -> str:
    lost = [
        f"{side}: {used.left_out_text}"
        for side, used in (("first", row.first_used), ("second", row.second_used))
        if used.n_left_out
    ]
    why = "" if row.by_task == NO_SEEDS else row.by_task
    known = row.shared.reason if row.paired_by != BY_TASK else ""
    said = (row.found.reason, why, known, row.found.untold, *lost, note_of(row.kind, row.decomposition))
    return "; ".join(one for one in said if one) or wording.NONE


_COLUMNS: Final[dict[str, Callable[[PairedRow], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "First": lambda row: row.first,
    "Second": lambda row: row.second,
    "Same": lambda row: row.same or wording.NONE,
    "Decomposition": lambda row: LABELS[row.decomposition],
    "Tasks": lambda row: wording.count(row.found.items),
    "Paired by": _by,
    "Error": lambda row: _text(row.found.error),
    "p": lambda row: _p(row.found.error),
    "q": lambda row: wording.p_value(row.error_q),
    "Incoherence": lambda row: _text(row.found.incoherence),
    "p of incoherence": lambda row: _p(row.found.incoherence),
    "q of incoherence": lambda row: wording.p_value(row.incoherence_q),
    "Shared variance": _common,
    "Note": _note,
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
            f"incoherence: {LEVEL_TEXT} {PAIRED_DELTA} interval, both over tasks. {NO_INTERVAL} "
            f"p: {SIGN_FLIP} ({draws}), studentised for incoherence. q: p adjusted by "
            f"{BENJAMINI_HOCHBERG} over the dataset's pairs. "
            "Paired by task and seed: over attempts in environments (seeds of a task) that both have, two "
            "a task at the least, all of the same weight; the note counts attempts without a partner. "
            "Shared variance: covariance of both groups' outcomes over these environments, which is what the "
            "same environment does to both, as a share of the variance of the first; of the second (ratios "
            f"of sums over tasks; {LEVEL_TEXT} {JACKKNIFE_T} intervals; unbiased: they may lie outside 0 to "
            "1). "
            "Unless the config names pairs, groups are compared that share the scaffold or the backbone, or "
            "all where neither is known. "
            f'"{BINARY}" holds for the difference too.'
        ),
    )
