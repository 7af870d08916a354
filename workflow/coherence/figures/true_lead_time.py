"""True lead time: the share of runs flagged by each share of their steps, on the way and in hindsight."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coherence.evaluation.readings import marked, simulation_note
from coherence.evaluation.render import one_line
from coherence.evaluation.watched import Watched
from coherence.figures.panels import Panels
from coherence.figures.style import FAINT, GREY, OUTCOME_COLOURS, label, style
from coherence.records import OutcomeStatus, Record
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.proportions import CLOPPER_PEARSON, clopper_pearson

HEIGHT: Final = 2.3  # inches, as all lengths here
LEFTS: Final = (0.95, 5.65)
WIDTH: Final = 3.95
DASHES: Final = ("-", ":")  # on the way, in hindsight
MARGIN: Final = 6  # percentage points right of the end, where the intervals stand
SIDES: Final[tuple[OutcomeStatus, ...]] = ("failed", "passed")
NAMES: Final[dict[OutcomeStatus, str]] = {"failed": "failures", "passed": "passes"}


class Panel(Record, frozen=True):
    """The runs of one judge on one dataset."""

    dataset: str
    judge: str
    runs: tuple[Watched, ...]

    def known(self, outcome: OutcomeStatus) -> list[Watched]:
        """Return the runs with an outcome that both curves can show."""
        return [run for run in self.runs if run.outcome == outcome and run.is_known]

    @property
    def left_out(self) -> int:
        """The failures and passes that neither curve shows."""
        return sum(run.outcome in SIDES and not run.is_known for run in self.runs)


def panels_of(runs: Sequence[Watched]) -> list[Panel]:
    """Return a panel for each judge and dataset."""
    grouped = groupby(runs, key=lambda run: (run.dataset, run.judge))
    return [Panel(*names, tuple(group)) for names, group in grouped]


def true_lead_time(runs: Sequence[Watched]) -> Figure:
    """Return the plot: failures left, passes right, a panel a judge and dataset."""
    shown = panels_of(runs)
    with style():
        panels = Panels(_caption(shown), [HEIGHT] * len(shown))
        for panel in shown:
            note = f"{panel.left_out:,} runs left out" if panel.left_out else ""
            simulated = panel.runs[0].simulated
            panels.start(f"{marked(label(panel.dataset), simulated)}, {label(panel.judge)}", note)
            for left, outcome in zip(LEFTS, SIDES, strict=True):
                _draw(panels.axes(left, WIDTH), outcome, panel.known(outcome))
    return panels.figure


def describe(runs: Sequence[Watched]) -> str:
    """Return in words what the plot shows."""
    said = "; ".join(
        f"{panel.dataset}, {panel.judge}: of {len(known)} {NAMES[outcome]} "
        f"{sum(run.fate == 'flagged' for run in known)} flagged on the way, "
        f"{sum(run.whole == 'flagged' for run in known)} in hindsight"
        for panel in panels_of(runs)
        for outcome in SIDES
        for known in [panel.known(outcome)]
    )
    return one_line(f"Share of runs flagged by each share of their steps. {said or 'None'}.")


def _caption(panels: Sequence[Panel]) -> str:
    if not panels:
        return "No run was judged on the way."
    note = simulation_note((panel.dataset, panel.runs[0].simulated) for panel in panels)
    return (
        f"{note} Share of runs flagged by each share of their non-empty steps. On the way: at the end of the "
        "shortest prefix that flags, judged without a look at what follows. In hindsight: at the first "
        "acknowledgment the whole run's judgement names. Between the curves lies the hindsight gain. Bars: "
        f"the share flagged in the end with its {LEVEL_TEXT} {CLOPPER_PEARSON} interval, on the way (full) "
        "and in hindsight (open). Left out: runs of which a prefix or the whole is unjudged so that one "
        "curve is not known, and flags without a place."
    ).strip()


def _draw(axes: Axes, outcome: OutcomeStatus, runs: Sequence[Watched]) -> None:
    axes.set_xlim(0, 100 + MARGIN)
    axes.set_ylim(0, 105)
    axes.set_yticks(range(0, 101, 25))
    axes.set_xticks(range(0, 101, 25))
    axes.set_xlabel("share of steps elapsed (%)", fontsize=8)
    axes.set_ylabel(f"{NAMES[outcome]} flagged by then (%)", fontsize=8)
    axes.axvline(100, color=FAINT, linewidth=0.8)
    if not runs:
        axes.text(50, 50, f"no {NAMES[outcome]} to show", ha="center", color=GREY, fontsize=8)
        return
    colour = OUTCOME_COLOURS[outcome]
    places = {
        "on the way": [run.flagged_after / run.length for run in runs if run.flagged_after is not None],
        "in hindsight": [run.place / run.length for run in runs if run.place is not None],
    }
    for number, (name, found) in enumerate(places.items()):
        xs = [0.0, *(100 * place for place in sorted(found)), 100.0]
        ys = [100 * rank / len(runs) for rank in (*range(len(found) + 1), len(found))]
        axes.step(
            xs,
            ys,
            where="post",
            color=colour,
            linestyle=DASHES[number],
            label=f"{name}, {len(found):,} of n = {len(runs):,}",
        )
        _end(axes, 102.0 + 2.4 * number, (len(found), len(runs)), (colour, number == 0))
    axes.legend(loc="upper left")


def _end(axes: Axes, x: float, counts: tuple[int, int], look: tuple[str, bool]) -> None:
    (count, n), (colour, is_full) = counts, look
    bounds = clopper_pearson(count, n)
    if bounds is not None:
        axes.plot([x, x], [100 * bounds.low, 100 * bounds.high], color=colour, linewidth=1.1)
        face = colour if is_full else "white"
        axes.plot(x, 100 * count / n, "o", color=colour, markerfacecolor=face, markersize=3.5)
