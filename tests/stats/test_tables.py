"""The paper's twelve 2x2 tables: its Tables 1 and 2 leave only these counts."""

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.stats.tables import Counts, compare, fisher, newcombe

# risky failed, n; safe failed, n; published gap; Newcombe 95 %.
PAPER = {
    "qwen detector": (15, 16, 13, 28, 47, 18.99, 64.98),
    "qwen lexical": (19, 21, 9, 23, 51, 23.43, 69.66),
    "qwen generic": (26, 38, 2, 6, 35, -4.87, 61.84),
    "qwen length": (16, 21, 12, 23, 24, -4.24, 47.32),
    "qwen think calls": (15, 20, 13, 24, 21, -7.45, 44.40),
    "qwen tool errors": (10, 13, 18, 31, 19, -12.44, 41.69),
    "gemma detector": (9, 12, 17, 31, 20, -12.29, 43.63),
    "gemma lexical": (15, 21, 11, 22, 21, -7.36, 45.71),
    "gemma generic": (21, 32, 5, 11, 20, -11.51, 48.10),
    "gemma tool errors": (14, 20, 12, 23, 18, -10.90, 42.48),
    "gemma length": (12, 21, 14, 22, -6, -32.97, 21.18),
    "gemma think calls": (9, 17, 17, 26, -12, -39.17, 15.91),
}
GROUP = st.integers(1, 25).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
TABLES = st.builds(lambda risky, safe: Counts(*risky, *safe), GROUP, GROUP)


def enumerated(counts: Counts) -> float:
    """Fisher's two-sided p in whole numbers: all tables with these margins that are no more likely."""
    failed = counts.risky_fail + counts.safe_fail
    low, high = max(0, failed - counts.safe_n), min(counts.risky_n, failed)
    ways = {k: comb(counts.risky_n, k) * comb(counts.safe_n, failed - k) for k in range(low, high + 1)}
    unlikely = sum(way for way in ways.values() if way <= ways[counts.risky_fail])
    return float(Fraction(unlikely, sum(ways.values())))


@pytest.mark.parametrize(
    ("risky_fail", "risky_n", "safe_fail", "safe_n", "points", "low", "high"), PAPER.values(), ids=PAPER
)
def test_paper_table(
    risky_fail: int, risky_n: int, safe_fail: int, safe_n: int, points: int, low: float, high: float
) -> None:
    comparison = compare(Counts(risky_fail, risky_n, safe_fail, safe_n))
    assert comparison.points == points
    assert comparison.gap == pytest.approx(100 * (risky_fail / risky_n - safe_fail / safe_n))
    assert comparison.interval is not None
    assert (comparison.interval.low, comparison.interval.high) == pytest.approx((low, high), abs=0.006)


@pytest.mark.parametrize(
    ("counts", "p"),
    [
        (Counts(12, 13, 13, 28), 0.006139585198),  # [R 4.2.2]
        (Counts(9, 12, 17, 31), 0.3064586663),  # [R 4.2.2]
        (Counts(5, 6, 4, 6), 1.0),  # [R 4.2.2]
        (Counts(15, 16, 13, 28), 0.002635),  # [exact]
        (Counts(19, 21, 9, 23), 0.00051),  # [exact]
    ],
    ids=["seeds excluded", "gemma", "exchange at k = 16", "qwen", "lexical"],
)
def test_fisher_golden(counts: Counts, p: float) -> None:
    assert fisher(counts) == pytest.approx(p, abs=1e-6)


@given(TABLES)
def test_fisher_is_the_enumeration(counts: Counts) -> None:
    assert fisher(counts) == pytest.approx(enumerated(counts), rel=1e-6)


def test_newcombe_golden() -> None:
    interval = newcombe(Counts(56, 70, 48, 80))  # [Newcombe 1998, example (a), method 10]
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((5.24, 33.39), abs=5e-3)
    assert (interval.method, interval.n) == ("Newcombe hybrid score", 150)


def test_the_gap_is_rounded_after_subtracting() -> None:
    counts = Counts(15, 16, 13, 28)  # 93.75 % and 46.43 %: rounded rates would give 48
    assert counts.gap == Fraction(375, 4) - Fraction(1300, 28)
    assert compare(counts).points == 47


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        (Counts(0, 0, 3, 9), "no trajectory is risky"),
        (Counts(2, 5, 0, 0), "no trajectory is safe"),
        (Counts(0, 0, 0, 0), "no trajectory is risky or safe"),
    ],
    ids=["no risky", "no safe", "none"],
)
def test_an_empty_side_is_not_applicable(counts: Counts, reason: str) -> None:
    comparison = compare(counts)
    assert comparison.reason == reason
    assert (comparison.gap, comparison.points, comparison.interval, comparison.fisher_p) == (None,) * 4
    assert (newcombe(counts), fisher(counts)) == (None, None)


def test_equal_certain_groups_are_compared() -> None:
    comparison = compare(Counts(4, 4, 9, 9))
    assert (comparison.reason, comparison.gap, comparison.fisher_p) == (None, 0, 1)


@given(TABLES)
def test_swapping_the_groups_turns_the_gap_round(counts: Counts) -> None:
    here = compare(counts)
    there = compare(Counts(counts.safe_fail, counts.safe_n, counts.risky_fail, counts.risky_n))
    assert here.gap is not None
    assert here.points is not None
    assert here.interval is not None
    assert there.interval is not None
    assert there.gap == pytest.approx(-here.gap)
    assert there.points == -here.points
    assert there.interval.low == pytest.approx(-here.interval.high, abs=1e-9)
    assert here.interval.low - 1e-9 <= here.gap <= here.interval.high + 1e-9
