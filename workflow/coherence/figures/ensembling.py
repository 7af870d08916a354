"""Ensembling curves: error and incoherence against the number of votes, a row a dataset and rule."""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coherence.evaluation.ensembling import Votes
from coherence.evaluation.main_parts import ALL_GROUPS
from coherence.evaluation.readings import marked, simulation_note
from coherence.evaluation.render import one_line
from coherence.evaluation.wording import share
from coherence.figures.style import (
    BLUE,
    FAINT,
    GREY,
    VERMILION,
    caption_height,
    label,
    style,
    write_caption,
)
from coherence.incoherence.aggregates import DELTA_T, JACKKNIFE_T, NO_INTERVAL
from coherence.stats.intervals import LEVEL_TEXT, Interval

WIDTH: Final = 10.0  # inches, as all lengths here
PANEL: Final = 1.7
HEAD: Final = 0.55
FOOT: Final = 0.7
LEFT: Final = 0.75
GUTTER: Final = 0.8
SIDE: Final = (WIDTH - LEFT - GUTTER - 0.2) / 2

LOST: Final = 0.2  # of the tasks of one vote; where more have too few attempts, no line goes on


class Point(NamedTuple):
    """What is drawn of one number of votes; `single` is the same of one attempt at the same tasks."""

    value: float | None
    interval: Interval | None
    single: float | None
    n: int


Read = Callable[[Votes], Point]


def ensembling_curves(rows: Sequence[Votes]) -> Figure:
    """Return the curves of each dataset, kind of outcome and rule."""
    panels: dict[tuple[str, str, str], list[Votes]] = {}
    for row in rows:
        panels.setdefault((row.dataset, row.kind, row.rule), []).append(row)
    caption = _caption(rows)
    with style():
        figure = Figure(figsize=(WIDTH, len(panels) * (HEAD + PANEL + FOOT) + caption_height(caption)))
        write_caption(figure, caption)
        top = figure.get_figheight()
        for panel in panels.values():
            _panel(figure, top, panel)
            top -= HEAD + PANEL + FOOT
    return figure


def describe(rows: Sequence[Votes]) -> str:
    """Return in words what the plot shows."""
    alone = {row.dataset for row in rows} - {row.dataset for row in rows if row.group == ALL_GROUPS}
    said = "; ".join(
        f"{row.dataset}, {row.rule} of {row.votes}: error {share(row.error, row.error_interval)}, "
        f"n = {row.tasks:,}"
        for row in rows
        if row.error is not None and (row.group == ALL_GROUPS or row.dataset in alone)
    )
    return one_line(f"Error against the number of votes. {said or 'None'}.")


def _caption(rows: Sequence[Votes]) -> str:
    if not rows:
        return "No group has outcomes to vote on."
    note = simulation_note((row.dataset, row.simulated) for row in rows)
    return (
        f"{note} Exact expectations over all subsets of a task's attempts, or over one attempt of each of "
        f"as many prompt contexts where attempts share them. Colour: all groups of the "
        f"dataset together (or its only group), a task's groups kept together; bars: {LEVEL_TEXT} interval "
        f"over tasks ({DELTA_T} for error, {JACKKNIFE_T} for incoherence). {NO_INTERVAL} Open: single "
        "attempts at the same tasks. Grey: single groups. n: tasks of groups with enough attempts; for "
        "incoherence of a "
        "majority twice as many, two ensembles without a common attempt (context). Lines end where more "
        f"than {100 * LOST:.0f} % of the tasks have too few attempts, or were not computed."
    ).strip()


def _panel(figure: Figure, top: float, rows: Sequence[Votes]) -> None:
    width, whole = figure.get_size_inches()
    first = rows[0]
    title = f"{marked(label(first.dataset, 60), first.simulated)}: {first.kind}, {first.rule}"
    figure.text(0.1 / width, (top - 0.25) / whole, title, fontweight="bold")
    curves: dict[str, list[Votes]] = {}
    for row in rows:
        curves.setdefault(row.group, []).append(row)
    sides: tuple[tuple[float, str, str, Read], ...] = (
        (LEFT, "error", VERMILION, _error),
        (LEFT + SIDE + GUTTER, "incoherence", BLUE, _incoherence),
    )
    for left, name, colour, read in sides:
        axes = figure.add_axes((left / width, (top - HEAD - PANEL) / whole, SIDE / width, PANEL / whole))
        axes.set_ylabel(name, fontsize=8)
        _draw(axes, curves, colour, read)


def _error(row: Votes) -> Point:
    return Point(row.error, row.error_interval, row.error_of_one, row.tasks)


def _incoherence(row: Votes) -> Point:
    return Point(row.incoherence, row.interval, row.incoherence_of_one, row.parted)


def _draw(axes: Axes, curves: dict[str, list[Votes]], colour: str, read: Read) -> None:
    main = curves[ALL_GROUPS] if ALL_GROUPS in curves else next(iter(curves.values()))
    votes = sorted({row.votes for rows in curves.values() for row in rows})
    for rows in curves.values():
        if rows is not main:
            faint = [(votes.index(row.votes), read(row)) for row in rows]
            _line(axes, faint, color=FAINT, linewidth=0.8, zorder=1)
    points = [(votes.index(row.votes), read(row)) for row in main]
    _line(axes, points, color=colour, linewidth=1.5, zorder=2)
    for place, point in points:
        _dot(axes, place, point, colour)
    axes.set_ylim(0, _top(curves) if read is _error else 1)
    axes.set_xlim(-0.4, len(votes) - 0.6)
    n = {row.votes: read(row).n for row in main}
    axes.set_xticks(range(len(votes)), [f"{each}\nn {n.get(each, 0):,}" for each in votes], fontsize=7)
    axes.set_xlabel("votes", fontsize=8)
    axes.grid(axis="y", color=FAINT, linewidth=0.5)
    if all(point.value is None for _, point in points):
        axes.text(0.5, 0.5, "too few attempts", transform=axes.transAxes, ha="center", color=GREY)


def _top(curves: dict[str, list[Votes]]) -> float:
    """Return where the axis of errors ends: those of numbers and in nats have no greatest value."""
    rows = [row for members in curves.values() for row in members]
    ends = [row.error_interval.high for row in rows if row.error_interval is not None]
    errors = [row.error for row in rows] + [row.error_of_one for row in rows]
    highest = max((error for error in errors if error is not None), default=1.0)
    return 1 if highest <= 1 else 1.05 * max([highest, *ends])


def _line(axes: Axes, points: Sequence[tuple[int, Point]], **look: Any) -> None:
    enough = (1 - LOST) * points[0][1].n
    known = [(place, point.value) for place, point in points if point.value is not None and point.n >= enough]
    axes.plot([place for place, _ in known], [value for _, value in known], **look)


def _dot(axes: Axes, place: int, point: Point, colour: str) -> None:
    if point.value is None:
        return
    if point.interval is not None:
        axes.plot([place, place], [point.interval.low, point.interval.high], color=colour, linewidth=1.2)
    if point.single is not None:
        axes.plot(
            place, point.single, marker="o", markersize=6, color=colour, markerfacecolor="white", zorder=3
        )
    axes.plot(place, point.value, marker="o", markersize=3.5, color=colour, zorder=4)
