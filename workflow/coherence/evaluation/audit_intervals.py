"""Points of the audit on the intervals printed with each rate."""

from collections.abc import Sequence
from itertools import chain, combinations

from coherence.evaluation.audit_findings import Finding, known, p_text, points
from coherence.evaluation.published import FIRST, Published, Share
from coherence.records import Record
from coherence.stats.proportions import clopper_pearson, wilson
from coherence.stats.resampling import chance_of_bounds, coverage, endless_bootstrap
from coherence.stats.rounding import half_up


class PrintedInterval(Record, frozen=True):
    """A printed bootstrap interval, its bounds and those of endless resampling as counts."""

    name: str
    group: str
    share: Share
    printed: tuple[int, int]
    low: int
    high: int
    endless_low: int
    endless_high: int
    chance: float

    @property
    def steps(self) -> int:
        """By how many steps of 1/n the worse of its bounds is off."""
        return max(abs(self.low - self.endless_low), abs(self.high - self.endless_high))


def printed_intervals(published: Published) -> tuple[PrintedInterval, ...]:
    """Return the intervals of both groups of each row."""
    return tuple(
        _printed(row.name, (group, share), printed, published.resamples)
        for row in published.comparisons
        for group, share, printed in (
            ("risky", row.risky, row.risky_interval),
            ("safe", row.safe, row.safe_interval),
        )
    )


def _printed(name: str, who: tuple[str, Share], printed: tuple[int, int], resamples: int) -> PrintedInterval:
    group, (count, n) = who
    low, high = (int(half_up(bound * n / 100)) for bound in printed)
    endless = endless_bootstrap(count, n)
    bounds = (endless.low, endless.high) if endless else (0.0, 0.0)
    chance = chance_of_bounds(low, high, (count, n), resamples)
    return PrintedInterval(
        name, group, (count, n), printed, low, high, round(bounds[0] * n), round(bounds[1] * n), chance
    )


def interval_method(published: Published) -> Finding:
    """I7: coverage of the percentile bootstrap."""
    count, n = published.of(FIRST).risky
    held = {rate: 100 * coverage(n, rate, endless_bootstrap) for rate in (count / n, 0.9, 0.8)}
    better = [100 * coverage(n, rate, wilson) for rate in held]
    exact, both = clopper_pearson(count, n), clopper_pearson(*published.overlap.both)
    low, high = (100 * exact.low, 100 * exact.high) if exact else (None, None)
    shared = 100 * both.low if both else None
    return Finding(
        "I7",
        "3.4, Tables 1 and 2, 4.4",
        "95 % intervals are percentile bootstraps; the intersection's exact interval starts at 69 %.",
        f"The bootstrap of a share is a binomial quantile. At n = {n} it holds the true rate in "
        f"{', '.join(f'{points(share, 0)} % (rate {rate:.4g})' for rate, share in held.items())} of samples, "
        f"Wilson's in {', '.join(points(share, 0) for share in better)} %. Exact for {count}/{n}: "
        f"{points(low)} to {points(high)} %, so the intersection ({published.overlap.both[0]}/"
        f"{published.overlap.both[1]}, from {points(shared)} %) is not better supported.",
        "not supported",
        known(
            coverage_observed=held[count / n],
            coverage_90=held[0.9],
            coverage_80=held[0.8],
            exact_low=low,
            exact_high=high,
            intersection_low=shared,
        ),
    )


def two_intervals(published: Published) -> Finding:
    """I8: one count, two intervals."""
    intervals = printed_intervals(published)
    pairs = alike_but_printed_apart(intervals)
    told = "; ".join(
        f"{one.share[0]}/{one.share[1]}: {_bounds(one)} ({one.name}, {one.group}) and {_bounds(two)} "
        f"({two.name}, {two.group})"
        for one, two in pairs
    )
    off = [found for found in intervals if found.steps]
    most, least = max(found.steps for found in intervals), min((found.chance for found in off), default=None)
    return Finding(
        "I8",
        "Tables 1 and 2",
        "Each rate has a bootstrap interval; no seed is given.",
        f"One count has two intervals: {told or 'none'}. {len(off)} of {len(intervals)} intervals differ "
        f"from endless resampling, by at most {most} step of 1/n; the chance of each at "
        f"{published.resamples:,} resamples is {p_text(least)} or more.",
        "within chance",
        known(off=len(off), most_steps=most, smallest_chance=least)
        | {f"chance_{number}": found.chance for number, found in enumerate(chain(*pairs), 1)},
    )


def alike_but_printed_apart(
    intervals: Sequence[PrintedInterval],
) -> list[tuple[PrintedInterval, PrintedInterval]]:
    """Return the pairs of intervals of one count that are printed differently."""
    return [
        (one, two)
        for one, two in combinations(intervals, 2)
        if one.share == two.share and one.printed != two.printed
    ]


def _bounds(found: PrintedInterval) -> str:
    return f"[{found.printed[0]}, {found.printed[1]}], chance {p_text(found.chance)}"
