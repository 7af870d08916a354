"""The gap within each third of the trajectories, by the feature that gaps are adjusted for. A row a third."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from coherence.evaluation import readings, wording
from coherence.evaluation.adjusted import Adjusted, Stratum
from coherence.evaluation.readings import Reading
from coherence.evaluation.render import Table
from coherence.evaluation.settings import EvaluationSettings
from coherence.records import Record
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.tables import FISHER, NEWCOMBE
from coherence.stats.tertiles import RULE


class Third(Record, frozen=True):
    """One reading within one third of the values of `by`."""

    reading: Reading
    by: str
    stratum: Stratum
    simulated: str = ""


def thirds(rows: Iterable[Adjusted]) -> Iterator[Third]:
    """Yield the thirds of each adjusted gap that has any trajectory, in their order."""
    for row in rows:
        for stratum in row.strata:
            if stratum.comparison.counts.n:
                yield Third(row.reading, row.by, stratum, row.simulated)


FIELDS: Final[dict[str, str]] = {
    **readings.FIELDS,
    "by": "by",
    "third": "stratum.label",
    "from": "stratum.low",
    "to": "stratum.high",
    "n": "stratum.comparison.counts.n",
    "risky_fail": "stratum.comparison.counts.risky_fail",
    "risky_n": "stratum.comparison.counts.risky_n",
    "safe_fail": "stratum.comparison.counts.safe_fail",
    "safe_n": "stratum.comparison.counts.safe_n",
    "gap": "stratum.comparison.gap",
    "gap_low": "stratum.comparison.interval.low",
    "gap_high": "stratum.comparison.interval.high",
    "fisher_p": "stratum.comparison.fisher_p",
    "simulated": "simulated",
}

_COLUMNS: Final[dict[str, Callable[[Third], str]]] = {
    **readings.COLUMNS,
    "Third": lambda row: row.stratum.label,
    "Values": lambda row: values(row.stratum),
    "n": lambda row: wording.count(row.stratum.comparison.counts.n),
    "Failed": lambda row: wording.counts(row.stratum.comparison.counts),
    "Gap": lambda row: wording.gap(row.stratum.comparison),
    "p": lambda row: wording.p_value(row.stratum.comparison.fisher_p),
}


def values(stratum: Stratum) -> str:
    """Return the smallest and largest value met in a stratum, "0 to 1,204"."""
    if stratum.low is None or stratum.high is None:
        return wording.NONE
    return f"{stratum.low:,.6g} to {stratum.high:,.6g}"


def table(rows: Sequence[Third], settings: EvaluationSettings) -> Table:
    """Return `tertiles`."""
    return readings.table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="tertiles",
        title=f"Gaps within thirds of {settings.stratify_by}",
        caption=(
            f"Trajectories compared, {RULE}; equal values may fall on both sides of a cut. Gap: risky less "
            f"safe in percentage points ({LEVEL_TEXT} {NEWCOMBE} interval). p: {FISHER}, each third by "
            "itself."
        ),
    )
