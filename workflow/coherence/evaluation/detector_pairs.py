"""Does a detector beat another way to flag, on the same trajectories? Decided by what they do not share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from coherence.evaluation import wording
from coherence.evaluation.agreement import Kappa, kappa, kappa_text
from coherence.evaluation.family import families, flags, is_detector
from coherence.evaluation.groups import Split
from coherence.evaluation.matched import scorers
from coherence.evaluation.readings import NO_JUDGE, marked, table_of
from coherence.evaluation.render import Table, proportion_fields
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row
from coherence.records import Record
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.paired import EXCHANGE, MCNEMAR, MCNEMAR_MID_P, Paired, exchange, mcnemar
from coherence.stats.proportions import CLOPPER_PEARSON, Proportion, clopper_pearson, proportion

Score = Callable[[Row], Any]


class Exchange(Record, frozen=True):
    """The first's k flags against the second's k highest scores, by those not shared.

    `lowest` and `highest` p are what ties at the border leave open: with failures first, with passes first,
    and 1 where these two point in opposite directions. None where the two sets are the same.
    """

    k: int
    lowest: float | None
    highest: float | None


class DetectorPair(Record, frozen=True):
    """Two readings on the trajectories both have: shares of failures, and McNemar's test of being right.

    `kappa` says how far two judges agree on what to flag, None beside a feature.
    """

    dataset: str
    first: str
    second: str
    n: int
    both: Proportion
    first_only: Proportion
    second_only: Proportion
    neither: Proportion
    right: Paired
    exchange: Exchange
    kappa: Kappa | None = None
    simulated: str = ""


def detector_pairs(splits: Sequence[Split], settings: EvaluationSettings) -> Iterator[DetectorPair]:
    """Yield each detector of each family beside every member that follows it."""
    for dataset, members in families(splits, settings).items():
        rows = [row for member in members for row in (*member.risky, *member.safe)]
        ranked = scorers(rows, settings) if rows else {}
        for place, first in enumerate(members):
            if ranked and is_detector(first.reading):
                for second in members[place + 1 :]:
                    note = settings.simulated.get(dataset, "")
                    yield _pair(first, second, ranked[second.reading.name], note)


def _pair(first: Split, second: Split, score: Score, simulated: str) -> DetectorPair:
    one, two = flags(first), flags(second)
    common = {name: (row, side, two[name][1]) for name, (row, side) in one.items() if name in two}
    failed = {name: row.outcome == "failed" for name, (row, _, _) in common.items()}

    def share(ours: bool, theirs: bool) -> Proportion:
        inside = [failed[name] for name, (_, a, b) in common.items() if (a, b) == (ours, theirs)]
        return proportion(sum(inside), len(inside), clopper_pearson)

    cells = [share(*sides) for sides in ((True, True), (True, False), (False, True), (False, False))]
    right = [(a == failed[name], b == failed[name]) for name, (_, a, b) in common.items()]
    return DetectorPair(
        dataset=first.reading.dataset,
        first=first.reading.name,
        second=second.reading.name,
        n=len(common),
        both=cells[0],
        first_only=cells[1],
        second_only=cells[2],
        neither=cells[3],
        right=mcnemar(right.count((True, False)), right.count((False, True))),
        exchange=_exchange({name: (row, side) for name, (row, side, _) in common.items()}, score),
        kappa=None if second.reading.judge == NO_JUDGE else kappa(*(cell.n for cell in cells)),
        simulated=simulated,
    )


def _exchange(ours: Mapping[str, tuple[Row, bool]], score: Score) -> Exchange:
    flagged = {name for name, (_, side) in ours.items() if side}

    def unlike(failures_first: bool) -> tuple[float | None, int]:
        def place(name: str) -> tuple[Any, bool, str]:
            row = ours[name][0]
            return score(row), (row.outcome == "failed") == failures_first, name

        highest = set(sorted(ours, key=place, reverse=True)[: len(flagged)])
        sides = [
            [ours[name][0].outcome == "failed" for name in side]
            for side in (flagged - highest, highest - flagged)
        ]
        p = exchange((sum(sides[0]), len(sides[0])), (sum(sides[1]), len(sides[1])))
        return p, sum(sides[0]) - sum(sides[1])

    (one, ahead), (two, behind) = unlike(True), unlike(False)
    known = [p for p in (one, two) if p is not None]
    if ahead * behind < 0:
        known.append(1.0)
    return Exchange(len(flagged), min(known, default=None), max(known, default=None))


FIELDS: Final[dict[str, str]] = {
    "dataset": "dataset",
    "first": "first",
    "second": "second",
    "n": "n",
    **proportion_fields("both", "both_fail", "both_rate"),
    **proportion_fields("first_only", "first_only_fail", "first_only_rate"),
    **proportion_fields("second_only", "second_only_fail", "second_only_rate"),
    **proportion_fields("neither", "neither_fail", "neither_rate"),
    "only_first_right": "right.first_only",
    "only_second_right": "right.second_only",
    "mcnemar_exact_p": "right.exact_p",
    "mcnemar_mid_p": "right.mid_p",
    "k": "exchange.k",
    "exchange_p_lowest": "exchange.lowest",
    "exchange_p_highest": "exchange.highest",
    "kappa": "kappa.value",
    "kappa_low": "kappa.interval.low",
    "kappa_high": "kappa.interval.high",
    "simulated": "simulated",
}


def _exchanged(row: DetectorPair) -> str:
    found = row.exchange
    if found.lowest is None:
        return wording.NONE
    texts = dict.fromkeys((wording.p_value(found.lowest), wording.p_value(found.highest)))
    return f"{' to '.join(texts)} (k = {found.k})"


_COLUMNS: Final[dict[str, Callable[[DetectorPair], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "First": lambda row: row.first,
    "Second": lambda row: row.second,
    "n": lambda row: wording.count(row.n),
    "Failed of both": lambda row: wording.proportion(row.both),
    "of the first only": lambda row: wording.proportion(row.first_only),
    "of the second only": lambda row: wording.proportion(row.second_only),
    "of neither": lambda row: wording.proportion(row.neither),
    "Right alone": lambda row: f"{row.right.first_only} against {row.right.second_only}",
    "Kappa": lambda row: kappa_text(row.kappa) if row.kappa else wording.NONE,
    "McNemar p": lambda row: wording.p_value(row.right.exact_p),
    "mid-p": lambda row: wording.p_value(row.right.mid_p),
    "Exchange p": _exchanged,
}


def table(rows: Sequence[DetectorPair]) -> Table:
    """Return `paired`."""
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="paired",
        title="Detectors compared on the same trajectories",
        caption=(
            "Trajectories that both readings divide, with a known outcome. Failed of both, one or "
            f"neither: failed/n (rate in %; {LEVEL_TEXT} {CLOPPER_PEARSON} interval). Right alone: "
            "trajectories on which only the first and only the second is right (risky and failed, or safe "
            f"and passed); {MCNEMAR}, and {MCNEMAR_MID_P}. Exchange p: {EXCHANGE}, the first's k flags "
            "against the second's k highest scores; two values where ties at the border leave it open. "
            "Kappa: how far two judges agree on what to flag."
        ),
    )
