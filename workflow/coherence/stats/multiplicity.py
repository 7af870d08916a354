"""Several tests of one declared family: p values that hold for all of them together."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control
from statsmodels.stats.multitest import multipletests

HOLM: Final = "Holm"
BENJAMINI_HOCHBERG: Final = "Benjamini-Hochberg"
Floats = NDArray[np.float64]


def holm(ps: Sequence[float | None]) -> tuple[float | None, ...]:
    """Return each p adjusted by Holm within the family; a test without a p is no member of it."""
    return _adjusted(ps, lambda known: multipletests(known, method="holm")[1])


def benjamini_hochberg(ps: Sequence[float | None]) -> tuple[float | None, ...]:
    """Return each p adjusted for the false discovery rate; a test without a p is no member of the family."""
    return _adjusted(ps, false_discovery_control)


def _adjusted(ps: Sequence[float | None], adjust: Callable[[Floats], Floats]) -> tuple[float | None, ...]:
    known = [p for p in ps if p is not None]
    if not known:
        return tuple(ps)
    adjusted = iter(adjust(np.array(known)).tolist())
    return tuple(None if p is None else float(next(adjusted)) for p in ps)
