"""Time to the first flag: the share flagged by each step, of failures and of passes, a panel a judge."""

from collections.abc import Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coherence.evaluation.landmarks import FlagCurves
from coherence.evaluation.readings import marked, simulation_note
from coherence.evaluation.render import one_line
from coherence.evaluation.wording import p_value, percent
from coherence.figures.panels import UNPLACED, Panels
from coherence.figures.style import DASHES, OUTCOME_COLOURS, label, style
from coherence.records import OutcomeStatus
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.survival import KAPLAN_MEIER, LOG_RANK, Curve, CurvePoint

HEIGHT: Final = 2.3  # inches


def drawn(rows: Sequence[FlagCurves]) -> list[FlagCurves]:
    """Return the curves in which anything is flagged."""
    return [row for row in rows if row.all is not None and row.all.flagged]


def first_flag(rows: Sequence[FlagCurves]) -> Figure:
    """Return the plot of the Kaplan-Meier curves."""
    shown = drawn(rows)
    with style():
        panels = Panels(_caption(shown), [HEIGHT] * len(shown))
        for row in shown:
            note = f"log-rank p {p_value(row.log_rank_p)}"
            note += f"; {row.left_out:,} not placed" if row.left_out else ""
            panels.start(f"{marked(label(row.dataset), row.simulated)}, {label(row.judge)}", note)
            _draw(panels.axes(0.95, 8.8), row)
    return panels.figure


def describe(rows: Sequence[FlagCurves]) -> str:
    """Return in words what the plot shows."""
    said = "; ".join(
        f"{row.dataset}, {row.judge}: {curve.flagged} of {curve.n} {name} flagged, "
        f"{percent(curve.points[-1].share)} % by the last step"
        for row in drawn(rows)
        for name, curve in (("failures", row.failed), ("passes", row.passed))
        if curve is not None and curve.points
    )
    return one_line(f"Share of trajectories flagged by each step. {said or 'None'}.")


def _caption(rows: Sequence[FlagCurves]) -> str:
    if not rows:
        return f"No time to the first flag to draw: {UNPLACED}"
    note = simulation_note((row.dataset, row.simulated) for row in rows)
    return (
        f"{note} Share flagged by each non-empty step, trajectories that end unflagged being censored at "
        f"their end ({KAPLAN_MEIER}, {LEVEL_TEXT}, shaded). p: {LOG_RANK}, failures against passes. A flag "
        "is known to the judge only with the whole trajectory read: these are places of flags, not "
        "warnings in time."
    ).strip()


def _draw(axes: Axes, row: FlagCurves) -> None:
    last = max((run.length for run in row.runs), default=1.0)
    axes.set_xlim(0, last)
    axes.set_ylim(0, 105)
    axes.set_yticks(range(0, 101, 25))
    axes.set_xlabel("non-empty steps", fontsize=8)
    axes.set_ylabel("flagged by then (%)", fontsize=8)
    sides: tuple[tuple[OutcomeStatus, Curve | None], ...] = (("failed", row.failed), ("passed", row.passed))
    for outcome, curve in sides:
        if curve is not None:
            _step(axes, outcome, curve)
    axes.legend(loc="upper left")


def _step(axes: Axes, outcome: OutcomeStatus, curve: Curve) -> None:
    points = [CurvePoint(0.0, 0.0, 0.0, 0.0), *curve.points]
    times = [point.time for point in points]
    colour = OUTCOME_COLOURS[outcome]
    axes.step(
        times,
        [100 * point.share for point in points],
        where="post",
        color=colour,
        linestyle=DASHES[outcome],
        label=f"{outcome}, {curve.flagged:,} of n = {curve.n:,} flagged",
    )
    known = [point for point in points if point.low is not None and point.high is not None]
    axes.fill_between(
        [point.time for point in known],
        [100 * (point.low or 0.0) for point in known],
        [100 * (point.high or 0.0) for point in known],
        step="post",
        color=colour,
        alpha=0.12,
        linewidth=0,
    )
