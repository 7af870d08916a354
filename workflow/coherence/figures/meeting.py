"""Meeting plot: bias and variance of tasks with and without a flag, and the gap within tasks."""

from collections.abc import Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coherence.evaluation import wording
from coherence.evaluation.meeting import Meeting
from coherence.evaluation.readings import marked, simulation_note
from coherence.evaluation.render import one_line
from coherence.figures.panels import Panels
from coherence.figures.style import BLUE, GREY, INK, VERMILION, label, style
from coherence.incoherence.aggregates import JACKKNIFE_T, NO_INTERVAL, Aggregate
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.strata import SATO

HEIGHT: Final = 1.1  # inches


def meeting(rows: Sequence[Meeting]) -> Figure:
    """Return the meeting plot, a panel a group and judge."""
    largest = max((side.error or 0.0 for row in rows for side in (row.flagged, row.others)), default=0.0)
    with style():
        panels = Panels(_caption(rows), [HEIGHT] * len(rows))
        for row in rows:
            of = f"{marked(label(row.dataset), row.simulated)}, {label(row.group)}"
            panels.start(
                f"{of}, {label(row.judge)} ({row.reading})",
                f"{row.flags:,} of {row.attempts:,} attempts flagged",
            )
            _parts(panels.axes(1.75, 4.1), row, largest)
            _gap(panels.axes(6.6, 3.2), row)
    return panels.figure


def describe(rows: Sequence[Meeting]) -> str:
    """Return in words what the plot shows."""
    said = "; ".join(
        f"{row.dataset}, {row.group}, {row.judge} ({row.reading}): {_words(row.flagged)} with a flag, "
        f"{_words(row.others)} without"
        for row in rows
    )
    return one_line(f"Flags and the parts of error. {said or 'None'}.")


def _words(side: Aggregate) -> str:
    bias, variance = wording.estimate(side.bias), wording.estimate(side.variance)
    return f"bias {bias} and variance {variance} of {side.items:,} tasks"


def _caption(rows: Sequence[Meeting]) -> str:
    if not rows:
        return "No judge flags any of several attempts at one task."
    note = simulation_note((row.dataset, row.simulated) for row in rows)
    return (
        f"{note} Left: mean error of tasks with and without a flagged attempt, parted into bias and "
        f"variance; n tasks, and incoherence with its {LEVEL_TEXT} {JACKKNIFE_T} interval. {NO_INTERVAL} "
        f"Right: failure rate of flagged less other attempts at the same task ({SATO}, {LEVEL_TEXT} "
        "interval). Flags that "
        "go with bias mark tasks that keep failing; flags that go with scatter mark the attempts that "
        "fail."
    ).strip()


def _parts(axes: Axes, row: Meeting, largest: float) -> None:
    sides = {"with a flag": row.flagged, "without": row.others}
    axes.set_ylim(len(sides) - 0.5, -0.5)
    axes.set_yticks(range(len(sides)), [f"{name}\nn = {side.items:,}" for name, side in sides.items()])
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("error", fontsize=8)
    for place, side in enumerate(sides.values()):
        _bar(axes, place, side)
    axes.set_xlim(0, max(0.05, 1.9 * largest))
    axes.set_xticks([tick for tick in axes.get_xticks() if tick <= max(0.05, 1.15 * largest)])
    axes.plot([], [], color=BLUE, linewidth=6, label="bias")
    axes.plot([], [], color=VERMILION, linewidth=6, label="variance")
    axes.legend(loc="lower right", fontsize=7, ncols=2, bbox_to_anchor=(1.0, 0.97))


def _bar(axes: Axes, place: int, side: Aggregate) -> None:
    if side.bias is None or side.variance is None:
        axes.text(0, place, " no task", va="center", fontsize=8, color=GREY)
        return
    bias, variance = max(0.0, side.bias), max(0.0, side.variance)
    axes.barh(place, bias, height=0.55, color=BLUE)
    axes.barh(place, variance, left=bias, height=0.55, color=VERMILION)
    text = wording.estimate(side.incoherence, side.jackknife)
    axes.text(bias + variance, place, f"  incoherence {text}", va="center", fontsize=7.5)


def _gap(axes: Axes, row: Meeting) -> None:
    axes.set_xlim(-100, 100)
    axes.set_xticks(range(-100, 101, 50), ["-100", "-50", "0", "+50", "+100"])
    axes.set_ylim(-1, 1)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.axvline(0, color=GREY, linewidth=0.8)
    axes.set_xlabel("gap within tasks (points)", fontsize=8)
    if row.within is None:
        axes.text(0, 0.3, "no task with both", ha="center", fontsize=8, color=GREY)
        return
    interval = row.within.interval
    axes.plot([interval.low, interval.high], [0, 0], color=INK, linewidth=1.6, marker="|", markersize=8)
    axes.plot(row.within.gap, 0, marker="o", markersize=5, color=INK)
    exact = wording.p_value(row.exact_p)
    text = f"{wording.points(row.within.gap, interval)}, exact p {exact}, {row.telling_tasks:,} tasks tell"
    axes.text(0, 0.45, text, ha="center", fontsize=7.5)
