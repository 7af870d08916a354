"""One stratum of the analysis: what divides, which part, and the error in it."""

from typing import Final

from msgspec.structs import replace

from coherence.evaluation import wording
from coherence.evaluation.decompositions import UNEQUAL
from coherence.evaluation.main_parts import MainParts
from coherence.incoherence.aggregates import Aggregate
from coherence.incoherence.parts import Floats
from coherence.incoherence.strata import AT_OR_ABOVE, BELOW
from coherence.records import Record

DIFFICULTY: Final = "difficulty for the other groups"
WITHIN: Final = ", within the task"
HALVES: Final = {BELOW: "below its median", AT_OR_ABOVE: "at or above its median"}


class Stratum(Record, frozen=True):
    """One stratum of one group, or of all groups of a dataset together.

    `by` is what divides, `place` the stratum's number from 0, `low` and `high` the values in it, `centre`
    is their mean. `tau` and `p` are those of the whole division, by `test`, over `n_test` tasks; `unknown`
    counts the tasks without a value. `warning` says where estimates are not to be compared.
    """

    dataset: str
    group: str
    kind: str
    decomposition: str
    by: str
    stratum: str
    place: int
    found: Aggregate
    low: float | None = None
    high: float | None = None
    centre: float | None = None
    test: str = ""
    n_test: int = 0
    tau: float | None = None
    p: float | None = None
    unknown: int = 0
    warning: str = ""
    simulated: str = ""


def stratum(main: MainParts, group: str, by: str, place: int, found: Aggregate) -> Stratum:
    """Return a stratum without its values and test."""
    return Stratum(
        dataset=main.dataset,
        group=group,
        kind=main.kind,
        decomposition=main.decomposition,
        by=by,
        stratum=f"{place + 1}",
        place=place,
        found=found,
        warning=_warning(main, found),
        simulated=main.group.simulated,
    )


def _warning(main: MainParts, found: Aggregate) -> str:
    if main.parts.estimator == "unbiased" or found.fewest == found.most:
        return ""
    return UNEQUAL


def with_values(row: Stratum, values: Floats) -> Stratum:
    """Return the stratum with the range of the values that tasks have in it."""
    low, high, centre = float(values.min()), float(values.max()), float(values.mean())
    name = f"{row.place + 1}: {wording.value(low)} to {wording.value(high)}"
    return replace(row, stratum=name, low=low, high=high, centre=centre)
