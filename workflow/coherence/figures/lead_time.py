"""Lead-time plot: how much of each flagged trajectory is over at its first flag, a panel a judge."""

from collections.abc import Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coherence.evaluation.first_flags import FirstFlag
from coherence.evaluation.lead_time import SHARE, LeadTime
from coherence.evaluation.readings import marked, simulation_note
from coherence.evaluation.render import one_line
from coherence.evaluation.wording import percent
from coherence.figures.panels import UNPLACED
from coherence.figures.style import (
    DASHES,
    FAINT,
    GREY,
    INK,
    OUTCOME_COLOURS,
    caption_height,
    label,
    style,
    write_caption,
)
from coherence.records import OutcomeStatus
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.medians import METHOD, Summary, summarise

WIDTH: Final = 10.0  # inches, as all lengths here
PANEL: Final = 1.9
HEAD: Final = 0.45
FOOT: Final = 0.5
LEFT: Final = 0.95
GUTTER: Final = 0.9
SIDE: Final = (WIDTH - LEFT - GUTTER - 0.2) / 2
EMPTY: Final = 0.1  # a judge that flags nothing has a line of text only
CROWD: Final = 200  # from more dots than this on they are small and a picture, not shapes
GOLDEN: Final = 0.618033988749895  # steps of this share of the height spread points evenly without chance


def lead_time(rows: Sequence[LeadTime], flags: Sequence[FirstFlag]) -> Figure:
    """Return the lead-time plot: a panel for each dataset and judge of the rows, dots beside the ECDF."""
    panels = [(row, _shares(row, flags)) for row in rows if row.of == "all" and row.measure == SHARE]
    heights = [HEAD + (PANEL + FOOT if any(shares.values()) else EMPTY) for _, shares in panels]
    caption = _caption([row for row, _ in panels], any(any(shares.values()) for _, shares in panels))
    foot = caption_height(caption)
    with style():
        figure = Figure(figsize=(WIDTH, sum(heights) + foot))
        write_caption(figure, caption)
        top = figure.get_figheight()
        for height, (row, shares) in zip(heights, panels, strict=True):
            _panel(figure, top, row, shares)
            top -= height
    return figure


def describe(rows: Sequence[LeadTime]) -> str:
    """Return in words what the plot shows."""
    said = "; ".join(
        f"{row.dataset}, {row.judge}, {row.of}: "
        f"median {percent(row.summary.median)} % elapsed, n = {row.summary.n:,}"
        for row in rows
        if row.measure == SHARE and row.summary.median is not None
    )
    return one_line(f"Share of each flagged trajectory that is over at its first flag. {said or 'No flags'}.")


def _caption(panels: Sequence[LeadTime], is_placed: bool) -> str:
    if not panels:
        return "No judge has judged these trajectories."
    note = simulation_note((row.dataset, row.simulated) for row in panels)
    if not is_placed:
        return f"{note} No lead time to draw: {UNPLACED}".strip()
    return (
        f"{note} Left: a dot for each flagged trajectory at the share of its non-empty steps up to and "
        "including the first acknowledgment; heights mean nothing; bars: median and its interval "
        f"({METHOD}, at least {LEVEL_TEXT}, from 6 values on). Right: share of those trajectories first "
        "flagged by then."
    ).strip()


def _shares(row: LeadTime, flags: Sequence[FirstFlag]) -> dict[OutcomeStatus, list[float]]:
    shares: dict[OutcomeStatus, list[float]] = {"failed": [], "passed": [], "unknown": []}
    for flag in flags:
        if (flag.dataset, flag.judge) == (row.dataset, row.judge) and flag.elapsed:
            shares[flag.outcome].append(100 * flag.elapsed.share)
    return {outcome: sorted(values) for outcome, values in shares.items() if values or outcome != "unknown"}


def _panel(figure: Figure, top: float, row: LeadTime, shares: dict[OutcomeStatus, list[float]]) -> None:
    title = f"{marked(label(row.dataset), row.simulated)}, {label(row.judge)}"
    placed = f"{row.summary.n:,} of {row.flagged:,} flagged trajectories with a known place"
    placed = placed if row.flagged else "no flagged trajectory"
    width, height = figure.get_size_inches()
    figure.text(0.1 / width, (top - 0.25) / height, title, fontweight="bold")
    figure.text((LEFT + SIDE + GUTTER) / width, (top - 0.25) / height, placed, fontsize=8, color=GREY)
    if any(shares.values()):
        _draw_dots(_axes(figure, LEFT, top - HEAD), shares)
        _draw_steps(_axes(figure, LEFT + SIDE + GUTTER, top - HEAD), shares)


def _axes(figure: Figure, left: float, top: float) -> Axes:
    width, height = figure.get_size_inches()
    axes = figure.add_axes((left / width, (top - PANEL) / height, SIDE / width, PANEL / height))
    axes.set_xlim(0, 101)
    axes.set_xticks(range(0, 101, 25))
    axes.set_xlabel("share of steps elapsed at the first flag (%)", fontsize=8)
    return axes


def _draw_dots(axes: Axes, shares: dict[OutcomeStatus, list[float]]) -> None:
    crowded = max(map(len, shares.values())) > CROWD
    names = [f"{outcome}\nn = {len(values):,}" for outcome, values in shares.items()]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    for place, (outcome, values) in enumerate(shares.items()):
        heights = [place + 0.6 * ((number * GOLDEN + 0.5) % 1 - 0.5) for number in range(len(values))]
        axes.scatter(
            values,
            heights,
            s=5 if crowded else 22,
            alpha=0.3 if crowded else 0.75,
            color=OUTCOME_COLOURS[outcome],
            linewidths=0,
            rasterized=crowded,
        )
        _draw_median(axes, place, summarise(values))


def _draw_median(axes: Axes, place: int, summary: Summary) -> None:
    if summary.median is not None and summary.n > 1:
        axes.plot([summary.median] * 2, [place - 0.38, place + 0.38], color=INK, linewidth=1.6)
    if summary.interval is not None:
        axes.plot([summary.interval.low, summary.interval.high], [place, place], color=INK, linewidth=1.2)


def _draw_steps(axes: Axes, shares: dict[OutcomeStatus, list[float]]) -> None:
    axes.set_ylim(0, 105)
    axes.set_yticks(range(0, 101, 25))
    axes.set_ylabel("first flagged by then (%)", fontsize=8)
    axes.grid(color=FAINT, linewidth=0.6)
    for outcome, values in shares.items():
        if values:
            axes.step(
                [0, *values, 100],
                [0, *(100 * (number + 1) / len(values) for number in range(len(values))), 100],
                where="post",
                color=OUTCOME_COLOURS[outcome],
                linestyle=DASHES[outcome],
                label=f"{outcome}, n = {len(values):,}",
            )
    axes.legend(loc="upper left")
