from decimal import Decimal
from fractions import Fraction

import pytest

from coherence.stats.rounding import half_up


@pytest.mark.parametrize(
    ("value", "decimals", "rounded"),
    [
        (12.5, 0, "13"),
        (-12.5, 0, "-13"),
        (87.5, 0, "88"),
        (0.5, 0, "1"),
        (-0.4, 0, "0"),
        (100 * 0.145, 0, "15"),
        (28.999999999999996, 0, "29"),
        (Fraction(1, 2) - Fraction(1, 10**30), 0, "0"),
        (0.0026347, 3, "0.003"),
        (84.0, 1, "84.0"),
        (1e15, 0, "1000000000000000"),
    ],
    ids=str,
)
def test_halves_go_away_from_zero_and_float_noise_does_not_decide(
    value: float | Fraction, decimals: int, rounded: str
) -> None:
    assert str(half_up(value, decimals)) == rounded


def test_nothing_rounds_to_minus_zero() -> None:
    assert not half_up(-0.3).is_signed()
    assert half_up(-0.3) == Decimal(0)
