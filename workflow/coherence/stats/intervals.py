"""An interval names its method, its n and its seed; this module needs no numerical library."""

from typing import Final

from coherence.records import Record

LEVEL: Final = 0.95
LEVEL_TEXT: Final = "95 %"


class Interval(Record, frozen=True):
    """A confidence interval in the unit of what it is about; `resamples` and `seed` where it was drawn."""

    low: float
    high: float
    method: str
    n: int
    level: float = LEVEL
    resamples: int | None = None
    seed: int | None = None

    @property
    def has_width(self) -> bool:
        """Whether it says anything: a bootstrap at 0 % or 100 % has no width and is no certainty."""
        return self.high > self.low


class Bootstrap(Record, frozen=True):
    """How often to resample, and the seed (not negative) of all draws."""

    resamples: int = 1000
    seed: int = 0
