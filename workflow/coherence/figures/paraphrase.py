"""Paraphrase plot: how many flags stay when the thoughts are rewritten, a panel a dataset and judge."""

from collections.abc import Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coherence.evaluation import wording
from coherence.evaluation.paraphrased import Summary
from coherence.evaluation.readings import marked, simulation_note
from coherence.evaluation.render import one_line
from coherence.figures.panels import Panels
from coherence.figures.style import BLUE, FAINT, GREY, label, style
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.proportions import CLOPPER_PEARSON

ROW: Final = 0.42  # inches, as all lengths here
LEFT: Final = 3.6
WIDTH: Final = 3.6


def paraphrase(rows: Sequence[Summary]) -> Figure:
    """Return the paraphrase plot; panels are in order of appearance."""
    panelled: dict[tuple[str, str], list[Summary]] = {}
    for row in rows:
        panelled.setdefault((row.dataset, row.judge), []).append(row)
    with style():
        panels = Panels(_caption(rows), [ROW * len(inside) for inside in panelled.values()])
        for (dataset, judge), inside in panelled.items():
            panels.start(
                f"{marked(label(dataset), inside[0].simulated)}, {label(judge)}",
                "flags kept; spans; unjudged",
            )
            _draw(panels.axes(LEFT, WIDTH), inside)
    return panels.figure


def describe(rows: Sequence[Summary]) -> str:
    """Return in words what the plot shows."""
    said = "; ".join(
        f"{row.dataset}, {row.judge}, {row.paraphrase} ({row.reading}): {row.kept.count} of {row.kept.n} kept"
        for row in rows
    )
    return one_line(f"Flags kept when the thoughts are rewritten. {said or 'None'}.")


def _caption(rows: Sequence[Summary]) -> str:
    if not rows:
        return "No thoughts were rewritten in this run."
    note = simulation_note((row.dataset, row.simulated) for row in rows)
    return (
        f"{note} Of the chosen trajectories that were flagged before and judged after: the share still "
        f"flagged, with its {LEVEL_TEXT} {CLOPPER_PEARSON} interval. Beside it: kept of n; spans that "
        "flag, before and after; trajectories without a verdict, which are in no share. Few flags leave "
        "much open: 8 of 8 goes with 63 to 100 %."
    ).strip()


def _draw(axes: Axes, rows: Sequence[Summary]) -> None:
    axes.set_xlim(0, 100)
    axes.set_xticks(range(0, 101, 25))
    axes.set_xlabel("still flagged (%)", fontsize=8)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_yticks(range(len(rows)), [_name(row) for row in rows], fontsize=8)
    for place, row in enumerate(rows):
        axes.axhline(place, color=FAINT, linewidth=0.6, zorder=0)
        axes.text(103, place, _beside(row), va="center", fontsize=8)
        if row.kept.value is None or row.kept.interval is None:
            axes.text(
                50,
                place,
                "none flagged before and judged after",
                ha="center",
                va="center",
                fontsize=8,
                color=GREY,
            )
            continue
        bounds = [100 * row.kept.interval.low, 100 * row.kept.interval.high]
        axes.plot(bounds, [place] * 2, color=BLUE, linewidth=1.6, marker="|", markersize=8)
        axes.plot(100 * row.kept.value, place, marker="o", markersize=5, color=BLUE, clip_on=False)


def _name(row: Summary) -> str:
    return f"{label(row.paraphrase, 30)}, {label(row.how, 40)}\n{label(row.reading, 44)}"


def _beside(row: Summary) -> str:
    spans = wording.movement(row.spans_before, row.spans_after) if row.spans_n else wording.NONE
    return f"{row.kept.count}/{row.kept.n}; {spans}; {sum(row.unjudged.values()):,}"
