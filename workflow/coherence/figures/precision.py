"""Precision plot: failures among the k trajectories that each ranking puts first, over all k."""

from collections.abc import Sequence
from itertools import cycle
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coherence.evaluation.precision import PrecisionCurve
from coherence.evaluation.readings import NO_JUDGE, marked, simulation_note
from coherence.evaluation.render import one_line
from coherence.evaluation.wording import percent
from coherence.figures.panels import Panels
from coherence.figures.style import GREY, PALETTE, label, style
from coherence.stats.ranking import PrecisionAtK

HEIGHT: Final = 3.0  # inches
DASHES: Final = ("--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)))


def drawn(rows: Sequence[PrecisionCurve]) -> list[PrecisionCurve]:
    """Return the curves that say anything: both outcomes are there."""
    return [row for row in rows if 0 < row.failed < row.n]


def precision(rows: Sequence[PrecisionCurve]) -> Figure:
    """Return the precision plot: a panel for the judges, one for the features, of each dataset."""
    panelled: dict[tuple[str, bool], list[PrecisionCurve]] = {}
    for row in drawn(rows):
        panelled.setdefault((row.dataset, row.judge == NO_JUDGE), []).append(row)
    datasets = list(dict.fromkeys(dataset for dataset, _ in panelled))
    with style():
        panels = Panels(_caption(drawn(rows)), [HEIGHT] * len(datasets))
        for dataset in datasets:
            sides = [panelled.get((dataset, features), []) for features in (False, True)]
            first = (sides[0] or sides[1])[0]
            panels.start(marked(label(dataset), first.simulated))
            for place, curves in enumerate(sides):
                _draw(panels.axes(0.75 + 4.85 * place, 4.3), curves, ("judges", "features")[place])
    return panels.figure


def describe(rows: Sequence[PrecisionCurve]) -> str:
    """Return in words what the plot shows."""
    said = "; ".join(
        f"{row.dataset}, {row.ranked_by}: {percent(point.expected / point.k)} % of the first {point.k:,}, "
        f"{percent(row.failed / row.n)} % of all, n = {row.n:,}"
        for row in drawn(rows)
        if (point := row.at(0.25)) is not None
    )
    return one_line(f"Failures among the k trajectories ranked first. {said or 'None'}.")


def _caption(rows: Sequence[PrecisionCurve]) -> str:
    if not rows:
        return "No ranking of trajectories with both outcomes."
    note = simulation_note((row.dataset, row.simulated) for row in rows)
    return (
        f"{note} Share of failures among the k trajectories each judge or feature ranks first, of those "
        "with a known outcome. Bands: what ties at the border leave open; lines: ties drawn at random. "
        "Grey: the failure rate of all. Squares: as many as the judge flags. No interval: the k first of "
        "two rankings share trajectories, and the tables of overlap and of paired detectors test them."
    ).strip()


def _draw(axes: Axes, curves: Sequence[PrecisionCurve], kind: str) -> None:
    axes.set_ylim(0, 105)
    axes.set_yticks(range(0, 101, 25))
    axes.set_ylabel("failed among the first k (%)", fontsize=8)
    axes.set_xlabel(f"k, ranked by {kind}", fontsize=8)
    if not curves:
        axes.text(0.5, 0.5, f"no {kind}", transform=axes.transAxes, ha="center", fontsize=8, color=GREY)
        axes.set_xticks([])
        return
    widest = max(curves, key=lambda curve: curve.n)
    axes.axhline(100 * widest.failed / widest.n, color=GREY, linewidth=1)
    for curve, colour, dashes in zip(curves, cycle(PALETTE), cycle(("-", *DASHES)), strict=False):
        _line(axes, curve, colour, dashes)
    axes.legend(loc="lower right", fontsize=7, ncols=2 if len(curves) > 3 else 1)


def _line(axes: Axes, curve: PrecisionCurve, colour: str, dashes: Any) -> None:
    ks = [point.k for point in curve.points]
    axes.plot(
        ks,
        [_share(point.expected, point) for point in curve.points],
        color=colour,
        linestyle=dashes,
        linewidth=1.5,
        label=label(f"{curve.ranked_by.replace('_', ' ')}, n = {curve.n:,}", 34),
    )
    axes.fill_between(
        ks,
        [_share(point.lowest, point) for point in curve.points],
        [_share(point.highest, point) for point in curve.points],
        color=colour,
        alpha=0.12,
        linewidth=0,
    )
    flagged = next((point for point in curve.points if point.k == curve.flagged), None)
    if flagged is not None:
        axes.plot(flagged.k, _share(flagged.expected, flagged), marker="s", markersize=6, color=colour)


def _share(failed: float, point: PrecisionAtK) -> float:
    return 100 * failed / point.k
