"""Whole numbers behind rounded gaps: all ways to fill strata so that they give what was printed."""

from collections.abc import Iterator, Sequence
from itertools import product

from coherence.stats.rounding import half_up
from coherence.stats.tables import Counts


def solutions(total: Counts, sizes: Sequence[int], gaps: Sequence[int]) -> tuple[tuple[Counts, ...], ...]:
    """Return all strata of these sizes that add up to `total` and whose gaps round to `gaps` (points)."""
    fillings = [tuple(_fillings(size, gap, total)) for size, gap in zip(sizes, gaps, strict=True)]
    found = (strata for strata in product(*fillings[:-1]) if _fits(strata, total))
    last = set(fillings[-1])
    return tuple(
        (*strata, rest) for strata in found if (rest := _rest(strata, total)) in last and rest.n == sizes[-1]
    )


def _fillings(size: int, gap: int, total: Counts) -> Iterator[Counts]:
    for risky_n in range(1, min(size - 1, total.risky_n) + 1):
        safe_n = size - risky_n
        for risky_fail in range(min(risky_n, total.risky_fail) + 1):
            for safe_fail in range(min(safe_n, total.safe_fail) + 1):
                counts = Counts(risky_fail, risky_n, safe_fail, safe_n)
                if counts.gap is not None and half_up(counts.gap) == gap:
                    yield counts


def _rest(strata: Sequence[Counts], total: Counts) -> Counts:
    return Counts(
        total.risky_fail - sum(stratum.risky_fail for stratum in strata),
        total.risky_n - sum(stratum.risky_n for stratum in strata),
        total.safe_fail - sum(stratum.safe_fail for stratum in strata),
        total.safe_n - sum(stratum.safe_n for stratum in strata),
    )


def _fits(strata: Sequence[Counts], total: Counts) -> bool:
    rest = _rest(strata, total)
    return 0 <= rest.risky_fail <= rest.risky_n and 0 <= rest.safe_fail <= rest.safe_n
