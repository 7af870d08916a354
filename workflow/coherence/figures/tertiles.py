"""Tertile plot: each judge's gap within thirds of the trajectories, beside the crude and the adjusted one."""

from collections.abc import Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from msgspec.structs import astuple

from coherence.evaluation import wording
from coherence.evaluation.family import is_primary
from coherence.evaluation.readings import NO_JUDGE, Reading, marked, simulation_note
from coherence.evaluation.render import one_line
from coherence.evaluation.tertiles import Third, values
from coherence.figures.panels import Panels
from coherence.figures.style import BLUE, GREY, INK, label, style
from coherence.records import Record
from coherence.stats.intervals import LEVEL_TEXT, Interval
from coherence.stats.strata import EXACT_CMH, SATO, AdjustedGap, exact_cmh, mantel_haenszel
from coherence.stats.tables import NEWCOMBE, Comparison, Counts, compare
from coherence.stats.tertiles import RULE

HEIGHT: Final = 1.9  # inches
PLACES: Final = (0.0, 1.0, 2.0, 3.4, 4.4)


class Thirds(Record, frozen=True):
    """One reading's thirds, and what they give together."""

    reading: Reading
    thirds: tuple[Third, ...]
    crude: Comparison
    gap: AdjustedGap | None

    @property
    def simulated(self) -> str:
        """What is not real about the dataset."""
        return self.thirds[0].simulated


def drawn(rows: Sequence[Third]) -> list[Thirds]:
    """Return what the plot shows: judges in their own reading, with a third to compare."""
    own: dict[tuple[str, str, str], list[Third]] = {}
    for row in rows:
        if row.reading.judge != NO_JUDGE and is_primary(row.reading):
            own.setdefault((row.reading.dataset, row.reading.name, row.reading.label), []).append(row)
    return [
        _together(thirds)
        for thirds in own.values()
        if any(third.stratum.comparison.gap is not None for third in thirds)
    ]


def _together(thirds: Sequence[Third]) -> Thirds:
    tables = [third.stratum.comparison.counts for third in thirds]
    whole = Counts(*(sum(cells) for cells in zip(*map(astuple, tables), strict=True)))
    return Thirds(thirds[0].reading, tuple(thirds), compare(whole), mantel_haenszel(tables))


def tertiles(rows: Sequence[Third]) -> Figure:
    """Return the tertile plot, a panel a judge."""
    shown = drawn(rows)
    with style():
        panels = Panels(_caption(shown), [HEIGHT] * len(shown))
        for row in shown:
            name = f"{marked(label(row.reading.dataset), row.simulated)}, {label(row.reading.name)}"
            panels.start(f"{name}, {row.reading.text}", f"n = {row.crude.counts.n:,}")
            _draw(panels.axes(0.95, 8.8), row)
    return panels.figure


def describe(rows: Sequence[Third]) -> str:
    """Return in words what the plot shows."""
    said = "; ".join(
        f"{row.reading.dataset}, {row.reading.name}: "
        + ", ".join(f"{third.stratum.label} {wording.gap(third.stratum.comparison)}" for third in row.thirds)
        for row in drawn(rows)
    )
    return one_line(f"Gaps within thirds, in percentage points. {said or 'None'}.")


def _caption(rows: Sequence[Thirds]) -> str:
    if not rows:
        return (
            "No gap within thirds to draw: no third has flagged and other trajectories with outcomes. "
            "Thirds are by the feature `stratify_by`; runs of a table have only the features it brings."
        )
    note = simulation_note((row.reading.dataset, row.simulated) for row in rows)
    return (
        f"{note} Gap in failure rate, risky less safe, within thirds of {rows[0].thirds[0].by} ({RULE}), "
        f"crude and adjusted. Bars: {LEVEL_TEXT} {NEWCOMBE} intervals; adjusted: {SATO}, {LEVEL_TEXT}, for "
        f"large samples; its p: {EXACT_CMH}. Below: the range of the values, and failed of n in the risky "
        "and the safe group. A third with few trajectories says little."
    ).strip()


def _draw(axes: Axes, row: Thirds) -> None:
    axes.set_xlim(-0.5, 4.9)
    axes.set_ylim(-100, 100)
    axes.set_yticks(range(-100, 101, 50), ["-100", "-50", "0", "+50", "+100"])
    axes.set_ylabel("gap (points)", fontsize=8)
    axes.grid(visible=False, axis="x")
    axes.axhline(0, color=GREY, linewidth=0.8)
    axes.axvline(2.7, color=GREY, linewidth=0.6, linestyle=":")
    names = []
    for place, third in zip(PLACES, row.thirds, strict=False):
        comparison = third.stratum.comparison
        _point(axes, place, (comparison.gap, comparison.interval), BLUE)
        counts = comparison.counts
        cells = f"{counts.risky_fail}/{counts.risky_n} · {counts.safe_fail}/{counts.safe_n}"
        names.append(f"{third.stratum.label}: {values(third.stratum)}\n{cells}")
    whole = row.crude.counts
    _point(axes, PLACES[3], (row.crude.gap, row.crude.interval), INK)
    if row.gap is not None:
        _point(axes, PLACES[4], (row.gap.gap, row.gap.interval), INK)
    names += [
        f"crude\n{whole.risky_fail}/{whole.risky_n} · {whole.safe_fail}/{whole.safe_n}",
        f"adjusted\n{_adjusted(row)}",
    ]
    axes.set_xticks(PLACES, names, fontsize=7.5)


def _adjusted(row: Thirds) -> str:
    if row.gap is None:
        return wording.NONE
    exact = exact_cmh([third.stratum.comparison.counts for third in row.thirds])
    return f"{row.gap.strata} of 3 thirds, exact p {wording.p_value(exact.two_sided if exact else None)}"


def _point(axes: Axes, place: float, found: tuple[float | None, Interval | None], colour: str) -> None:
    gap, interval = found
    if gap is None or interval is None:
        axes.text(place, 4, "one group\nonly", ha="center", va="bottom", fontsize=7.5, color=GREY)
        return
    axes.plot(
        [place] * 2, [interval.low, interval.high], color=colour, linewidth=1.6, marker="_", markersize=8
    )
    axes.plot(place, gap, marker="o", markersize=5, color=colour)
    axes.text(place + 0.07, gap, wording.points(gap, None), va="center", fontsize=8)
