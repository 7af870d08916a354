"""The paper's numbers computed again by their id: what 2x2 tables give, and what else its counts give."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from coherence.evaluation.numbers import Value
from coherence.evaluation.published import DETECTOR, FIRST, SECOND, Published, counts
from coherence.stats.proportions import clopper_pearson
from coherence.stats.resampling import endless_bootstrap
from coherence.stats.rounding import half_up
from coherence.stats.tables import Counts, fisher

Tables = Mapping[tuple[str, str], Counts]  # by dataset and feature
Found = Iterator[tuple[str, Value]]
GENERIC = "generic_coherence"
LEXICAL = "lexical"
SIMPLE = ("trajectory_length", "think_calls", "tool_errors")


def value(*numbers: float | Fraction | None, n: int = 0) -> Value:
    """Return the numbers that are known as one value."""
    return Value(tuple(float(number) for number in numbers if number is not None), n)


def percent(count: int, n: int) -> Fraction:
    """Return an exact percentage, 0 of 0 as 0."""
    return Fraction(100 * count, n or 1)


def from_tables(tables: Tables, without_seeds: Counts | None = None) -> dict[str, Value]:
    """Return by id what the rows of Tables 1 and 2 give, and what is said of them in the text."""
    found: dict[str, Value] = {}
    for (dataset, feature), table in tables.items():
        whole = tables.get((dataset, DETECTOR))
        found |= _row(f"{dataset}.{feature}", table, whole.n if whole else table.n)
        if feature == DETECTOR:
            found |= _dataset(dataset, table)
    detector = tables.get((FIRST, DETECTOR))
    if detector is not None:
        found |= dict(_gaps(tables)) | _selectivity(tables, detector)
        if without_seeds is not None:
            found |= _seeds(detector, without_seeds)
    return found


def _row(key: str, table: Counts, n: int) -> dict[str, Value]:
    """Return one row; a group's size is what the other leaves of the dataset, so that rows must add up."""
    groups = {
        "risky": (table.risky_fail, table.risky_n, n - table.safe_n),
        "safe": (table.safe_fail, table.safe_n, n - table.risky_n),
    }
    found = {f"{key}.gap": value(table.gap)}
    for group, (failed, size, left) in groups.items():
        bounds = endless_bootstrap(failed, size)
        found[f"{key}.{group}.N"] = value(left)
        found[f"{key}.{group}.fail_pct"] = value(percent(failed, size))
        if bounds is not None:
            found[f"{key}.{group}.boot_ci"] = value(100 * bounds.low, 100 * bounds.high, n=size)
    return found


def _dataset(dataset: str, table: Counts) -> dict[str, Value]:
    failed = table.risky_fail + table.safe_fail
    found = {
        f"{dataset}.N": value(table.n),
        f"{dataset}.fail": value(failed),
        f"{dataset}.pass": value(table.n - failed),
        f"{dataset}.base_rate": value(percent(failed, table.n)),
        f"{dataset}.fisher_p": value(fisher(table)),
    }
    if dataset == SECOND:
        found[f"{dataset}.flagged_passed"] = value(table.risky_n - table.risky_fail)
    return found


def _gaps(tables: Tables) -> Found:
    """Yield the detector's gap less those of the others, and the range of the simple ones."""
    gap = {feature: table.gap for (dataset, feature), table in tables.items() if dataset == FIRST}
    detector, generic = gap[DETECTOR], gap.get(GENERIC)
    simple = [found for name in SIMPLE if (found := gap.get(name)) is not None]
    if detector is not None and generic is not None:
        yield f"{FIRST}.gap_diff.generic", value(detector - generic)
    if detector is not None and len(simple) == len(SIMPLE):
        yield f"{FIRST}.gap_diff.simple_range", value(detector - max(simple), detector - min(simple))
        yield f"{FIRST}.simple_gap_range", value(min(simple), max(simple))


def _selectivity(tables: Tables, detector: Counts) -> dict[str, Value]:
    shares = {"detector": DETECTOR, "generic": GENERIC, "lexical": LEXICAL}
    found = {
        f"{FIRST}.selectivity.{name}": value(percent(table.risky_n, table.n))
        for name, feature in shares.items()
        if (table := tables.get((FIRST, feature))) is not None
    }
    failed = detector.risky_fail + detector.safe_fail
    return found | {
        "config.k": value(detector.risky_n),
        f"{FIRST}.k16.detector_precision": value(percent(detector.risky_fail, detector.risky_n)),
        f"{FIRST}.missed_failures": value(detector.safe_fail, failed),
    }


def _seeds(detector: Counts, without: Counts) -> dict[str, Value]:
    return {
        f"{FIRST}.seed.n": value(detector.n - without.n),
        f"{FIRST}.seedexcl.flagged": value(without.risky_fail, without.risky_n),
        f"{FIRST}.seedexcl.pct": value(percent(without.risky_fail, without.risky_n)),
        f"{FIRST}.seedexcl.gap": value(without.gap),
        f"{FIRST}.seedexcl.fisher_p": value(fisher(without)),
    }


def from_counts(published: Published) -> dict[str, Value]:
    """Return by id everything that the published counts give; none is typed in."""
    tables = {(row.dataset, row.feature): row.counts for row in published.comparisons}
    left = published.without_seeds
    found = from_tables(tables, counts(left.risky, left.safe))
    for part in (_trials, _overlap, _tertiles, _without_thoughts):
        found |= dict(part(published))
    failed, n = published.of(FIRST).risky
    found[f"{FIRST}.seedexcl.flagged"] = value(failed - left.tasks, n - left.tasks)
    return found


def _trials(published: Published) -> Found:
    n, trials = published.of(FIRST).counts.n, published.trials
    yield f"{FIRST}.trials", value(trials.completed + trials.crashed)
    yield f"{FIRST}.retry_recovered", value(n - trials.completed)
    yield f"{FIRST}.zero_think", value(n - trials.with_thoughts)


def _overlap(published: Published) -> Found:
    """Yield both methods' shared and own flags, each as what the others leave."""
    table, overlap = published.of(FIRST).counts, published.overlap
    k, n = overlap.k, overlap.both[1]
    lexical = next(failed for failed in range(k + 1) if half_up(percent(failed, k)) == overlap.lexical_rate)
    alone = (overlap.lexical_only[0], overlap.lexical_only[1])
    sides = (overlap.both, overlap.detector_only, overlap.lexical_only)
    failed = table.risky_fail + table.safe_fail
    bounds = clopper_pearson(*overlap.both)
    yield (
        f"{FIRST}.overlap.both",
        value(k - overlap.detector_only[1], table.risky_fail - overlap.detector_only[0]),
    )
    yield f"{FIRST}.overlap.detector_only", value(table.risky_n - n, table.risky_fail - overlap.both[0])
    yield f"{FIRST}.overlap.lexical_only", value(k - n, lexical - overlap.both[0])
    yield (
        f"{FIRST}.overlap.neither",
        value(table.n - sum(side[1] for side in sides), failed - sum(side[0] for side in sides)),
    )
    yield f"{FIRST}.k16.lexical_precision", value(percent(overlap.both[0] + alone[0], n + alone[1]))
    yield f"{FIRST}.selectivity.intersection", value(percent(n, table.n))
    if bounds is not None:
        yield f"{FIRST}.overlap.cp_ci", value(100 * bounds.low, 100 * bounds.high)


def _tertiles(published: Published) -> Found:
    """Yield the gaps of the first whole-number solution; all have the printed gaps, for so they are found."""
    for dataset, ways in published.strata.items():
        for name, table in zip(("low", "mid", "high"), ways[0], strict=True):
            yield f"{dataset}.tertile.{name}.gap", value(table.gap)


def _without_thoughts(published: Published) -> Found:
    """Yield the trajectories without thoughts: they are the unflagged ones of the lowest tertile."""
    none = published.without_thoughts
    low = published.strata[none.dataset][0][0]
    if low.safe_n == none.failed[1]:
        yield f"{none.dataset}.zero_think", value(low.safe_n, low.safe_fail, low.safe_n - low.safe_fail)
    n = published.of(none.dataset).counts.n
    yield f"{none.dataset}.with_think", value(n - none.failed[1], n)
