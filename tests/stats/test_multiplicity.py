import pytest

from coherence.stats.multiplicity import benjamini_hochberg, holm
from coherence.stats.tables import Counts, fisher

# The twelve rows of the paper's Tables 1 and 2, detector and lexical of Qwen first.
TWELVE = [
    Counts(15, 16, 13, 28),
    Counts(19, 21, 9, 23),
    Counts(26, 38, 2, 6),
    Counts(16, 21, 12, 23),
    Counts(15, 20, 13, 24),
    Counts(10, 13, 18, 31),
    Counts(9, 12, 17, 31),
    Counts(15, 21, 11, 22),
    Counts(21, 32, 5, 11),
    Counts(14, 20, 12, 23),
    Counts(12, 21, 14, 22),
    Counts(9, 17, 17, 26),
]
PS = [fisher(counts) for counts in TWELVE]


def test_holm_over_the_papers_twelve() -> None:
    assert holm(PS) == pytest.approx([0.02898, 0.00613, *[1.0] * 10], abs=5e-6)  # [statsmodels]


def test_benjamini_hochberg_over_the_papers_twelve() -> None:
    adjusted = benjamini_hochberg(PS)
    assert adjusted[:2] == pytest.approx([0.01581, 0.00613], abs=5e-6)  # [scipy]
    assert min(p for p in adjusted[2:] if p is not None) == pytest.approx(0.418, abs=5e-4)


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_a_test_without_p_is_no_member(adjust) -> None:  # type: ignore[no-untyped-def]
    assert adjust([0.01, None, 0.03]) == pytest.approx((0.02, None, 0.03))
    assert adjust([None]) == (None,)
    assert adjust([]) == ()
