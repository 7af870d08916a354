"""Ablation plot: the gap of a full judge and of each of its variants, a panel a dataset and full judge."""

from collections.abc import Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coherence.evaluation import wording
from coherence.evaluation.ablations import Ablation
from coherence.evaluation.readings import marked, simulation_note
from coherence.evaluation.render import one_line
from coherence.figures.forest import (
    COUNTS,
    GAP,
    HEADING,
    LEFT,
    MIDDLE,
    QUIET,
    bar,
    scale,
    stacked,
    two_lines,
    write,
)
from coherence.figures.style import BLUE, FAINT, INK, label
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.tables import NEWCOMBE

FULL: Final = "the full judge"


def ablations(rows: Sequence[Ablation]) -> Figure:
    """Return the ablation plot of the rows; panels are in order of appearance."""
    panels: dict[tuple[str, str], list[Ablation]] = {}
    for row in rows:
        panels.setdefault((row.dataset, row.full), []).append(row)
    return stacked(list(panels.values()), _panel, _caption(rows))


def describe(rows: Sequence[Ablation]) -> str:
    """Return in words what the plot shows."""
    said = "; ".join(
        f"{row.dataset}, {row.judge} ({row.changed or FULL}): "
        + (
            f"not run, {row.not_run}"
            if row.not_run
            else f"{wording.gap(row.comparison)}, n = {row.comparison.counts.n}"
        )
        for row in rows
    )
    return one_line(
        f"Gaps in failure rate of judges and their variants, in percentage points. {said or 'None'}."
    )


def _caption(rows: Sequence[Ablation]) -> str:
    if not rows:
        return "No judge has variants in this run."
    note = simulation_note((row.dataset, row.simulated) for row in rows)
    return (
        f"{note} Bars: {LEVEL_TEXT} {NEWCOMBE} interval of the gap; dotted: the gap of the full judge. "
        "Flagged: of the trajectories judged. Right only here, only full: trajectories with known outcome "
        "that both judged, and only this variant or only the full judge is right about. A judge that is not "
        "run has no numbers."
    ).strip()


def _panel(axes: Axes, rows: Sequence[Ablation]) -> None:
    scale(axes, len(rows))
    axes.set_xlabel("gap in failure rate, flagged less unflagged (percentage points)", fontsize=8)
    name = f"{marked(label(rows[0].dataset), rows[0].simulated)}, variants of {label(rows[0].full)}"
    write(axes, -LEFT + 0.1, HEADING, name, va="bottom", fontweight="bold")
    write(axes, GAP, HEADING, "gap", va="bottom")
    write(axes, COUNTS, HEADING, "flagged / n", va="bottom")
    whole = next((row.comparison.gap for row in rows if not row.changed), None)
    if whole is not None:
        axes.axvline(whole, color=INK, linewidth=0.8, linestyle=":", zorder=0)
    for place, row in enumerate(rows):
        _row(axes, place, row)


def _row(axes: Axes, place: int, row: Ablation) -> None:
    axes.axhline(place, color=FAINT, linewidth=0.6, zorder=0)
    two_lines(axes, -LEFT + 0.1, place, label(row.judge, 36), label(row.changed or FULL, 48))
    if row.not_run:
        write(axes, MIDDLE, place, f"not run: {label(row.not_run, 60)}", ha="center", **QUIET)
        return
    two_lines(axes, COUNTS, place, f"{row.flagged.count}/{row.flagged.n}", _paired(row))
    bar(axes, place, row.comparison, *((BLUE, BLUE) if row.changed else (INK, "white")))


def _paired(row: Ablation) -> str:
    if row.pair is None:
        return ""
    right = row.pair.right
    return f"right only here {right.first_only}, only full {right.second_only}"
