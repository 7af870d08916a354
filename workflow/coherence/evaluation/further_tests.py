"""Each gap by further intervals and tests, and by Holm within the declared family of its dataset."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from coherence.evaluation import readings, wording
from coherence.evaluation.family import compared, counts, families
from coherence.evaluation.groups import Split
from coherence.evaluation.readings import Reading
from coherence.evaluation.render import Table
from coherence.evaluation.repeated_tasks import repeats
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row
from coherence.records import Record
from coherence.stats.clusters import METHOD as CLUSTERS
from coherence.stats.clusters import MOST_UNDEFINED, ClusteredGap, ClusterRow, clustered_gap
from coherence.stats.differences import MIETTINEN_NURMINEN, miettinen_nurminen
from coherence.stats.exact_tests import (
    BOSCHLOO,
    CONDITIONAL,
    MID_P,
    MOST,
    OddsRatio,
    boschloo,
    conditional_odds_ratio,
    mid_p,
)
from coherence.stats.intervals import LEVEL_TEXT, Bootstrap, Interval
from coherence.stats.multiplicity import HOLM, benjamini_hochberg, holm
from coherence.stats.power import observed_power
from coherence.stats.tables import FISHER, NEWCOMBE, Comparison, compare

MOST_POWER: Final = 500  # trajectories; enumerating the power of larger tables takes seconds each


class FurtherTest(Record, frozen=True):
    """One reading's gap and its tests; `holm_p` and `bh_p` are None outside the family of `family` tests.

    `clustered` is there where tasks repeat, `power` where there are at most `MOST_POWER` trajectories.
    """

    reading: Reading
    comparison: Comparison
    miettinen_nurminen: Interval | None
    mid_p: float | None
    boschloo_p: float | None
    odds_ratio: OddsRatio | None
    power: float | None
    family: int
    holm_p: float | None = None
    bh_p: float | None = None
    clustered: ClusteredGap | None = None
    simulated: str = ""


def further_tests(splits: Sequence[Split], settings: EvaluationSettings) -> Iterator[FurtherTest]:
    """Yield the further tests of each split, in their order."""
    adjusted: dict[Reading, tuple[float | None, float | None]] = {}
    sizes: dict[str, int] = {}
    for dataset, members in families(splits, settings).items():
        ps = [compare(counts(member)).fisher_p for member in members]
        sizes[dataset] = sum(p is not None for p in ps)
        pairs = zip(holm(ps), benjamini_hochberg(ps), strict=True)
        adjusted |= {member.reading: pair for member, pair in zip(members, pairs, strict=True)}
    for split in splits:
        size = sizes.get(split.reading.dataset, 0)
        yield _test(split, size, adjusted.get(split.reading, (None, None)), settings)


def _test(
    split: Split, size: int, adjusted: tuple[float | None, float | None], settings: EvaluationSettings
) -> FurtherTest:
    table = counts(split)
    return FurtherTest(
        reading=split.reading,
        comparison=compare(table),
        miettinen_nurminen=miettinen_nurminen(table),
        mid_p=mid_p(table),
        boschloo_p=boschloo(table),
        odds_ratio=conditional_odds_ratio(table),
        power=observed_power(table) if table.n <= MOST_POWER else None,
        family=size,
        holm_p=adjusted[0],
        bh_p=adjusted[1],
        clustered=by_task(*compared(split), settings.bootstrap),
        simulated=settings.simulated.get(split.reading.dataset, ""),
    )


def by_task(risky: Sequence[Row], safe: Sequence[Row], settings: Bootstrap) -> ClusteredGap | None:
    """Return the gap with tasks resampled, None where no task repeats or a group is empty."""
    if not risky or not safe or not repeats((*risky, *safe)):
        return None
    rows = [
        ClusterRow(row.task, side, row.outcome == "failed")
        for group, side in ((risky, True), (safe, False))
        for row in group
    ]
    return clustered_gap(rows, settings)


FIELDS: Final[dict[str, str]] = {
    **readings.FIELDS,
    "risky_fail": "comparison.counts.risky_fail",
    "risky_n": "comparison.counts.risky_n",
    "safe_fail": "comparison.counts.safe_fail",
    "safe_n": "comparison.counts.safe_n",
    "reason": "comparison.reason",
    "gap": "comparison.gap",
    "newcombe_low": "comparison.interval.low",
    "newcombe_high": "comparison.interval.high",
    "miettinen_nurminen_low": "miettinen_nurminen.low",
    "miettinen_nurminen_high": "miettinen_nurminen.high",
    "fisher_p": "comparison.fisher_p",
    "mid_p": "mid_p",
    "boschloo_p": "boschloo_p",
    "family": "family",
    "holm_p": "holm_p",
    "benjamini_hochberg_p": "bh_p",
    "odds_ratio": "odds_ratio.value",
    "odds_ratio_low": "odds_ratio.interval.low",
    "odds_ratio_high": "odds_ratio.interval.high",
    "power": "power",
    "tasks": "clustered.clusters",
    "task_bootstrap_low": "clustered.interval.low",
    "task_bootstrap_high": "clustered.interval.high",
    "task_bootstrap_undefined": "clustered.undefined",
    "by_task_reason": "clustered.reason",
    "simulated": "simulated",
}


def _by_task(found: ClusteredGap | None) -> str:
    if found is None:
        return wording.NONE
    if found.reason:
        return f"none: {found.reason}"
    lost = f" ({found.undefined:,} undefined)" if found.undefined else ""
    return f"{wording.bounds(found.interval)}{lost}"


_COLUMNS: Final[dict[str, Callable[[FurtherTest], str]]] = {
    **readings.COLUMNS,
    "Failed": lambda row: wording.counts(row.comparison.counts),
    "Gap (Newcombe)": lambda row: wording.gap(row.comparison),
    "Miettinen-Nurminen": lambda row: wording.bounds(row.miettinen_nurminen),
    "By task": lambda row: _by_task(row.clustered),
    "Fisher p": lambda row: wording.p_value(row.comparison.fisher_p),
    "Mid-p": lambda row: wording.p_value(row.mid_p),
    "Boschloo p": lambda row: wording.p_value(row.boschloo_p),
    "Holm p": lambda row: wording.p_value(row.holm_p),
    "Odds ratio": lambda row: (
        wording.estimate(row.odds_ratio.value, row.odds_ratio.interval, 1) if row.odds_ratio else wording.NONE
    ),
    "Power": lambda row: wording.NONE if row.power is None else f"{wording.percent(row.power)} %",
}


def table(rows: Sequence[FurtherTest], settings: EvaluationSettings) -> Table:
    """Return `tests`."""
    return readings.table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="tests",
        title="Further intervals and tests of each gap",
        caption=_caption(rows, settings),
    )


def _caption(rows: Sequence[FurtherTest], settings: EvaluationSettings) -> str:
    sizes = dict.fromkeys(row.family for row in rows)
    names = "all judges and features shown" if settings.family is None else ", ".join(settings.family)
    return (
        f"Gap in percentage points ({LEVEL_TEXT} {NEWCOMBE} and {MIETTINEN_NURMINEN} intervals). By task, "
        f"where tasks repeat: {CLUSTERS}, {settings.bootstrap.resamples:,} resamples, seed "
        f"{settings.bootstrap.seed}; undefined: those without one of the sides, of which at most "
        f"{wording.percent(MOST_UNDEFINED)} % are borne; none where the outcomes of a side are all the same. "
        f"p: {FISHER}; {MID_P}; {BOSCHLOO}, up to {MOST:,} trajectories. Holm "
        f"p: {HOLM} over Fisher's p within the family of one dataset ({names}; "
        f"{', '.join(map(str, sizes)) or 0} tests), '-' outside it. Odds ratio of failure: {CONDITIONAL}. "
        f"Power: that of Fisher's test at these sizes if the rates seen were true, up to {MOST_POWER} "
        "trajectories."
    )
