"""Points of the audit on rules the paper leaves open, and places where its text differs from itself."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from coherence.evaluation.audit_findings import Finding, known, points
from coherence.evaluation.published import FIRST, SECOND, PrintedComparison, Published
from coherence.stats.solutions import solutions
from coherence.stats.tables import compare


def rounding(published: Published) -> Finding:
    """I1: gaps of rounded rates."""
    rows = [row for row in published.comparisons if row.risky_rate - row.safe_rate != row.gap]
    told = "; ".join(
        f"{row.name}: {row.risky_rate} - {row.safe_rate} = {row.risky_rate - row.safe_rate}, printed "
        f"{row.gap}, exact {points(compare(row.counts).gap, 2)}"
        for row in rows
    )
    wrong = sum(compare(row.counts).points != row.gap for row in published.comparisons)
    return Finding(
        "I1",
        "Tables 1 and 2, 4.1",
        "The gap is the difference of the two rates printed beside it.",
        f"In {len(rows)} of {len(published.comparisons)} rows it is not ({told}). Subtracting first and "
        f"rounding last gives every printed gap ({wrong} exceptions).",
        "needs a word",
        known(rows=len(rows), exceptions=wrong, detector_gap=compare(published.of(FIRST).counts).gap),
    )


def median_split(published: Published) -> Finding:
    """I9: which side of the median takes its ties."""
    split = ("lexical", "trajectory_length", "think_calls", "tool_errors")
    rows: list[PrintedComparison] = [row for row in published.comparisons if row.feature in split]
    most = {name: max(row.risky[1] for row in rows if row.dataset == name) for name in (FIRST, SECOND)}
    half = {name: -(-published.of(name).counts.n // 2) for name in most}
    fitting = sum(row.risky[1] >= half[row.dataset] for row in rows)
    return Finding(
        "I9",
        "3.3, Tables 1 and 2",
        "Features are split at the median.",
        f"Risky is strictly above it: with the median's own ties at least {half[FIRST]} and {half[SECOND]} "
        f"trajectories would be risky; there are at most {most[FIRST]} and {most[SECOND]}, and {fitting} of "
        f"{len(rows)} rows fit.",
        "not specified",
        known(most_first=most[FIRST], half_first=half[FIRST], most_second=most[SECOND], fitting=fitting),
    )


def generic_threshold(published: Published) -> Finding:
    """I13: what a reader would have to guess."""
    shares = [published.of(name, "generic_coherence").counts for name in (FIRST, SECOND)]
    told = " and ".join(f"{table.risky_n}/{table.n}" for table in shares)
    steps = published.text.acknowledgment_steps
    return Finding(
        "I13",
        "3.2, 3.3, 4.2, A.1",
        "Generic coherence is rated 1 to 5 and reported as flagged or not.",
        f"It flags {told}; no threshold is given. Nor is it said whether a span without confidence makes "
        "a flag, what a reasoning step is, which of several acknowledgments counts as the first (A.1 "
        f"lists steps {', '.join(map(str, steps))} of one span), how ties at rank {published.overlap.k} "
        "are broken, or which markers and error patterns are counted.",
        "not specified",
        known(flagged_first=shares[0].risky_n, flagged_second=shares[1].risky_n, acknowledgments=len(steps)),
    )


def tertile_cuts(published: Published) -> Finding:
    """I10: which way to cut into tertiles gives the printed gaps."""
    ways = {
        rule: [_ways(published, name, cut(published.of(name).counts.n)) for name in (FIRST, SECOND)]
        for rule, cut in CUTS.items()
    }
    told = "; ".join(
        f"{rule} ({'/'.join(map(str, CUTS[rule](published.of(FIRST).counts.n)))}): {first} and {second}"
        for rule, (first, second) in ways.items()
    )
    fitting = [rule for rule, found in ways.items() if all(found)]
    return Finding(
        "I10",
        "4.5, 4.6",
        "Trajectories are split into tertiles of thought characters.",
        f"Whole-number solutions of the printed gaps in the two datasets, by rule and sizes: {told}. Only "
        f"cuts at {' or '.join(fitting)} fit.",
        "not specified",
        known(fitting=len(fitting), solutions_first=sum(ways[rule][0] for rule in fitting)),
    )


def _ways(published: Published, dataset: str, sizes: Sequence[int]) -> int:
    table = published.of(dataset).counts
    return len(solutions(table, sizes, published.gaps_within(dataset).gaps))


def _by_quantiles(n: int) -> tuple[int, ...]:
    low, high = np.quantile(np.arange(n), [1 / 3, 2 / 3])
    below, middle = int((np.arange(n) <= low).sum()), int((np.arange(n) <= high).sum())
    return below, middle - below, n - middle


CUTS: Final[dict[str, Callable[[int], tuple[int, ...]]]] = {
    "n//3 and 2n//3": lambda n: (n // 3, 2 * n // 3 - n // 3, n - 2 * n // 3),
    "n//3 and 2(n//3)": lambda n: (n // 3, n // 3, n - 2 * (n // 3)),
    "numpy's array_split": lambda n: tuple(len(part) for part in np.array_split(np.arange(n), 3)),
    "pandas' qcut and quantiles": _by_quantiles,
}


def conflict_types(published: Published) -> Finding:
    """I11: how many conflict types there are."""
    section, appendix = published.text.conflict_types_in_section, published.text.conflict_types_in_appendix
    return Finding(
        "I11",
        "3.2, Appendix C",
        f"There are {section} types of conflict.",
        f"The prompt in Appendix C has {appendix}, with 'other': {appendix - section} more.",
        "contradicts itself",
        known(section=section, appendix=appendix),
    )


def confidence(published: Published) -> Finding:
    """I12: one span, two confidences."""
    text = published.text
    low, high = text.confidence_selected
    inside = low <= text.confidence_in_example <= high
    return Finding(
        "I12",
        "A.1, Appendix B",
        f"Appendix B lists spans of confidence {low} to {high}, among them db-wal-recovery.",
        f"There it has {text.confidence_in_list}, in A.1 {text.confidence_in_example}, which the "
        f"selection would {'keep' if inside else 'leave out'}.",
        "contradicts itself",
        known(example=text.confidence_in_example, listed=text.confidence_in_list),
    )
