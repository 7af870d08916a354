"""What of a judge its flags rest on: each variant of it beside the full judge, on the same trajectories."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

from msgspec.structs import replace

from coherence.evaluation.cost import Cost
from coherence.evaluation.failure_rates import counts_of, with_outcome
from coherence.evaluation.family import flags, is_primary
from coherence.evaluation.groups import Split, splits
from coherence.evaluation.matched import scorers
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, by_dataset
from coherence.records import Record
from coherence.stats.intervals import Interval
from coherence.stats.multiplicity import holm
from coherence.stats.paired import Paired, bonett_price, mcnemar
from coherence.stats.proportions import Proportion, proportion
from coherence.stats.ranking import PrecisionAtK, precision_at_k
from coherence.stats.tables import Comparison, compare

Finding = Literal["better", "worse", "equal", "undecided"]

NOT_RUN: Final = "not_run"
REASONS: Final = {
    NOT_RUN: "no stored reply, and the run is offline",
    "missing": "no verdict on these trajectories",
}
ELSEWHERE: Final = "does not judge this dataset"


class Pair(Record, frozen=True):
    """A variant against the full judge, on the trajectories with known outcome that both judged.

    `flags` counts what only the variant and only the full judge flags, `right` what only the one and only the
    other is right about; `difference` is of their shares of right judgements, variant less full, in points.
    `holm_p` is the exact p of `right` adjusted over the variants.
    """

    n: int
    flags: Paired
    right: Paired
    difference: Interval | None
    finding: Finding
    holm_p: float | None = None

    @property
    def points(self) -> float | None:
        """The observed difference in percentage points."""
        return 100 * (self.right.first_only - self.right.second_only) / self.n if self.n else None


class Ablation(Record, frozen=True):
    """One judge of an ablation on one dataset; `not_run` says why nothing was judged.

    `full` is the judge it is a variant of, itself for the full one; `changed` what the variant changes. `k`
    is how many the full judge flags, None where that one was not run. `cost` is None for a judge that calls
    no model.
    """

    dataset: str
    full: str
    judge: str
    changed: str
    flagged: Proportion
    comparison: Comparison
    unjudged: int
    missing: int
    excluded: int
    unknown_outcome: int
    not_run: str = ""
    k: int | None = None
    matched: PrecisionAtK | None = None
    pair: Pair | None = None
    cost: Cost | None = None
    simulated: str = ""


def ablations(
    rows: Iterable[Row], settings: EvaluationSettings, costs: Iterable[Cost] = ()
) -> Iterator[Ablation]:
    """Yield each full judge and then its variants, for every dataset that any of them judges."""
    spent = _by_judge(costs)
    for members in by_dataset(rows).values():
        judging = {name for row in members for name in row.verdicts}
        for full, variants in settings.ablations.items():
            if judging & {full, *variants}:
                yield from _adjusted(list(_compared(members, full, settings, spent)))


def _compared(
    rows: Sequence[Row], full: str, settings: EvaluationSettings, spent: Mapping[tuple[str, str], Cost]
) -> Iterator[Ablation]:
    changes = {full: "", **settings.ablations[full]}
    shown = replace(settings, judges=tuple(changes), features=(), confidence_at_least=None)
    divided = {split.reading.name: split for split in splits(rows, shown) if is_primary(split.reading)}
    base = divided.get(full)
    k = _flagged_by(base) if base is not None and not why_not_run(rows, full, base) else None
    for judge, changed in changes.items():
        row = _row(rows, divided.get(judge), judge, shown)
        pair = (
            None
            if judge == full or row.not_run or k is None
            else _pair(divided[judge], divided[full], settings)
        )
        yield replace(
            row,
            full=full,
            changed=changed,
            k=k,
            matched=None if row.not_run else _matched(rows, judge, k, shown),
            pair=pair,
            cost=spent.get((rows[0].dataset, judge)),
        )


def _row(rows: Sequence[Row], split: Split | None, judge: str, settings: EvaluationSettings) -> Ablation:
    not_run = why_not_run(rows, judge, split)
    included = sum(row.excluded is None for row in rows)
    ran = split if split is not None and not not_run else None
    risky, safe = (with_outcome(ran.risky), with_outcome(ran.safe)) if ran else ([], [])
    judged = (len(ran.risky), len(ran.risky) + len(ran.safe)) if ran else (0, 0)
    return Ablation(
        dataset=rows[0].dataset,
        full=judge,
        judge=judge,
        changed="",
        flagged=proportion(*judged),
        comparison=compare(counts_of(risky, safe)),
        unjudged=ran.unjudged if ran else included,
        missing=ran.missing if ran else 0,
        excluded=len(rows) - included,
        unknown_outcome=judged[1] - len(risky) - len(safe),
        not_run=not_run,
        simulated=settings.simulated.get(rows[0].dataset, ""),
    )


def why_not_run(rows: Iterable[Row], judge: str, split: Split | None) -> str:
    """Return why a judge judged no trajectory, "" where its split has any.

    Trajectories without a thought are unflagged without being judged: they count only if there are no others.
    """
    words = [row.verdicts[judge] for row in rows if row.excluded is None and judge in row.verdicts]
    if split is None or not words:
        return ELSEWHERE
    heard = [word for word in words if word.substrate != "none"]
    judged = [row.verdicts[judge].substrate for row in (*split.risky, *split.safe)]
    if any(substrate != "none" for substrate in judged) or (judged and not heard):
        return ""
    ((reason, _),) = Counter(word.reason for word in heard or words).most_common(1)
    return REASONS.get(str(reason), f"unjudged ({reason})")


def _flagged_by(split: Split) -> int:
    return len(with_outcome(split.risky))


def _matched(
    rows: Sequence[Row], judge: str, k: int | None, settings: EvaluationSettings
) -> PrecisionAtK | None:
    score = scorers(rows, settings).get(judge)
    if not k or score is None:
        return None
    known = [row for row in rows if row.excluded is None and row.outcome != "unknown"]
    scored = [(value, row.outcome == "failed") for row in known if (value := score(row)) is not None]
    return precision_at_k([value for value, _ in scored], [bad for _, bad in scored], k)


def _pair(variant: Split, full: Split, settings: EvaluationSettings) -> Pair:
    ours, theirs = flags(variant), flags(full)
    sides = [
        (flag, theirs[name][1], row.outcome == "failed")
        for name, (row, flag) in ours.items()
        if name in theirs
    ]
    right = [(one == failed, two == failed) for one, two, failed in sides]
    better, worse = right.count((True, False)), right.count((False, True))
    interval = bonett_price(better, worse, len(sides))
    flagged = [(one, two) for one, two, _ in sides]
    return Pair(
        n=len(sides),
        flags=mcnemar(flagged.count((True, False)), flagged.count((False, True))),
        right=mcnemar(better, worse),
        difference=interval,
        finding=finding(interval, len(sides), settings),
    )


def finding(interval: Interval | None, n: int, settings: EvaluationSettings) -> Finding:
    """Return what the criteria make of a paired difference (config/prompts/criteria)."""
    if interval is None or n < settings.least_pairs:
        return "undecided"
    if interval.low > 0:
        return "better"
    if interval.high < 0:
        return "worse"
    within = max(-interval.low, interval.high) <= settings.margin_points
    return "equal" if within else "undecided"


def _adjusted(rows: Sequence[Ablation]) -> Iterator[Ablation]:
    ps = holm([row.pair.right.exact_p if row.pair else None for row in rows])
    for row, p in zip(rows, ps, strict=True):
        yield replace(row, pair=replace(row.pair, holm_p=p)) if row.pair else row


def _by_judge(costs: Iterable[Cost]) -> dict[tuple[str, str], Cost]:
    """Return what each judge's calls on a dataset came to, over all models."""
    spent: dict[tuple[str, str], Cost] = {}
    for cost in costs:
        before = spent.get((cost.dataset, cost.judge))
        spent[cost.dataset, cost.judge] = cost if before is None else _sum(before, cost)
    return spent


def _sum(one: Cost, two: Cost) -> Cost:
    sums = {name: getattr(one, name) + getattr(two, name) for name in Cost.__struct_fields__[3:]}
    return replace(one, model=f"{one.model}, {two.model}", **sums)
