"""Forest plot: the gap of every feature and judge with its interval, a panel a dataset."""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coherence.evaluation import wording
from coherence.evaluation.failure_rates import FailureRate
from coherence.evaluation.readings import NO_JUDGE, marked, simulation_note
from coherence.evaluation.render import one_line
from coherence.figures.style import (
    BLUE,
    FAINT,
    GREY,
    INK,
    caption_height,
    label,
    style,
    write_caption,
)
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.tables import NEWCOMBE, Comparison

T = TypeVar("T")

WIDTH: Final = 10.0  # inches, as all lengths here
LEFT: Final = 2.8
RIGHT: Final = 3.7
ROW: Final = 0.36
HEAD: Final = 0.42
FOOT: Final = 0.5
GAP: Final = WIDTH - LEFT - RIGHT + 0.1
COUNTS: Final = GAP + 1.25
MIDDLE: Final = (WIDTH - LEFT - RIGHT) / 2
HEADING: Final = -0.5 - 0.12 / ROW  # in rows, above the first
QUIET: Final[dict[str, Any]] = {"va": "center", "fontsize": 8, "color": GREY, "backgroundcolor": "white"}


def forest(rows: Sequence[FailureRate]) -> Figure:
    """Return the forest plot of the rows; their datasets are panels in order of appearance."""
    panels: dict[str, list[FailureRate]] = {}
    for row in rows:
        panels.setdefault(row.reading.dataset, []).append(row)
    return stacked(list(panels.values()), _panel, _caption(rows))


def stacked(panels: Sequence[Sequence[T]], draw: Callable[[Axes, Sequence[T]], None], caption: str) -> Figure:
    """Return a figure of panels of rows, one below the other, each drawn by `draw`."""
    heights = [HEAD + ROW * len(panel) + FOOT for panel in panels]
    with style():
        figure = Figure(figsize=(WIDTH, sum(heights) + caption_height(caption)))
        write_caption(figure, caption)
        top = figure.get_figheight()
        for height, panel in zip(heights, panels, strict=True):
            draw(panel_axes(figure, top - HEAD, height - HEAD - FOOT), panel)
            top -= height
    return figure


def describe(rows: Sequence[FailureRate]) -> str:
    """Return in words what the plot shows."""
    said = "; ".join(
        f"{row.reading.dataset}, {row.reading.name} {row.reading.text}: "
        f"{wording.gap(row.comparison)}, n = {row.n:,}"
        for row in rows
    )
    return one_line(f"Gaps in failure rate, in percentage points. {said or 'None'}.")


def _caption(rows: Sequence[FailureRate]) -> str:
    if not rows:
        return "Neither a judge nor a feature to compare trajectories by."
    note = simulation_note((row.reading.dataset, row.simulated) for row in rows)
    return (
        f"{note} Bars: {LEVEL_TEXT} {NEWCOMBE} interval of the gap. Counts: failed of n in the risky and the "
        "safe group; trajectories without an outcome, judgement or value are left out. Filled: judges; open: "
        "features."
    ).strip()


def panel_axes(figure: Figure, top: float, height: float) -> Axes:
    """Return the axes of one panel of gaps, this many inches from the foot and high."""
    whole = figure.get_figheight()
    width = WIDTH - LEFT - RIGHT
    return figure.add_axes((LEFT / WIDTH, (top - height) / whole, width / WIDTH, height / whole))


def _panel(axes: Axes, rows: Sequence[FailureRate]) -> None:
    scale(axes, len(rows))
    axes.set_xlabel("gap in failure rate, risky less safe (percentage points)", fontsize=8)
    name = marked(label(rows[0].reading.dataset, 60), rows[0].simulated)
    write(axes, -LEFT + 0.1, HEADING, name, va="bottom", fontweight="bold")
    write(axes, GAP, HEADING, "gap", va="bottom")
    write(axes, COUNTS, HEADING, "failed / n", va="bottom")
    for place, row in enumerate(rows):
        axes.axhline(place, color=FAINT, linewidth=0.6, zorder=0)
        name = label(row.reading.name.replace("_", " "), 36)
        two_lines(axes, -LEFT + 0.1, place, name, label(row.reading.text, 48))
        two_lines(axes, COUNTS, place, wording.counts(row.comparison.counts), _left_out(row))
        colour, inside = (BLUE, BLUE) if row.reading.judge != NO_JUDGE else (INK, "white")
        bar(axes, place, row.comparison, colour, inside)


def scale(axes: Axes, rows: int) -> None:
    """Set the axes to gaps from -100 to 100 points and to so many rows, a line at no gap."""
    axes.set_xlim(-100, 100)
    axes.set_ylim(rows - 0.5, -0.5)
    axes.set_xticks(range(-100, 101, 50), ["-100", "-50", "0", "+50", "+100"])
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.axvline(0, color=GREY, linewidth=0.8, zorder=0)


def bar(axes: Axes, place: int, comparison: Comparison, colour: str, inside: str) -> None:
    """Draw a gap with its interval and write it beside, or write why there is none."""
    gap, interval = comparison.gap, comparison.interval
    if gap is None or interval is None:
        write(axes, MIDDLE, place, wording.gap(comparison), ha="center", **QUIET)
        return
    bounds = [interval.low, interval.high]
    axes.plot(bounds, [place, place], color=colour, linewidth=1.6, marker="|", markersize=8)
    axes.plot(gap, place, marker="o", markersize=5, color=colour, markerfacecolor=inside, markeredgewidth=1.4)
    write(axes, GAP, place, wording.points(gap, interval), va="center")


def _left_out(row: FailureRate) -> str:
    total = row.unknown_outcome + row.unjudged + row.missing + row.excluded
    if not total:
        return ""
    return row.left_out if len(row.left_out) <= 44 else f"{total:,} left out"


def two_lines(axes: Axes, inches: float, place: int, upper: str, lower: str) -> None:
    """Write a row's text and, small and grey below it, a second one."""
    write(axes, inches, place - 0.04, upper, va="bottom" if lower else "center")
    write(axes, inches, place + 0.06, lower, va="top", fontsize=7, color=GREY)


def write(axes: Axes, inches: float, row: float, text: str, **look: Any) -> None:
    """Write at this many inches right of the axes' left edge and at the height of a row."""
    axes.text(inches / (WIDTH - LEFT - RIGHT), row, text, transform=axes.get_yaxis_transform(), **look)
