"""The table of strata."""

from collections.abc import Callable, Sequence
from typing import Final

from coherence.evaluation import wording
from coherence.evaluation.decompositions import BINARY, LABELS, note_of
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.main_parts import ALL_GROUPS
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table, interval_fields
from coherence.evaluation.stratum import DIFFICULTY, WITHIN, Stratum
from coherence.evaluation.wording import share, span
from coherence.incoherence.aggregates import DELTA_T, JACKKNIFE_T, NO_INTERVAL
from coherence.incoherence.paired import SIGN_FLIP
from coherence.incoherence.trends import KENDALL, POOLED_KENDALL
from coherence.stats.intervals import LEVEL_TEXT

FIELDS: Final[dict[str, str]] = {
    **{name: name for name in ("dataset", "group")},
    "outcome": "kind",
    "decomposition": "decomposition",
    **{name: name for name in ("by", "stratum", "low", "high", "centre")},
    "tasks": "found.items",
    "attempts": "found.attempts",
    "attempts_a_task_min": "found.fewest",
    "attempts_a_task_max": "found.most",
    **{name: f"found.{name}" for name in ("error", "bias", "variance", "incoherence")},
    **interval_fields("found.jackknife", "jackknife_t"),
    **interval_fields("found.delta", "delta_t"),
    "interval_tasks": "found.jackknife.n",
    "tasks_never_wrong": "found.never_wrong",
    "tasks_unknown": "unknown",
    "test": "test",
    "test_tasks": "n_test",
    "tau": "tau",
    "p": "p",
    "warning": "warning",
    "simulated": "simulated",
}


def _left_out(row: Stratum) -> str:
    reason = "half too small (tasks)" if row.by.endswith(WITHIN) else "no value (tasks)"
    return wording.left_out(**{reason: row.unknown})


def _note(row: Stratum) -> str:
    said = (note_of(row.kind, row.decomposition), row.warning, row.found.untold)
    return "; ".join(one for one in said if one) or wording.NONE


_COLUMNS: Final[dict[str, Callable[[Stratum], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Group": lambda row: row.group,
    "Decomposition": lambda row: LABELS[row.decomposition],
    "By": lambda row: row.by.replace("_", " "),
    "Stratum": lambda row: row.stratum,
    "Tasks": lambda row: wording.count(row.found.items),
    "Attempts a task": lambda row: span(row.found.fewest, row.found.most),
    "Error": lambda row: share(row.found.error),
    "Incoherence": lambda row: share(row.found.incoherence, row.found.jackknife),
    "Tau": lambda row: share(row.tau),
    "p": lambda row: wording.p_value(row.p) + (f", n {row.n_test:,}" if row.test else ""),
    "Left out": _left_out,
    "Note": _note,
}


def table(rows: Sequence[Stratum], settings: IncoherenceSettings) -> Table:
    """Return `incoherence_strata`."""
    draws = f"{settings.permutations.number:,} swaps, seed {settings.permutations.seed}"
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="incoherence_strata",
        title="Error incoherence within strata",
        caption=(
            f"Incoherence: sum of variances / sum of errors of the stratum's tasks ({LEVEL_TEXT} "
            f"{JACKKNIFE_T} interval over tasks; {DELTA_T} in the CSV). {NO_INTERVAL} "
            f"Buckets: equally many tasks of a group by their mean length, or by their {DIFFICULTY} (mean "
            "failure rate, "
            f"each group once); equal values stay together. Tau and p: {KENDALL}, of the tasks' own "
            "incoherence with what "
            "divides them, tasks never wrong left out. Within the task: attempts below against at or above "
            "the task's own median, over tasks with enough attempts in both; p: "
            f"{SIGN_FLIP} ({draws}, or all). {ALL_GROUPS}: buckets as in each group, a task's groups kept "
            f"together; tau and p: {POOLED_KENDALL}. By scaffold and backbone, which have no order, there is "
            f'no trend. n: tasks that p rests on. p are not adjusted. "{BINARY}": such a trend is one of '
            "pass rates."
        ),
    )
