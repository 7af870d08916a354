"""Published against ours: every number the paper prints that can be computed."""

from collections.abc import Iterator, Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from coherence.evaluation.published_table import COUNTS, MEASURED, PLANTED, SETTING, Beside, note_of
from coherence.evaluation.render import one_line
from coherence.figures.panels import Panels
from coherence.figures.style import BLUE, GREY, INK, VERMILION, style

HEIGHT: Final = 4.0  # inches
SIDE: Final = 4.0
LOOKS: Final = {COUNTS: (BLUE, "o"), PLANTED: (VERMILION, "^"), MEASURED: (INK, "s"), SETTING: (GREY, "D")}
PERCENTAGES: Final = ("%", "pts")  # units shown on one linear scale
Point = tuple[float, float, str, bool]  # published, ours, basis, whether they match


def published(found: Sequence[Beside], simulated: dict[str, str]) -> Figure:
    """Return the scatter: percentages and points at the left, all other units at the right, logarithmic."""
    sides: dict[bool, list[Point]] = {True: [], False: []}
    for row in found:
        sides[row.number.unit in PERCENTAGES] += _points(row)
    with style():
        panels = Panels(_caption(found, simulated), [HEIGHT])
        panels.start("Every printed number beside ours", _counted(found))
        _draw(panels.axes(0.85, SIDE), sides[True], "percent or percentage points", log=False)
        _draw(panels.axes(5.7, SIDE), sides[False], "counts, steps, characters, p (logarithmic)", log=True)
    return panels.figure


def describe(found: Sequence[Beside]) -> str:
    """Return in words what the plot shows."""
    return one_line(f"The paper's printed numbers against ours: {_counted(found)}.")


def _points(row: Beside) -> Iterator[Point]:
    if row.ours is not None and row.status in ("match", "differs"):
        for theirs, ours in zip(row.number.published, row.ours.numbers, strict=False):
            yield theirs, ours, row.basis, row.status == "match"


def _counted(found: Sequence[Beside]) -> str:
    compared = [row for row in found if row.status in ("match", "differs")]
    return f"{sum(row.status == 'match' for row in compared):,} of {len(compared):,} entries match"


def _caption(found: Sequence[Beside], simulated: dict[str, str]) -> str:
    return (
        f"{note_of(found, simulated)} A point a number (an entry may have several, such as both bounds of "
        "an interval), published across and ours, not rounded, upwards; filled where it matches within "
        "its tolerance. Recomputed from published counts: checks the paper's arithmetic. Planted in the "
        "reconstruction: checks this workflow's plumbing and nothing else. Only a measured number would "
        "be a reproduction."
    ).strip()


def _draw(axes: Axes, points: Sequence[Point], title: str, *, log: bool) -> None:
    axes.set_xlabel(f"published, {title}", fontsize=8)
    axes.set_ylabel("ours", fontsize=8)
    if log:
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        points = [point for point in points if min(point[:2]) > 0]
    for basis, (colour, marker) in LOOKS.items():
        inside = [point for point in points if point[2] == basis]
        for agrees in (True, False):
            one = [point for point in inside if point[3] == agrees]
            if one:
                axes.scatter(
                    [point[0] for point in one],
                    [point[1] for point in one],
                    s=26,
                    marker=marker,
                    facecolors=colour if agrees else "none",
                    edgecolors=colour,
                    alpha=0.65,
                    linewidths=1,
                    label=f"{basis}, n = {len(one):,}{'' if agrees else ', differs'}",
                )
    if points:
        ends = [min(min(point[:2]) for point in points), max(max(point[:2]) for point in points)]
        axes.plot(ends, ends, color=GREY, linewidth=0.8, zorder=0)
        axes.legend(loc="upper left", fontsize=7)
