"""Rounding as every table shows it: once, after all arithmetic, halves away from zero."""

from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Final

NOISE: Final = 9  # decimals of a float taken as meant: 28.999999999999996 is 29


def half_up(value: Fraction | float, decimals: int = 0) -> Decimal:
    """Return the value rounded to this many decimals, halves away from zero and never "-0"."""
    exact = value if isinstance(value, Fraction) else Fraction(f"{value:.{NOISE}f}")
    whole = floor(abs(exact) * 10**decimals + Fraction(1, 2))
    return Decimal(-whole if exact < 0 else whole).scaleb(-decimals)
