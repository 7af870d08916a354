"""The table `ablations`: a row a judge, the full one first and its variants after it."""

from collections.abc import Callable, Sequence
from typing import Final

from coherence.evaluation import wording
from coherence.evaluation.ablations import Ablation
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table, proportion_fields
from coherence.evaluation.settings import EvaluationSettings
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.multiplicity import HOLM
from coherence.stats.paired import BONETT_PRICE, MCNEMAR, MCNEMAR_MID_P, Paired
from coherence.stats.proportions import CLOPPER_PEARSON, WILSON
from coherence.stats.tables import NEWCOMBE

FULL: Final = "nothing: the full judge"


def _paired_fields(path: str, name: str) -> dict[str, str]:
    return {
        f"{name}_variant_only": f"{path}.first_only",
        f"{name}_full_only": f"{path}.second_only",
        f"{name}_mcnemar_exact_p": f"{path}.exact_p",
        f"{name}_mcnemar_mid_p": f"{path}.mid_p",
    }


FIELDS: Final[dict[str, str]] = {
    "dataset": "dataset",
    "full": "full",
    "judge": "judge",
    "changed": "changed",
    "not_run": "not_run",
    **proportion_fields("flagged", "flagged_count", "flagged"),
    "risky_fail": "comparison.counts.risky_fail",
    "risky_n": "comparison.counts.risky_n",
    "safe_fail": "comparison.counts.safe_fail",
    "safe_n": "comparison.counts.safe_n",
    "gap": "comparison.gap",
    "gap_low": "comparison.interval.low",
    "gap_high": "comparison.interval.high",
    "fisher_p": "comparison.fisher_p",
    "k": "k",
    "n_ranked": "matched.n",
    "failed_expected": "matched.expected",
    "failed_lowest": "matched.lowest",
    "failed_highest": "matched.highest",
    "n_pairs": "pair.n",
    **_paired_fields("pair.flags", "flags"),
    **_paired_fields("pair.right", "right"),
    "right_holm_p": "pair.holm_p",
    "difference": "pair.points",
    "difference_low": "pair.difference.low",
    "difference_high": "pair.difference.high",
    "finding": "pair.finding",
    "calls": "cost.calls",
    "tokens_sent": "cost.input",
    "tokens_received": "cost.output",
    "dollars": "cost.dollars",
    "calls_of_unknown_cost": "cost.unknown",
    "n_unknown_outcome": "unknown_outcome",
    "n_unjudged": "unjudged",
    "n_missing": "missing",
    "n_excluded": "excluded",
    "simulated": "simulated",
}


def _ran(cell: Callable[[Ablation], str]) -> Callable[[Ablation], str]:
    return lambda row: wording.NONE if row.not_run else cell(row)


def _flagged(row: Ablation) -> str:
    return f"not run: {row.not_run}" if row.not_run else wording.proportion(row.flagged)


def _at_k(row: Ablation) -> str:
    if row.k is None:
        return "no k: the full judge was not run"
    if row.matched is None:
        return f"not applicable: {'k = 0' if row.k == 0 else f'fewer than {row.k} ranked'}"
    found = row.matched
    text = f"{wording.number(found.expected)}/{row.k} ({wording.percent(found.expected / row.k)} %)"
    ties = f", {found.lowest} to {found.highest} by ties" if found.lowest != found.highest else ""
    return f"{text}{ties}, n = {found.n}"


def only(pair: Paired) -> str:
    """Return "3 and 1 (p 0.625, mid-p 0.375)": what only the first and only the second has."""
    p, mid_p = wording.p_value(pair.exact_p), wording.p_value(pair.mid_p)
    return f"{pair.first_only} and {pair.second_only} (p {p}, mid-p {mid_p})"


def _difference(row: Ablation) -> str:
    if row.pair is None or row.pair.points is None:
        return wording.NONE
    return f"{wording.points(row.pair.points, row.pair.difference)}, n = {row.pair.n}"


def _cost(row: Ablation) -> str:
    if row.cost is None:
        return "calls no model"
    unknown = f", {row.cost.unknown:,} of unknown cost" if row.cost.unknown else ""
    return f"{row.cost.dollars:,.2f} $, {row.cost.calls:,} calls{unknown}"


_COLUMNS: Final[dict[str, Callable[[Ablation], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Judge": lambda row: row.judge,
    "Variant of": lambda row: row.full,
    "Changed": lambda row: row.changed or FULL,
    "Flagged": _flagged,
    "Gap": _ran(lambda row: wording.gap(row.comparison)),
    "Failed among the first k": _ran(_at_k),
    "Flags only here, only full": lambda row: only(row.pair.flags) if row.pair else wording.NONE,
    "Right only here, only full": lambda row: only(row.pair.right) if row.pair else wording.NONE,
    "Holm p": lambda row: wording.p_value(row.pair.holm_p) if row.pair else wording.NONE,
    "Right, less full": _difference,
    "By the criteria": lambda row: row.pair.finding if row.pair else wording.NONE,
    "Cost": _cost,
    "Left out": lambda row: wording.left_out(
        unknown_outcome=row.unknown_outcome,
        unjudged=row.unjudged,
        without_value=row.missing,
        excluded=row.excluded,
    ),
}


def table(rows: Sequence[Ablation], settings: EvaluationSettings) -> Table:
    """Return `ablations`."""
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="ablations",
        title="Ablations: each variant of a judge beside the full one",
        caption=_caption(settings),
    )


def _caption(settings: EvaluationSettings) -> str:
    return (
        f"Flagged: count/n (share in %; {LEVEL_TEXT} {WILSON} interval; {CLOPPER_PEARSON} in the CSV) of the "
        "trajectories judged, whatever their outcome. Gap: flagged less unflagged failure rate in "
        f"percentage points ({LEVEL_TEXT} {NEWCOMBE} interval). First k: k is what the full judge flags, "
        "n what each judge ranks of the trajectories with known outcome: they compare where n is equal; "
        "ties are drawn at random: the number expected, and its bounds. The rest is on the trajectories "
        "with known outcome that both judged: what only the variant and only the full judge flags, and is "
        f"right about (flagged and failed, or unflagged and passed), {MCNEMAR}, and {MCNEMAR_MID_P}; {HOLM} "
        "over the variants of one full judge on one dataset, of the exact p. Right, less full: difference "
        f"in the share of right judgements in percentage points ({LEVEL_TEXT} {BONETT_PRICE} interval). By "
        "the criteria (config/prompts/criteria): equal if that interval is within "
        f"{settings.margin_points:g} points and holds 0, better or worse if it is on one side of 0; "
        f"undecided else, and on fewer than {settings.least_pairs} trajectories. Cost: all calls of the "
        "ledger. A judge without a stored reply is not run, and has no numbers."
    )
