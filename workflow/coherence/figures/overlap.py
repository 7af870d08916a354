"""Overlap plot: how often what a judge flags, a feature ranks first, both and neither failed."""

from collections.abc import Callable, Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coherence.evaluation.overlap import Overlap
from coherence.evaluation.readings import marked, simulation_note
from coherence.evaluation.render import one_line
from coherence.figures.panels import Panels
from coherence.figures.style import BLUE, GREY, INK, VERMILION, label, style
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.proportions import CLOPPER_PEARSON, Proportion

ROW: Final = 0.4  # inches
LEFT: Final = 1.75
SIDES: Final[dict[str, tuple[str, Callable[[Overlap], Proportion]]]] = {
    "both": (INK, lambda row: row.both),
    "flagged only": (VERMILION, lambda row: row.judge_only),
    "highest only": (BLUE, lambda row: row.feature_only),
    "neither": (GREY, lambda row: row.neither),
}
WIDTH: Final = (9.9 - LEFT) / len(SIDES)


def overlap(rows: Sequence[Overlap]) -> Figure:
    """Return the overlap plot: a panel a judge, in it a row a feature and a column a side."""
    panelled: dict[tuple[str, str], list[Overlap]] = {}
    for row in rows:
        panelled.setdefault((row.dataset, row.judge), []).append(row)
    with style():
        panels = Panels(_caption(rows), [ROW * len(inside) for inside in panelled.values()])
        for (dataset, judge), inside in panelled.items():
            title = f"{marked(label(dataset), inside[0].simulated)}, {label(judge)}"
            panels.start(title, f"{inside[0].k:,} flagged of n = {inside[0].n:,}")
            for place, (side, (colour, read)) in enumerate(SIDES.items()):
                axes = panels.axes(LEFT + WIDTH * place, WIDTH - 0.25)
                _draw(axes, side, colour, [read(row) for row in inside])
                axes.set_yticks(range(len(inside)), [_name(row) if place == 0 else "" for row in inside])
    return panels.figure


def describe(rows: Sequence[Overlap]) -> str:
    """Return in words what the plot shows."""
    said = "; ".join(
        f"{row.dataset}, {row.judge} and {row.feature}: "
        + ", ".join(f"{side} {read(row).count} of {read(row).n} failed" for side, (_, read) in SIDES.items())
        for row in rows
    )
    return one_line(f"Flags beside the trajectories a feature ranks first. {said or 'None'}.")


def _caption(rows: Sequence[Overlap]) -> str:
    if not rows:
        return "No judge's flags to set beside a feature."
    note = simulation_note((row.dataset, row.simulated) for row in rows)
    return (
        f"{note} The k trajectories a judge flags against the k with the highest value of each feature: "
        f"failure rate of what both have, one only, and neither, with {LEVEL_TEXT} {CLOPPER_PEARSON} "
        "intervals and failed of n. A star: values equal to the k-th were taken by id. Parts chosen after "
        "the fact are no test."
    ).strip()


def _name(row: Overlap) -> str:
    return label(row.feature.replace("_", " "), 20) + (" *" if row.tied else "")


def _draw(axes: Axes, side: str, colour: str, shares: Sequence[Proportion]) -> None:
    axes.set_title(side, fontsize=8, color=colour, pad=2)
    axes.set_xlim(0, 100)
    axes.set_xticks(range(0, 101, 50))
    axes.set_xlabel("failed (%)", fontsize=8)
    axes.set_ylim(len(shares) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    for place, share in enumerate(shares):
        if share.value is None or share.interval is None:
            axes.text(50, place, "none", ha="center", va="center", fontsize=7.5, color=GREY)
            continue
        bounds = [100 * share.interval.low, 100 * share.interval.high]
        axes.plot(bounds, [place] * 2, color=colour, linewidth=1.5, marker="|", markersize=6)
        axes.plot(100 * share.value, place, marker="o", markersize=4, color=colour)
        at_left = share.value > 0.5
        axes.text(
            2 if at_left else 98,
            place - 0.22,
            f"{share.count}/{share.n}",
            ha="left" if at_left else "right",
            va="center",
            fontsize=7,
        )
