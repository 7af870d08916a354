"""The table `meeting`: flags beside bias between tasks and scatter within them."""

from collections.abc import Callable, Sequence
from typing import Final

from coherence.evaluation import wording
from coherence.evaluation.meeting import Meeting
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table
from coherence.incoherence.aggregates import JACKKNIFE_T, NO_INTERVAL, Aggregate
from coherence.incoherence.trends import KENDALL, Trend
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.strata import EXACT_CMH, SATO


def _parts(side: str) -> dict[str, str]:
    return {
        f"{side}_tasks": f"{side}.items",
        f"{side}_error": f"{side}.error",
        f"{side}_bias": f"{side}.bias",
        f"{side}_variance": f"{side}.variance",
        f"{side}_incoherence": f"{side}.incoherence",
        f"{side}_incoherence_low": f"{side}.jackknife.low",
        f"{side}_incoherence_high": f"{side}.jackknife.high",
    }


FIELDS: Final[dict[str, str]] = {
    "dataset": "dataset",
    "group": "group",
    "judge": "judge",
    "reading": "reading",
    "outcome_kind": "kind",
    "tasks": "tasks",
    "attempts": "attempts",
    "flags": "flags",
    **_parts("flagged"),
    **_parts("others"),
    "tau_bias": "with_bias.tau",
    "tau_bias_p": "with_bias.p",
    "tau_variance": "with_variance.tau",
    "tau_variance_p": "with_variance.p",
    "within_gap": "within.gap",
    "within_low": "within.interval.low",
    "within_high": "within.interval.high",
    "within_exact_p": "exact_p",
    "n_telling_tasks": "telling_tasks",
    "n_unjudged": "unjudged",
    "n_unknown_outcome": "unknown_outcome",
    "n_without_trajectory": "without_trajectory",
    "n_without_thoughts": "without_thoughts",
    "simulated": "simulated",
}


def _side(parts: Aggregate) -> str:
    if not parts.items:
        return "no task"
    text = f"error {wording.estimate(parts.error)} = {wording.estimate(parts.bias)} + "
    text += f"{wording.estimate(parts.variance)}; incoherence "
    why = f" ({parts.untold})" if parts.untold else ""
    return f"{text}{wording.estimate(parts.incoherence, parts.jackknife)}{why}, n = {parts.items:,}"


def _tau(found: Trend) -> str:
    return f"{wording.estimate(found.tau)}, p {wording.p_value(found.p)}"


_COLUMNS: Final[dict[str, Callable[[Meeting], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Group": lambda row: row.group,
    "Judge": lambda row: row.judge,
    "Reading": lambda row: row.reading,
    "Tasks": lambda row: wording.count(row.tasks),
    "Flagged": lambda row: f"{row.flags:,}/{row.attempts:,}",
    "No thoughts": lambda row: wording.count(row.without_thoughts),
    "Tasks with a flag": lambda row: _side(row.flagged),
    "Tasks without": lambda row: _side(row.others),
    "Tau with bias": lambda row: _tau(row.with_bias),
    "with variance": lambda row: _tau(row.with_variance),
    "Gap within tasks": lambda row: (
        wording.points(row.within.gap, row.within.interval) if row.within else wording.NONE
    ),
    "p": lambda row: f"{wording.p_value(row.exact_p)}, {row.telling_tasks:,} tasks tell",
    "Left out": lambda row: wording.left_out(
        unjudged=row.unjudged,
        unknown_outcome=row.unknown_outcome,
        without_trajectory=row.without_trajectory,
    ),
}


def table(rows: Sequence[Meeting]) -> Table:
    """Return `meeting`."""
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="meeting",
        title="Flags and the parts of error: bias between tasks, scatter within them",
        caption=(
            "No thoughts: attempts in which the judge had no thought to read, unflagged as in the paper. "
            "Tasks with and without a flagged attempt: error = bias + variance by the group's main "
            f"decomposition, and incoherence ({LEVEL_TEXT} {JACKKNIFE_T} interval). {NO_INTERVAL} "
            f"Tau: {KENDALL}, of the share of a task's attempts that is flagged with its bias and with "
            "its variance. Gap within "
            "tasks: failure rate of flagged less other attempts at the same task in percentage points "
            f"({SATO}, {LEVEL_TEXT} interval); p: {EXACT_CMH}, told by the tasks with both outcomes, of "
            "which some attempts are flagged and some are not. Where only pass or fail is known, bias and "
            "variance are functions of the pass rate. p are not adjusted."
        ),
    )
