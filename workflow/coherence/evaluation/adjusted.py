"""Is the gap one of verbosity? Each reading compared within tertiles of a feature, and pooled over them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from coherence.evaluation import readings, wording
from coherence.evaluation.failure_rates import counts_of
from coherence.evaluation.family import compared
from coherence.evaluation.groups import Split
from coherence.evaluation.readings import Reading
from coherence.evaluation.render import Table
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, known
from coherence.records import Record
from coherence.stats.intervals import LEVEL, LEVEL_TEXT
from coherence.stats.strata import (
    CMH,
    EXACT_CMH,
    SATO,
    ZELEN,
    AdjustedGap,
    Cmh,
    ExactCmh,
    cmh,
    exact_cmh,
    mantel_haenszel,
    standardised,
    zelen,
)
from coherence.stats.tables import NEWCOMBE, Comparison, compare
from coherence.stats.tertiles import RULE, Tertile, tertiles

DOUBTFUL: Final = " *"  # behind an interval that the exact test contradicts


def borne_out(gap: AdjustedGap, exact: ExactCmh | None) -> bool:
    """Whether an interval that excludes no gap is one that the exact test agrees with."""
    excludes = not gap.interval.low <= 0 <= gap.interval.high
    return not excludes or (exact is not None and exact.two_sided < 1 - LEVEL)


class Stratum(Record, frozen=True):
    """The two groups within one third; `low` and `high` are the values met in it."""

    label: str
    low: float | None
    high: float | None
    comparison: Comparison


class Adjusted(Record, frozen=True):
    """One reading within the tertiles of `by`, and pooled over them; `missing` rows have no value of it."""

    reading: Reading
    by: str
    strata: tuple[Stratum, ...]
    crude: Comparison
    missing: int
    gap: AdjustedGap | None
    cmh: Cmh | None
    exact: ExactCmh | None
    zelen_p: float | None
    standardised_risky: float | None
    standardised_all: float | None
    simulated: str = ""

    @property
    def low(self) -> Stratum:
        """The lowest third."""
        return self.strata[0]

    @property
    def middle(self) -> Stratum:
        """The middle third."""
        return self.strata[1]

    @property
    def high(self) -> Stratum:
        """The highest third."""
        return self.strata[2]


def adjusted(splits: Sequence[Split], settings: EvaluationSettings) -> Iterator[Adjusted]:
    """Yield each split within tertiles, but not that of the feature which makes them.

    Datasets without that feature have no row, unless none has it: then every row says so.
    """
    by = settings.stratify_by
    others = [split for split in splits if split.reading.name != by]
    measured = [split for split in others if any(by in row.features for row in (*split.risky, *split.safe))]
    for split in measured or others:
        yield _adjusted(split, settings)


def _adjusted(split: Split, settings: EvaluationSettings) -> Adjusted:
    by = settings.stratify_by
    groups = compared(split)
    measured = [[(row, known(row, by)) for row in group] for group in groups]
    valued = [[row for row, value in group if value is not None] for group in measured]
    values = {row.id: value for group in measured for row, value in group if value is not None}
    strata = tuple(_stratum(third, *valued) for third in tertiles(values))
    tables = [stratum.comparison.counts for stratum in strata]
    exact = exact_cmh(tables)
    return Adjusted(
        reading=split.reading,
        by=by,
        strata=strata,
        crude=compare(counts_of(*valued)),
        missing=len(groups[0]) + len(groups[1]) - len(values),
        gap=mantel_haenszel(tables),
        cmh=cmh(tables),
        exact=exact,
        zelen_p=zelen(tables),
        standardised_risky=standardised(tables, "risky"),
        standardised_all=standardised(tables, "all"),
        simulated=settings.simulated.get(split.reading.dataset, ""),
    )


def _stratum(third: Tertile, risky: Sequence[Row], safe: Sequence[Row]) -> Stratum:
    members = set(third.members)
    inside = [[row for row in group if row.id in members] for group in (risky, safe)]
    return Stratum(third.label, third.low, third.high, compare(counts_of(*inside)))


def _fields(label: str) -> dict[str, str]:
    counts = ("risky_fail", "risky_n", "safe_fail", "safe_n")
    return {
        f"{label}_from": f"{label}.low",
        f"{label}_to": f"{label}.high",
        **{f"{label}_{name}": f"{label}.comparison.counts.{name}" for name in counts},
        f"{label}_gap": f"{label}.comparison.gap",
    }


FIELDS: Final[dict[str, str]] = {
    **readings.FIELDS,
    "by": "by",
    "n": "crude.counts.n",
    "n_missing": "missing",
    "crude_gap": "crude.gap",
    "adjusted_gap": "gap.gap",
    "adjusted_se": "gap.se",
    "adjusted_low": "gap.interval.low",
    "adjusted_high": "gap.interval.high",
    "strata_left_out": "gap.left_out",
    "cmh_chi2": "cmh.chi2",
    "cmh_p": "cmh.p",
    "mantel_haenszel_odds_ratio": "cmh.odds_ratio",
    "exact_p": "exact.two_sided",
    "exact_p_one_sided": "exact.greater",
    "conditional_odds_ratio": "exact.odds_ratio",
    "zelen_p": "zelen_p",
    "standardised_to_risky": "standardised_risky",
    "standardised_to_all": "standardised_all",
    **_fields("low"),
    **_fields("middle"),
    **_fields("high"),
    "simulated": "simulated",
}


def _shown_stratum(stratum: Stratum) -> str:
    table = stratum.comparison.counts
    cells = f"{table.risky_fail}/{table.risky_n} against {table.safe_fail}/{table.safe_n}"
    gap = stratum.comparison.gap
    return cells if gap is None else f"{wording.points(gap, None)}: {cells}"


_COLUMNS: Final[dict[str, Callable[[Adjusted], str]]] = {
    **readings.COLUMNS,
    "Low": lambda row: _shown_stratum(row.low),
    "Middle": lambda row: _shown_stratum(row.middle),
    "High": lambda row: _shown_stratum(row.high),
    "Crude gap": lambda row: wording.gap(row.crude),
    "Adjusted gap": lambda row: (
        wording.points(row.gap.gap, row.gap.interval) + ("" if borne_out(row.gap, row.exact) else DOUBTFUL)
        if row.gap
        else "not applicable: no stratum has both groups"
    ),
    "Exact p": lambda row: wording.p_value(row.exact.two_sided if row.exact else None),
    "CMH p": lambda row: wording.p_value(row.cmh.p if row.cmh else None),
    "Zelen p": lambda row: wording.p_value(row.zelen_p),
    "Left out": lambda row: wording.left_out(
        without_value=row.missing, strata_without_both_groups=row.gap.left_out if row.gap else 0
    ),
}


def table(rows: Sequence[Adjusted], settings: EvaluationSettings) -> Table:
    """Return `adjusted`."""
    return readings.table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="adjusted",
        title=f"Gaps adjusted for {settings.stratify_by}",
        caption=(
            f"Within tertiles of {settings.stratify_by} ({RULE}, among the trajectories compared): the "
            f"gap, failed/n of the risky against the safe. Gaps in percentage points; crude: {LEVEL_TEXT} "
            f"{NEWCOMBE} interval; adjusted: {SATO}, {LEVEL_TEXT} interval. Exact p: {EXACT_CMH}. CMH p: "
            f"{CMH}. Zelen p: {ZELEN}. The adjusted interval is one for large samples: with few "
            "trajectories go by the exact p. A star: the interval excludes 0 and the exact test does not."
        ),
    )
