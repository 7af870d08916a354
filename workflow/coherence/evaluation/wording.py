"""How numbers read in tables and figures: rounded once, and n beside every share."""

from math import isinf

from coherence.stats.intervals import Interval
from coherence.stats.proportions import Proportion
from coherence.stats.rounding import half_up
from coherence.stats.tables import Comparison, Counts

NONE = "-"


def percent(share: float) -> str:
    """Return a share as a whole percentage without its sign."""
    return str(half_up(100 * share))


def number(value: float) -> str:
    """Return a number with one decimal, none where it is whole."""
    rounded = half_up(value, 1)
    return f"{rounded:.0f}" if rounded == int(rounded) else str(rounded)


def p_value(p: float | None) -> str:
    """Return a p with three decimals."""
    if p is None:
        return NONE
    return "< 0.001" if p < 0.001 else str(half_up(p, 3))


def proportion(share: Proportion) -> str:
    """Return "15/16 (94 %; 81 to 100)"; an interval without width has the exact one beside it."""
    if share.value is None or share.interval is None or share.exact is None:
        return f"{share.count}/{share.n}"
    bounds = percents(share.interval)
    if not share.interval.has_width:
        bounds += f", exact {percents(share.exact)}"
    return f"{share.count}/{share.n} ({percent(share.value)} %; {bounds})"


def percents(interval: Interval) -> str:
    """Return the bounds of a share's interval as percentages."""
    return f"{percent(interval.low)} to {percent(interval.high)}"


def points(gap: float, interval: Interval | None) -> str:
    """Return "+47 (19 to 65)", all in percentage points."""
    rounded = half_up(gap)
    signed = f"{rounded:+}" if rounded else "0"
    return signed if interval is None else f"{signed} ({half_up(interval.low)} to {half_up(interval.high)})"


def bounds(interval: Interval | None) -> str:
    """Return "19 to 65" of an interval in percentage points, "-" where there is none."""
    return NONE if interval is None else f"{half_up(interval.low)} to {half_up(interval.high)}"


def gap(comparison: Comparison | None) -> str:
    """Return the gap with its interval, or why there is none."""
    if comparison is None:
        return NONE
    if comparison.gap is None:
        return f"not applicable: {comparison.reason}"
    return points(comparison.gap, comparison.interval)


def count(number: int | None) -> str:
    """Return a count, "-" where it is not known."""
    return NONE if number is None else f"{number:,}"


def movement(before: object, after: object) -> str:
    """Return "13 → 11", "-" in the place of what is not known and for two such."""
    if before is None and after is None:
        return NONE
    return f"{NONE if before is None else before} → {NONE if after is None else after}"


def counts(table: Counts) -> str:
    """Return "risky 15/16 · safe 13/28"."""
    return f"risky {table.risky_fail}/{table.risky_n} · safe {table.safe_fail}/{table.safe_n}"


def estimate(value: float | None, interval: Interval | None = None, decimals: int = 2) -> str:
    """Return "0.89 (0.72 to 1.00)", without bounds where there are none; an infinite value in words."""
    if value is None:
        return NONE
    text = _decimal(value, decimals)
    if interval is None:
        return text
    return f"{text} ({_decimal(interval.low, decimals)} to {_decimal(interval.high, decimals)})"


def _decimal(value: float, decimals: int) -> str:
    return "infinite" if isinf(value) else f"{half_up(value, decimals):,}"


def left_out(**kinds: int) -> str:
    """Return "2 unjudged, 1 unknown outcome", in the order given, without what is 0."""
    named = [f"{count:,} {kind.replace('_', ' ')}" for kind, count in kinds.items() if count]
    return ", ".join(named) or NONE


def value(measured: float) -> str:
    """Return a measured value with about three digits: "12,345", "87", "0.125"."""
    digits = 0 if abs(measured) >= 100 else 1 if abs(measured) >= 10 else 3
    text = f"{half_up(measured, digits):,}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def share(value: float | None, interval: Interval | None = None) -> str:
    """Return a value with three decimals and its bounds."""
    return estimate(value, interval, 3)


def span(fewest: int | None, most: int | None) -> str:
    """Return "5" or "3 to 5"."""
    if fewest is None:
        return NONE
    return f"{fewest}" if fewest == most else f"{fewest} to {most}"
