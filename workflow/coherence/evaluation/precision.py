"""Every ranking at every selectivity: precision among the k trajectories it puts first, for all k."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from coherence.evaluation import wording
from coherence.evaluation.matched import precision, scorers
from coherence.evaluation.readings import NO_JUDGE, marked, table_of
from coherence.evaluation.render import Cell, Table
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, by_dataset
from coherence.records import Record
from coherence.stats.ranking import PrecisionAtK, precision_over_k

MOST: Final = 500  # points of one curve; beyond so many trajectories they are spread evenly over all k


class PrecisionCurve(Record, frozen=True):
    """One ranking of the `n` trajectories with a known outcome and a score, of which `failed` failed.

    `judge` is "-" for a feature; `flagged` is how many of them that judge flags.
    """

    dataset: str
    ranked_by: str
    judge: str
    n: int
    failed: int
    flagged: int
    points: tuple[PrecisionAtK, ...]
    left_out: int
    simulated: str = ""

    def at(self, share: float) -> PrecisionAtK | None:
        """Return the point nearest to a share of the trajectories, None where there is none."""
        return min(self.points, key=lambda point: abs(point.k - share * self.n), default=None)


def precision_curves(rows: Iterable[Row], settings: EvaluationSettings) -> Iterator[PrecisionCurve]:
    """Yield the curve of each judge's and each feature's ranking, by dataset."""
    for dataset, members in by_dataset(rows).items():
        known = [row for row in members if row.excluded is None and row.outcome != "unknown"]
        for name, score in scorers(members, settings).items():
            scored = [(row, value) for row in known if (value := score(row)) is not None]
            failed = [row.outcome == "failed" for row, _ in scored]
            is_judge = any(name in row.verdicts for row in members)
            yield PrecisionCurve(
                dataset=dataset,
                ranked_by=name,
                judge=name if is_judge else NO_JUDGE,
                n=len(scored),
                failed=sum(failed),
                flagged=sum(is_judge and row.verdicts[name].state == "flagged" for row, _ in scored),
                points=tuple(precision_over_k([value for _, value in scored], failed, MOST)),
                left_out=len(known) - len(scored),
                simulated=settings.simulated.get(dataset, ""),
            )


FIELDS: Final[dict[str, str]] = {
    "dataset": "dataset",
    "ranked_by": "ranked_by",
    "judge": "judge",
    "n": "n",
    "failed": "failed",
    "n_left_out": "left_out",
    "simulated": "simulated",
}
POINT: Final = ("k", "failed_expected", "failed_lowest", "failed_highest", "n_tied")
SHARES: Final = {"An eighth": 1 / 8, "A quarter": 1 / 4, "Half": 1 / 2}


def _at(share: float) -> Callable[[PrecisionCurve], str]:
    def shown(row: PrecisionCurve) -> str:
        point = row.at(share)
        return wording.NONE if point is None else precision(point, point.k)

    return shown


_COLUMNS: Final[dict[str, Callable[[PrecisionCurve], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Ranked by": lambda row: row.ranked_by,
    "n": lambda row: wording.count(row.n),
    "Failed of all": lambda row: f"{row.failed:,}/{row.n:,}",
    **{name: _at(share) for name, share in SHARES.items()},
    "Left out": lambda row: wording.left_out(unranked=row.left_out),
}


def table(rows: Sequence[PrecisionCurve]) -> Table:
    """Return `precision`: three points of each curve to read, every point in full."""
    made = table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="precision",
        title="Precision over all k",
        caption=(
            "Failures among the k trajectories each ranking puts first, of those with a known outcome, k "
            "being an eighth, a quarter and half of them; the CSV has every k. Ranked as in the table of "
            "precision at matched selectivity; ties at the border are drawn at random: the number "
            "expected, and its bounds."
        ),
    )
    full = tuple(
        record | _point(point) for row, record in zip(rows, made.records, strict=True) for point in row.points
    )
    return replace(made, fields=(*FIELDS, *POINT), records=full)


def _point(point: PrecisionAtK) -> dict[str, Cell]:
    return dict(zip(POINT, (point.k, point.expected, point.lowest, point.highest, point.tied), strict=True))
