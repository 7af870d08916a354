"""The paper's rows and intervals beside what it leaves out: further tests, and better intervals."""

from collections.abc import Callable, Sequence
from typing import Final

from coherence.evaluation import wording
from coherence.evaluation.audit_findings import audit_table
from coherence.evaluation.audit_intervals import PrintedInterval
from coherence.evaluation.published import PrintedComparison, Published
from coherence.evaluation.render import Table
from coherence.records import Record
from coherence.stats.differences import MIETTINEN_NURMINEN, miettinen_nurminen
from coherence.stats.exact_tests import BOSCHLOO, MID_P, boschloo, mid_p
from coherence.stats.information import Information, information
from coherence.stats.intervals import LEVEL_TEXT, Interval
from coherence.stats.multiplicity import HOLM, benjamini_hochberg, holm
from coherence.stats.proportions import CLOPPER_PEARSON, WILSON, Proportion, proportion
from coherence.stats.resampling import ENDLESS
from coherence.stats.tables import FISHER, NEWCOMBE, Comparison, compare


class PrintedTest(Record, frozen=True):
    """A row of Table 1 or 2 with the intervals and tests the paper leaves out; Holm and BH over all rows."""

    row: PrintedComparison
    comparison: Comparison
    miettinen_nurminen: Interval | None
    mid_p: float | None
    boschloo_p: float | None
    holm_p: float | None
    bh_p: float | None
    information: Information | None


def printed_tests(published: Published) -> tuple[PrintedTest, ...]:
    """Return the further intervals and tests of each row."""
    compared = [compare(row.counts) for row in published.comparisons]
    ps = [found.fisher_p for found in compared]
    adjusted = zip(holm(ps), benjamini_hochberg(ps), strict=True)
    return tuple(
        PrintedTest(
            row=row,
            comparison=found,
            miettinen_nurminen=miettinen_nurminen(row.counts),
            mid_p=mid_p(row.counts),
            boschloo_p=boschloo(row.counts),
            holm_p=by_holm,
            bh_p=by_bh,
            information=information(row.counts),
        )
        for row, found, (by_holm, by_bh) in zip(published.comparisons, compared, adjusted, strict=True)
    )


_COLUMNS: Final[dict[str, Callable[[PrintedTest], str]]] = {
    "Dataset": lambda row: row.row.dataset,
    "Feature": lambda row: row.row.feature.replace("_", " "),
    "Failed": lambda row: wording.counts(row.row.counts),
    "Printed": lambda row: f"{row.row.gap:+}",
    "Gap (Newcombe)": lambda row: wording.gap(row.comparison),
    "Miettinen-Nurminen": lambda row: wording.bounds(row.miettinen_nurminen),
    "Fisher p": lambda row: wording.p_value(row.comparison.fisher_p),
    "Mid-p": lambda row: wording.p_value(row.mid_p),
    "Boschloo p": lambda row: wording.p_value(row.boschloo_p),
    "Holm p": lambda row: wording.p_value(row.holm_p),
    "BH p": lambda row: wording.p_value(row.bh_p),
    "Bits a flag": lambda row: wording.estimate(
        row.information.bits_per_flag if row.information else None, decimals=3
    ),
}
FIELDS: Final = {
    "dataset": "row.dataset",
    "feature": "row.feature",
    "printed_gap": "row.gap",
    **{name: f"row.counts.{name}" for name in ("risky_fail", "risky_n", "safe_fail", "safe_n")},
    "gap": "comparison.gap",
    "newcombe_low": "comparison.interval.low",
    "newcombe_high": "comparison.interval.high",
    "miettinen_nurminen_low": "miettinen_nurminen.low",
    "miettinen_nurminen_high": "miettinen_nurminen.high",
    "fisher_p": "comparison.fisher_p",
    "mid_p": "mid_p",
    "boschloo_p": "boschloo_p",
    "holm_p": "holm_p",
    "benjamini_hochberg_p": "bh_p",
    "sensitivity": "information.sensitivity",
    "specificity": "information.specificity",
    "phi": "information.phi",
    "bits": "information.bits",
    "bits_per_flag": "information.bits_per_flag",
}


def tests_table(rows: Sequence[PrintedTest], paper: str) -> Table:
    """Return `audit_tests`: the twelve rows with what the paper leaves out."""
    caption = (
        f"Counts from {paper}. Gap in percentage points ({LEVEL_TEXT} {NEWCOMBE} and {MIETTINEN_NURMINEN} "
        f"intervals). p: {FISHER}; {MID_P}; {BOSCHLOO}; {HOLM} and Benjamini-Hochberg over Fisher's p of all "
        f"{len(rows)} rows. Bits a flag: mutual information with the outcome, divided by the share flagged."
    )
    return audit_table(
        ("audit_tests", "Tables 1 and 2 with the tests left out", caption), (rows, _COLUMNS, FIELDS)
    )


def intervals_table(rows: Sequence[PrintedInterval], resamples: int) -> Table:
    """Return `audit_intervals`: each printed interval beside better ones."""
    columns: dict[str, Callable[[PrintedInterval], str]] = {
        "Row": lambda row: row.name,
        "Group": lambda row: row.group,
        "Failed": lambda row: f"{row.share[0]}/{row.share[1]}",
        "Printed": lambda row: f"{row.printed[0]} to {row.printed[1]}",
        "Endless": lambda row: f"{_percent(row.endless_low, row)} to {_percent(row.endless_high, row)}",
        "Steps off": lambda row: str(row.steps),
        "Chance": lambda row: wording.estimate(row.chance),
        WILSON: lambda row: _bounds(_share(row).interval),
        CLOPPER_PEARSON: lambda row: _bounds(_share(row).exact),
    }
    fields = {
        name: name
        for name in ("name", "group", "low", "high", "endless_low", "endless_high", "steps", "chance")
    }
    caption = (
        f"In %. Endless: {ENDLESS}, a binomial quantile. Steps off: of 1/n, the worse bound. Chance: that "
        f"{resamples:,} resamples within the group end at the printed bounds. {LEVEL_TEXT} {WILSON} and "
        f"{CLOPPER_PEARSON} intervals for comparison."
    )
    texts = ("audit_intervals", "The printed bootstrap intervals", caption)
    return audit_table(texts, (rows, columns, fields))


def _share(row: PrintedInterval) -> Proportion:
    return proportion(*row.share)


def _percent(count: int, row: PrintedInterval) -> str:
    return wording.percent(count / row.share[1])


def _bounds(interval: Interval | None) -> str:
    return wording.NONE if interval is None else wording.percents(interval)
