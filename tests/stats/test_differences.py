"""Score intervals of a gap; sources as in the reference: Newcombe 1998, and the paper's twelve tables."""

from itertools import product

import pytest

from coherence.stats.differences import agresti_caffo, constrained, mee, miettinen_nurminen, mover
from coherence.stats.intervals import Interval
from coherence.stats.tables import Counts, compare

# The paper's tables: counts, Miettinen-Nurminen and Agresti-Caffo (shares, four decimals).
PAPER = {
    "qwen detector": ((15, 16, 13, 28), (0.1991, 0.6644), (0.1921, 0.6523)),
    "qwen lexical": ((19, 21, 9, 23), (0.2426, 0.7130), (0.2333, 0.7058)),
    "qwen generic": ((26, 38, 2, 6), (-0.0570, 0.6404), (-0.0655, 0.6655)),
    "qwen length": ((16, 21, 12, 23), (-0.0483, 0.4908), (-0.0465, 0.4848)),
    "qwen think calls": ((15, 20, 13, 24), (-0.0816, 0.4614), (-0.0783, 0.4559)),
    "qwen tool errors": ((10, 13, 18, 31), (-0.1329, 0.4359), (-0.1226, 0.4378)),
    "gemma detector": ((9, 12, 17, 31), (-0.1320, 0.4564), (-0.1225, 0.4601)),
    "gemma lexical": ((15, 21, 11, 22), (-0.0814, 0.4751), (-0.0789, 0.4702)),
    "gemma generic": ((21, 32, 5, 11), (-0.1252, 0.4993), (-0.1295, 0.5005)),
    "gemma tool errors": ((14, 20, 12, 23), (-0.1179, 0.4424), (-0.1143, 0.4379)),
    "gemma length": ((12, 21, 14, 22), (-0.3449, 0.2240), (-0.3401, 0.2205)),
    "gemma think calls": ((9, 17, 17, 26), (-0.4080, 0.1700), (-0.4027, 0.1696)),
}
NEWCOMBE_A = Counts(56, 70, 48, 80)  # [Newcombe 1998, example (a)]


def shares(interval: Interval | None) -> tuple[float, float]:
    assert interval is not None
    return interval.low / 100, interval.high / 100


@pytest.mark.parametrize(("counts", "score", "caffo"), PAPER.values(), ids=PAPER)
def test_paper_table(
    counts: tuple[int, int, int, int], score: tuple[float, float], caffo: tuple[float, float]
) -> None:
    assert shares(miettinen_nurminen(Counts(*counts))) == pytest.approx(score, abs=6e-5)
    assert shares(agresti_caffo(Counts(*counts))) == pytest.approx(caffo, abs=6e-5)


def test_miettinen_nurminen_golden() -> None:
    assert shares(miettinen_nurminen(NEWCOMBE_A)) == pytest.approx((0.0528, 0.3382), abs=5e-5)


def test_mee_golden() -> None:
    assert shares(mee(NEWCOMBE_A)) == pytest.approx((0.0533, 0.3377), abs=5e-5)


def test_mover_of_the_papers_two_models() -> None:
    interval = mover(compare(Counts(15, 16, 13, 28)), compare(Counts(9, 12, 17, 31)))
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((-9.6, 64.1), abs=0.05)


def test_mover_needs_both_gaps() -> None:
    assert mover(compare(Counts(1, 2, 0, 0)), compare(Counts(9, 12, 17, 31))) is None


def likelihood(counts: Counts, risky: float, gap: float) -> float:
    safe = risky - gap
    powers = (
        (risky, counts.risky_fail),
        (1 - risky, counts.risky_n - counts.risky_fail),
        (safe, counts.safe_fail),
        (1 - safe, counts.safe_n - counts.safe_fail),
    )
    value = 1.0
    for rate, times in powers:
        value *= rate**times
    return value


@pytest.mark.parametrize("gap", [-0.9, -0.3, 0.0, 0.2, 0.85])
@pytest.mark.parametrize("cells", [(3, 5, 2, 7), (0, 4, 6, 6), (4, 4, 0, 9), (1, 9, 1, 3)], ids=str)
def test_the_constrained_rates_are_the_most_likely(cells: tuple[int, int, int, int], gap: float) -> None:
    counts = Counts(*cells)
    risky, safe = constrained(counts, gap)
    low, high = max(0.0, gap), min(1.0, 1 + gap)
    best = max(likelihood(counts, low + (high - low) * step / 5000, gap) for step in range(5001))
    assert risky - safe == pytest.approx(gap)
    assert likelihood(counts, risky, gap) >= best * (1 - 1e-6)


def test_every_small_table_has_an_interval_around_its_gap() -> None:
    for n1, n0 in ((1, 1), (2, 5), (4, 3)):
        for a, b in product(range(n1 + 1), range(n0 + 1)):
            interval = miettinen_nurminen(Counts(a, n1, b, n0))
            assert interval is not None
            gap = 100 * (a / n1 - b / n0)
            assert -100 <= interval.low <= gap + 1e-6
            assert gap - 1e-6 <= interval.high <= 100
            assert interval.has_width


@pytest.mark.parametrize("method", [miettinen_nurminen, mee, agresti_caffo])
def test_an_empty_group_has_no_interval(method) -> None:  # type: ignore[no-untyped-def]
    assert method(Counts(0, 0, 2, 4)) is None
