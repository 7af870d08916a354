"""Components of variance: the parts of the error of nested runs as bars, beside them the share of one."""

from collections.abc import Mapping, Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coherence.evaluation import wording
from coherence.evaluation.readings import marked, simulation_note
from coherence.evaluation.render import one_line
from coherence.evaluation.variance_components import BINARY_PARTS, NestedRow, Part
from coherence.evaluation.variance_components_table import MEANING, PARTS, part_text
from coherence.evaluation.wording import share, span
from coherence.figures.panels import Panels
from coherence.figures.style import BLUE, FAINT, GREY, PALETTE, VERMILION, label, style
from coherence.incoherence.aggregates import JACKKNIFE_T, NO_INTERVAL
from coherence.stats.intervals import LEVEL_TEXT

LEFT: Final = 2.9  # inches, as all lengths here
BARS: Final = 3.2
SHARES: Final = 1.9
GUTTER: Final = 0.3
ROW: Final = 0.22
COLOURS: Final[Mapping[str, str]] = {
    "bias": BLUE,
    "scaffold": PALETTE[4],
    "setting": PALETTE[3],
    "context": PALETTE[2],
    "sampling": VERMILION,
    "verification": PALETTE[5],
}
NAMES: Final = {"sampling": "attempts", "verification": "verifier"}
NOTHING: Final = (
    "No runs are nested: no backbone was tried under two scaffolds, no group by context or verification."
)
HIGHEST: Final = ("scaffold", "context", "verification")


def variance_components(rows: Sequence[NestedRow]) -> Figure:
    """Return the bars of the main rows whose parts are known, a panel a dataset, the largest error first."""
    panels: dict[str, list[NestedRow]] = {}
    for row in drawn(rows):
        panels.setdefault(row.dataset, []).append(row)
    with style():
        made = Panels(_caption(drawn(rows)), [ROW * len(panel) for panel in panels.values()])
        for dataset, panel in panels.items():
            made.start(marked(label(dataset, 60), panel[0].simulated), "tasks × scaffolds, attempts")
            _panel(made, sorted(panel, key=lambda row: (-(row.error or 0), row.name)))
    return made.figure


def describe(rows: Sequence[NestedRow]) -> str:
    """Return in words what the plot shows."""
    said = "; ".join(
        f"{row.dataset}, {row.name}: error {share(row.error)}, "
        + ", ".join(f"{NAMES.get(name, name)} {part_text(part)}" for name, part in _parts(row).items())
        + f", n = {row.tasks:,}"
        for row in drawn(rows)
    )
    return one_line(f"Parts of the error of nested runs, with their shares. {said or 'None'}.")


def drawn(rows: Sequence[NestedRow]) -> list[NestedRow]:
    """Return the main rows whose parts are known."""
    return [row for row in rows if row.main and row.error is not None]


def _parts(row: NestedRow) -> dict[str, Part]:
    return {name: part for name in PARTS if (part := getattr(row, name)) is not None}


def _caption(rows: Sequence[NestedRow]) -> str:
    if not rows:
        return NOTHING
    note = simulation_note((row.dataset, row.simulated) for row in rows)
    marks = f" o: {BINARY_PARTS}." if any(map(_is_binary, rows)) else ""
    return (
        f"{note} Left: the parts of the mean error over tasks; parts below 0 are drawn as 0. {MEANING}Right: "
        "the share of the scaffolds in the error (for single groups of the contexts, or else of the "
        f"verifications), a ratio of sums, {LEVEL_TEXT} {JACKKNIFE_T} interval over tasks. n: tasks × "
        f"scaffolds a task, then attempts. {NO_INTERVAL}{marks} Incoherent is not harmless."
    ).strip()


def _panel(made: Panels, rows: Sequence[NestedRow]) -> None:
    bars, shares = made.axes(LEFT, BARS), made.axes(LEFT + BARS + GUTTER, SHARES)
    bars.set_yticks(range(len(rows)), [_name(row) for row in rows], fontsize=7.5)
    shares.set_yticks([])
    for axes in (bars, shares):
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
    bars.set_xlim(0, max([0.01, *(_length(row) for row in rows)]) * 1.02)
    for place, row in enumerate(rows):
        _bars(bars, place, row)
        _share(shares, place, row)
        size = f"{row.tasks:,} × {span(row.fewest, row.most)}, {row.attempts:,}"
        shares.text(
            1.06, place, size, transform=shares.get_yaxis_transform(), va="center", fontsize=7.5, color=GREY
        )
    shares.axvline(0, color=GREY, linewidth=0.8)
    bars.set_xlabel("error", fontsize=8)
    shares.set_xlabel("share of the error", fontsize=8)
    _key(bars, rows)


def _is_binary(row: NestedRow) -> bool:
    return BINARY_PARTS in row.note


def _name(row: NestedRow) -> str:
    return label(row.name, 44) + (" o" if _is_binary(row) else "")


def _length(row: NestedRow) -> float:
    return sum(max(0.0, part.value) for part in _parts(row).values())


def _bars(axes: Axes, place: int, row: NestedRow) -> None:
    left = 0.0
    for name, part in _parts(row).items():
        width = max(0.0, part.value)
        axes.barh(place, width, left=left, height=0.7, color=COLOURS[name])
        left += width


def _share(axes: Axes, place: int, row: NestedRow) -> None:
    parts = _parts(row)
    name = next((name for name in HIGHEST if name in parts), None)
    axes.axhline(place, color=FAINT, linewidth=0.5, zorder=0)
    part = parts.get(name or "")
    if name is None or part is None or part.share is None:
        axes.text(0, place, row.note or wording.NONE, va="center", fontsize=7.5, color=GREY)
        return
    interval = part.share_interval
    if interval is not None:
        axes.plot([interval.low, interval.high], [place, place], color=COLOURS[name], linewidth=1.6)
    axes.plot([part.share], [place], marker="o", markersize=4, color=COLOURS[name])


def _key(axes: Axes, rows: Sequence[NestedRow]) -> None:
    there = [name for name in PARTS if any(name in _parts(row) for row in rows)]
    for name in there:
        axes.barh([0], [0], color=COLOURS[name], label=NAMES.get(name, name))
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=len(there),
        fontsize=7.5,
        handlelength=0.9,
        handletextpad=0.4,
        columnspacing=1.0,
        borderaxespad=0.1,
    )
