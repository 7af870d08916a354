"""Incoherence against length and difficulty: panels of each dataset, its groups together and each apart."""

from collections.abc import Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coherence.evaluation import wording
from coherence.evaluation.decompositions import LABELS, note_of
from coherence.evaluation.main_parts import ALL_GROUPS
from coherence.evaluation.readings import marked, simulation_note
from coherence.evaluation.render import one_line
from coherence.evaluation.stratum import Stratum
from coherence.evaluation.wording import share
from coherence.figures.style import BLUE, FAINT, caption_height, label, style, write_caption
from coherence.incoherence.aggregates import JACKKNIFE_T, NO_INTERVAL
from coherence.stats.intervals import LEVEL_TEXT

WIDTH: Final = 10.0  # inches, as all lengths here
ACROSS: Final = 4
LEFT: Final = 0.55
SIDE: Final = (WIDTH - LEFT - 0.1) / ACROSS
PANEL: Final = 1.55
HEAD: Final = 0.3
TITLE: Final = 0.3
FOOT: Final = 0.62
SLACK: Final = 0.05  # what is shown beyond 0 and 1
NAMES: Final = ("scaffold", "backbone")  # divided by name, not by a value

Key = tuple[str, str]


def incoherence_strata(rows: Sequence[Stratum]) -> Figure:
    """Return a panel for each division of each dataset and kind of outcome."""
    datasets: dict[tuple[str, str, str], dict[str, list[Stratum]]] = {}
    for row in rows:
        if row.by not in NAMES:
            panels = datasets.setdefault((row.dataset, row.kind, row.decomposition), {})
            panels.setdefault(row.by, []).append(row)
    heights = [TITLE + _lines(panels) * (HEAD + PANEL + FOOT) for panels in datasets.values()]
    caption = _caption(rows if datasets else [])
    with style():
        figure = Figure(figsize=(WIDTH, sum(heights) + caption_height(caption)))
        write_caption(figure, caption)
        top = figure.get_figheight()
        for height, panels in zip(heights, datasets.values(), strict=True):
            _dataset(figure, top, panels)
            top -= height
    return figure


def describe(rows: Sequence[Stratum]) -> str:
    """Return in words what the plot shows."""
    said = "; ".join(
        f"{row.dataset}, {row.by} {row.stratum}: "
        f"{share(row.found.incoherence, row.found.jackknife)}, n = {row.found.items:,}"
        for row in rows
        if row.by not in NAMES and _main(row, rows)
    )
    return one_line(f"Incoherence by stratum. {said or 'None'}.")


def _main(row: Stratum, rows: Sequence[Stratum]) -> bool:
    """Whether a row is drawn with its interval: all groups together, or the only group."""
    family = (row.dataset, row.kind, row.decomposition, row.by)
    groups = {r.group for r in rows if (r.dataset, r.kind, r.decomposition, r.by) == family}
    return row.group == ALL_GROUPS or len(groups) == 1


def _caption(rows: Sequence[Stratum]) -> str:
    if not rows:
        return "No attempt has a length, and no dataset a second group."
    note = simulation_note((row.dataset, row.simulated) for row in rows)
    notes = dict.fromkeys(said for row in rows if (said := note_of(row.kind, row.decomposition)))
    marks = f" Pass or fail is {'; '.join(notes)}." if notes else ""
    return (
        f"{note} Incoherence: sum of variances / sum of errors. Blue: all groups of the dataset that have "
        f"the value together (or its only group), {LEVEL_TEXT} {JACKKNIFE_T} interval over tasks, a task's "
        "groups kept together, cut at the frame; n: tasks of groups, different tasks in brackets. Grey: "
        "single groups. Buckets of equally many tasks of a group, by mean length of its attempts or by the "
        "failure rate of the other groups; below the axis the mean value. Within the task: attempts below "
        f"against at or above the task's own median. {NO_INTERVAL}{marks}"
    ).strip()


def _lines(panels: dict[str, list[Stratum]]) -> int:
    return -(-len(panels) // ACROSS)


def _dataset(figure: Figure, top: float, panels: dict[str, list[Stratum]]) -> None:
    width, whole = figure.get_size_inches()
    first = next(iter(panels.values()))[0]
    title = (
        f"{marked(label(first.dataset, 60), first.simulated)}: {first.kind}, {LABELS[first.decomposition]}"
    )
    figure.text(0.1 / width, (top - 0.2) / whole, title, fontweight="bold")
    for number, (by, rows) in enumerate(panels.items()):
        down, along = divmod(number, ACROSS)
        left = LEFT + along * SIDE
        upper = top - TITLE - down * (HEAD + PANEL + FOOT) - HEAD
        axes = figure.add_axes((left / width, (upper - PANEL) / whole, (SIDE - 0.4) / width, PANEL / whole))
        axes.set_title(by.replace("_", " "), fontsize=8, loc="left")
        _panel(axes, rows)


def _panel(axes: Axes, rows: Sequence[Stratum]) -> None:
    groups: dict[str, list[Stratum]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    main = groups.pop(ALL_GROUPS) if ALL_GROUPS in groups else groups.popitem()[1]
    for lines in groups.values():
        known = [row for row in lines if row.found.incoherence is not None]
        values = [row.found.incoherence for row in known if row.found.incoherence is not None]
        axes.plot([row.place for row in known], values, color=FAINT, linewidth=0.8, zorder=1)
    _line(axes, main)
    axes.set_ylim(-SLACK, 1 + SLACK)
    axes.set_yticks([0, 0.5, 1], ["0", ".5", "1"])
    places = [row.place for row in main]
    axes.set_xlim(min(places) - 0.4, max(places) + 0.4)
    axes.set_xticks(places, [_tick(row) for row in main], fontsize=6.5, linespacing=1.3)
    axes.grid(axis="y", color=FAINT, linewidth=0.5)


def _line(axes: Axes, rows: Sequence[Stratum]) -> None:
    known = [row for row in rows if row.found.incoherence is not None]
    values = [row.found.incoherence for row in known if row.found.incoherence is not None]
    axes.plot([row.place for row in known], values, color=BLUE, linewidth=1.4, marker="o", markersize=4)
    for row in known:
        if row.found.jackknife is not None:
            bounds = [row.found.jackknife.low, row.found.jackknife.high]
            axes.plot([row.place, row.place], bounds, color=BLUE, linewidth=1.2)


def _tick(row: Stratum) -> str:
    half = row.stratum.removesuffix(" its median").removeprefix("at or ")
    name = half if row.centre is None else wording.value(row.centre)
    tasks = "" if row.found.jackknife is None else f"({row.found.jackknife.n:,})"
    return f"{name}\nn {row.found.items:,}\n{tasks}"
