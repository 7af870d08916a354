"""Error composition: bias and variance of each group's error as bars, beside them its incoherence."""

from collections.abc import Sequence
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coherence.evaluation.decompositions import BINARY, LABELS
from coherence.evaluation.error_incoherence import Incoherence
from coherence.evaluation.readings import marked, simulation_note
from coherence.evaluation.render import one_line
from coherence.evaluation.wording import share, span
from coherence.figures.style import (
    BLUE,
    FAINT,
    GREY,
    INK,
    VERMILION,
    caption_height,
    label,
    style,
    write_caption,
)
from coherence.incoherence.aggregates import JACKKNIFE_T, NO_INTERVAL
from coherence.stats.intervals import LEVEL_TEXT

WIDTH: Final = 10.0  # inches, as all lengths here
LEFT: Final = 3.1
BARS: Final = 2.7
GUTTER: Final = 0.3
RATIO: Final = 1.9
ROW: Final = 0.2
HEAD: Final = 0.62
FOOT: Final = 0.5
HEADS: Final = (
    (LEFT, "error =", GREY),
    (LEFT + 0.5, "bias", BLUE),
    (LEFT + 0.8, "+ variance", VERMILION),
    (LEFT + BARS + GUTTER, "incoherence", GREY),
    (LEFT + BARS + GUTTER + RATIO + 0.1, "tasks × attempts", GREY),
)


def error_composition(rows: Sequence[Incoherence]) -> Figure:
    """Return the bars of the groups' main rows, a panel a dataset, the largest error first."""
    panels: dict[str, list[Incoherence]] = {}
    for row in rows:
        if row.main:
            panels.setdefault(row.dataset, []).append(row)
    caption = _caption([row for panel in panels.values() for row in panel])
    heights = [HEAD + ROW * len(panel) + FOOT for panel in panels.values()]
    with style():
        figure = Figure(figsize=(WIDTH, sum(heights) + caption_height(caption)))
        write_caption(figure, caption)
        top = figure.get_figheight()
        for height, panel in zip(heights, panels.values(), strict=True):
            _panel(figure, top, sorted(panel, key=_order))
            top -= height
    return figure


def describe(rows: Sequence[Incoherence]) -> str:
    """Return in words what the plot shows."""
    said = "; ".join(
        f"{row.dataset}, {row.group}: error {share(row.found.error)}, "
        f"incoherence {share(row.found.incoherence, row.found.jackknife)}, n = {row.found.items:,}"
        for row in rows
        if row.main
    )
    return one_line(f"Bias and variance of each group's error. {said or 'None'}.")


def _order(row: Incoherence) -> tuple[float, str]:
    return -(row.found.error if row.found.error is not None else -1), row.group


def _caption(rows: Sequence[Incoherence]) -> str:
    if not rows:
        return "No group has outcomes to decompose."
    note = simulation_note((row.dataset, row.simulated) for row in rows)
    names = dict.fromkeys(f"{row.kind} by {LABELS[row.decomposition]}" for row in rows)
    marks = f" o: {BINARY}." if any(row.kind == "passed" for row in rows) else ""
    estimators = ", ".join(dict.fromkeys(row.estimator for row in rows))
    return (
        f"{note} Left: bias and variance add up to the error; parts below 0 are drawn as 0. Right: "
        f"incoherence = sum of variances / sum of errors, {LEVEL_TEXT} {JACKKNIFE_T} interval over tasks, "
        f"cut at the frame; none where nothing was wrong. {NO_INTERVAL} Outcomes: {', '.join(names)}; "
        f"{estimators} "
        f"estimates.{marks} Incoherent is not harmless."
    ).strip()


def _panel(figure: Figure, top: float, rows: Sequence[Incoherence]) -> None:
    height = ROW * len(rows)
    bars = _axes(figure, LEFT, top - HEAD, (BARS, height), len(rows))
    ratio = _axes(figure, LEFT + BARS + GUTTER, top - HEAD, (RATIO, height), len(rows))
    width, whole = figure.get_size_inches()
    name = marked(label(rows[0].dataset, 60), rows[0].simulated)
    figure.text(0.1 / width, (top - 0.25) / whole, name, fontweight="bold", va="center")
    for left, text, colour in HEADS:
        figure.text(left / width, (top - HEAD + 0.1) / whole, text, fontsize=8, color=colour)
    errors = [row.found.error or 0 for row in rows]
    bars.set_xlim(0, max([*errors, 0.01]) * 1.02)
    ratio.set_xlim(-0.02, 1.02)
    ratio.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", ".25", ".5", ".75", "1"])
    for place, row in enumerate(rows):
        _row(bars, ratio, place, row)


def _axes(figure: Figure, left: float, top: float, size: tuple[float, float], rows: int) -> Axes:
    width, whole = figure.get_size_inches()
    axes = figure.add_axes((left / width, (top - size[1]) / whole, size[0] / width, size[1] / whole))
    axes.set_ylim(rows - 0.5, -0.5)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    return axes


def _row(bars: Axes, ratio: Axes, place: int, row: Incoherence) -> None:
    found = row.found
    binary = " o" if row.kind == "passed" else ""
    _text(bars, -LEFT + 0.1, BARS, place, label(row.group, 46) + binary)
    size = f"{found.items:,} × {span(found.fewest, found.most)}" if found.items else "0"
    _text(ratio, RATIO + 0.1, RATIO, place, size, color=GREY)
    ratio.axhline(place, color=FAINT, linewidth=0.5, zorder=0)
    if found.bias is None or found.variance is None:
        _text(bars, 0.05, BARS, place, row.left_out_text, color=GREY)
        return
    bias, variance = max(0.0, found.bias), max(0.0, found.variance)
    bars.barh(place, bias, height=0.7, color=BLUE)
    bars.barh(place, variance, left=bias, height=0.7, color=VERMILION)
    if found.incoherence is None:
        _text(ratio, 0.05, RATIO, place, row.note or "none", color=GREY)
        return
    if found.jackknife is not None:
        bounds = [found.jackknife.low, found.jackknife.high]
        ratio.plot(bounds, [place, place], color=INK, linewidth=1.2)
    ratio.plot(found.incoherence, place, marker="o", markersize=3.5, color=INK)


def _text(axes: Axes, inches: float, width: float, row: float, text: str, **look: Any) -> None:
    """Write at this many inches right of the left edge of axes of this width, at the height of a row."""
    axes.text(
        inches / width,
        row,
        text,
        transform=axes.get_yaxis_transform(),
        va="center",
        **({"fontsize": 7.5} | look),
    )
