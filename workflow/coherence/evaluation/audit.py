"""The paper's statements against its own counts: eighteen points, each with its arithmetic.

Nothing here needs a trajectory. Every number is computed from `data/published/counts.toml`.
"""

from collections.abc import Callable, Sequence
from typing import Final

from coherence.evaluation import audit_intervals, audit_rules, audit_strata, audit_tests
from coherence.evaluation.audit_findings import VERDICTS, Check, Finding, audit_table
from coherence.evaluation.audit_intervals import printed_intervals
from coherence.evaluation.audit_printed import intervals_table, printed_tests, tests_table
from coherence.evaluation.published import FIRST, SECOND, Published, counts
from coherence.evaluation.render import Cell, Table
from coherence.stats.rounding import half_up
from coherence.stats.tables import compare

CHECKS: Final[tuple[Check, ...]] = (
    audit_rules.rounding,
    audit_strata.weighted_average,
    audit_strata.one_flag,
    audit_strata.zero_thoughts,
    audit_strata.verbosity,
    audit_tests.one_trajectory,
    audit_intervals.interval_method,
    audit_intervals.two_intervals,
    audit_rules.median_split,
    audit_rules.tertile_cuts,
    audit_rules.conflict_types,
    audit_rules.confidence,
    audit_rules.generic_threshold,
    audit_strata.replication,
    audit_strata.both_methods,
    audit_tests.several_tests,
    audit_strata.verbosity_alone,
    audit_tests.second_dataset,
)


def introduction(published: Published) -> tuple[str, ...]:
    """Return paragraphs that say what is recomputed and how much of the print it matches."""
    rows, intervals = published.comparisons, printed_intervals(published)
    gaps = sum(compare(row.counts).points == row.gap for row in rows)
    near = sum(interval.steps <= 1 for interval in intervals)
    seeds = published.without_seeds
    tested = [(row.counts, row.p) for row in rows if row.p is not None]
    tested.append((counts(seeds.risky, seeds.safe), seeds.p))
    ps = sum(agrees(compare(table).fisher_p, printed) for table, printed in tested)
    return (
        "The paper prints rounded rates and group sizes; for each row of its two tables only one pair of "
        "whole numbers gives both rates, the gap and the dataset's failures. From these counts, and from "
        "gaps within tertiles solved for in whole numbers, the statements below are computed again.",
        f"What matches: {gaps} of {len(rows)} gaps, {ps} of {len(tested)} p values (Fisher, two-sided), "
        f"and {near} of {len(intervals)} bootstrap intervals to one step of 1/n. What the counts do not "
        "support is said with its arithmetic, and what they cannot decide is left open.",
    )


def agrees(p: float | None, printed: float) -> bool:
    """Whether a p rounds to the printed one."""
    decimals = len(str(printed).partition(".")[2])
    return p is not None and float(half_up(p, decimals)) == printed


def what_this_does_not_show(published: Published) -> tuple[str, ...]:
    """Return the limits of the audit and of the test it audits, a paragraph each."""
    first, second = published.of(FIRST), published.of(SECOND)
    missed, failed = first.safe[0], first.risky[0] + first.safe[0]
    left_out = first.counts.n - published.without_seeds.risky[1] - published.without_seeds.safe[1]
    return (
        "Construct validity. That flagged trajectories fail more often does not show that what is flagged is "
        "strained coherence: verbosity, length and the task go with both the flag and the failure.",
        "A flag is no proof of strained coherence. It is one judge's reading of quotes that were looked "
        "up in the text; quotes that stand there can still be misread.",
        f"An unflagged trajectory is no clean one. The detector misses {missed} of the {failed} failures "
        "in the first dataset, and a trajectory without visible thoughts cannot be flagged at all.",
        "A pass on this test is no clearance to deploy. The outcome is that of a benchmark's own tests.",
        "A cause. Nothing here says that acting against an acknowledged conflict makes a run fail.",
        "Anything about other backbones, scaffolds or prompts. There are two datasets, of "
        f"{first.counts.n} and {second.counts.n} trajectories, and the prompt quotes {left_out} tasks of the "
        "first.",
        "That the paper is wrong where a verdict is 'not supported': the counts allow the statement and "
        "are too few to show it.",
    )


def findings(published: Published) -> tuple[Finding, ...]:
    """Return all points, I1 to I18."""
    return tuple(check(published) for check in CHECKS)


def audit_tables(published: Published) -> tuple[Table, ...]:
    """Return the audit: points, their figures in full, the twelve rows tested, and the printed intervals."""
    found = findings(published)
    return (
        points_table(found),
        figures_table(found),
        tests_table(printed_tests(published), published.paper),
        intervals_table(printed_intervals(published), published.resamples),
    )


def points_table(found: Sequence[Finding]) -> Table:
    """Return `audit`: a row a point."""
    columns: dict[str, Callable[[Finding], str]] = {
        "Point": lambda row: row.id,
        "Where": lambda row: row.place,
        "What the paper says": lambda row: row.claim,
        "What its counts give": lambda row: row.finding,
        "Verdict": lambda row: row.verdict,
    }
    fields = {name: name for name in ("id", "place", "claim", "finding", "verdict")}
    meanings = "; ".join(f"{verdict}: {meaning}" for verdict, meaning in VERDICTS.items())
    return audit_table(
        (
            "audit",
            "The paper's statements against its own counts",
            f"Verdicts. {meanings[:1].upper()}{meanings[1:]}.",
        ),
        (found, columns, fields),
    )


def figures_table(found: Sequence[Finding]) -> Table:
    """Return `audit_figures`: the numbers of each point in full."""
    rows = [(point.id, name, value) for point in found for name, value in point.figures.items()]
    made: tuple[dict[str, Cell], ...] = tuple(
        {"id": point, "figure": name, "value": value} for point, name, value in rows
    )
    return Table(
        name="audit_figures",
        title="The audit's figures in full",
        caption="Gaps in percentage points, shares of power and p as shares of 1, the rest as named.",
        columns=("Point", "Figure", "Value"),
        rows=tuple((point, name.replace("_", " "), f"{value:.6g}") for point, name, value in rows),
        fields=("id", "figure", "value"),
        records=made,
    )
