from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from coherence.evaluation.main_parts import ALL_GROUPS
from coherence.evaluation.stratum import DIFFICULTY, WITHIN, Stratum
from coherence.figures.incoherence_strata import describe, incoherence_strata
from coherence.figures.style import save
from coherence.incoherence.aggregates import JACKKNIFE_T, Aggregate
from coherence.stats.intervals import Interval


def found(incoherence: float | None = 0.5, tasks: int = 12) -> Aggregate:
    interval = Interval(0.3, 0.7, JACKKNIFE_T, tasks)
    return Aggregate(items=40, fewest=5, most=5, incoherence=incoherence, jackknife=interval)


def row(place: int = 0, group: str = "agent", by: str = "steps", **more: Any) -> Stratum:
    settings: dict[str, Any] = {
        "dataset": "bench",
        "kind": "answer",
        "decomposition": "kohavi_wolpert",
        "stratum": f"{place + 1}: 10 to 30",
        "found": found(),
        "centre": 20.0 + place,
    }
    return Stratum(group=group, by=by, place=place, **(settings | more))


def texts(figure: Figure) -> list[str]:
    return [str(text.get_text()) for text in figure.findobj(Text) if isinstance(text, Text)]


def test_each_division_is_a_panel() -> None:
    rows = [row(by="output_tokens"), row(by=DIFFICULTY), row(by="steps" + WITHIN), row(by="scaffold")]
    figure = incoherence_strata(rows)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["output tokens", DIFFICULTY, "steps, within the task"]
    assert "bench: answer, Kohavi-Wolpert" in texts(figure)


def test_kinds_of_outcome_are_not_mixed() -> None:
    assert len(incoherence_strata([row(), row(kind="passed")]).axes) == 2


def test_the_interval_and_n_are_those_of_all_groups_together() -> None:
    rows = [row(group="a"), row(group="b"), row(group=ALL_GROUPS, found=found(0.6, 7))]
    figure = incoherence_strata(rows)
    (axes,) = figure.axes
    lines = [np.asarray(line.get_ydata(), dtype=float).tolist() for line in axes.lines]
    assert lines.count([0.3, 0.7]) == 1
    assert [0.6] in lines
    assert "20\nn 40\n(7)" in texts(figure)


def test_halves_are_named() -> None:
    names = ("below its median", "at or above its median")
    rows = [row(place, stratum=name, centre=None, by="steps" + WITHIN) for place, name in enumerate(names)]
    assert {"below\nn 40\n(12)", "above\nn 40\n(12)"} <= set(texts(incoherence_strata(rows)))


def test_the_caption_names_the_method_and_what_is_simulated() -> None:
    shown = texts(incoherence_strata([row(simulated="made up", kind="passed")]))
    caption = next(text for text in shown if "jackknife-t" in text).replace("\n", " ")
    for words in ("95 %", "bench is simulated: made up.", "binary: a function of the pass rates"):
        assert words in caption
    assert any(text.startswith("bench (simulated)") for text in shown)


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [row(dataset="$\\frac{$ 中 \ud800 \x00" * 9)],
        [row(found=Aggregate(0)), row(1, found=found(None))],
        [row(place, f"g{group}", by) for group in range(20) for by in "abcde" for place in range(3)],
    ],
    ids=["none", "hostile", "nothing wrong", "many"],
)
def test_any_rows_can_be_drawn(tmp_path: Path, rows: list[Stratum]) -> None:
    assert all(path.stat().st_size for path in save(incoherence_strata(rows), tmp_path, "x"))


def test_in_words() -> None:
    rows = [row(group="a"), row(group="b"), row(group=ALL_GROUPS)]
    assert describe(rows) == (
        "Incoherence by stratum. bench, steps 1: 10 to 30: 0.500 (0.300 to 0.700), n = 40."
    )
