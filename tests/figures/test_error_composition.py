from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from coherence.evaluation.error_incoherence import Incoherence
from coherence.figures.error_composition import describe, error_composition
from coherence.figures.style import save
from coherence.incoherence.aggregates import JACKKNIFE_T, Aggregate
from coherence.stats.intervals import Interval

FOUND = Aggregate(
    items=89,
    attempts=445,
    fewest=5,
    most=5,
    error=0.4,
    bias=0.3,
    variance=0.1,
    incoherence=0.25,
    jackknife=Interval(0.2, 0.3, JACKKNIFE_T, 89),
)


def row(group: str = "agent", found: Aggregate = FOUND, **more: Any) -> Incoherence:
    settings: dict[str, Any] = {
        "dataset": "bench",
        "kind": "answer",
        "decomposition": "kohavi_wolpert",
        "estimator": "unbiased",
        "main": True,
    }
    return Incoherence(group=group, found=found, **(settings | more))


def texts(figure: Figure) -> list[str]:
    return [str(text.get_text()) for text in figure.findobj(Text) if isinstance(text, Text)]


def bars(figure: Figure) -> list[tuple[float, float]]:
    axes = figure.axes[0]
    return [(patch.get_x(), patch.get_width()) for patch in axes.patches if isinstance(patch, Rectangle)]


def test_bias_and_variance_add_up_to_the_error() -> None:
    assert np.array(bars(error_composition([row()]))) == pytest.approx(np.array([(0, 0.3), (0.3, 0.1)]))


def test_the_line_is_the_interval() -> None:
    lines = [
        np.asarray(line.get_xdata(), dtype=float).tolist()
        for line in error_composition([row()]).axes[1].lines
    ]
    assert [0.2, 0.3] in lines


def test_only_main_rows_are_drawn_the_largest_error_first() -> None:
    large = Aggregate(items=3, fewest=2, most=4, error=0.9, bias=0.5, variance=0.4, incoherence=0.44)
    shown = texts(error_composition([row("small"), row("large", large), row("other", main=False)]))
    assert "other" not in shown
    assert shown.index("large") < shown.index("small")
    assert {"89 × 5", "3 × 2 to 4"} <= set(shown)


def test_parts_below_nothing_are_drawn_as_nothing() -> None:
    found = Aggregate(items=3, fewest=2, most=2, error=0.1, bias=-0.1, variance=0.2, incoherence=2.0)
    assert bars(error_composition([row(found=found)])) == [(0, 0), (0, pytest.approx(0.2))]


def test_the_caption_names_method_estimator_and_what_is_simulated() -> None:
    shown = texts(error_composition([row(kind="passed", simulated="made up")]))
    caption = next(text for text in shown if "jackknife-t" in text).replace("\n", " ")
    for words in ("95 %", "unbiased", "bench is simulated: made up.", "a function of the pass rates"):
        assert words in caption
    assert {"bench (simulated)", "agent o"} <= set(shown)


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [row("$\\frac{$ 中 \ud800 \x00" * 9, dataset="<b>" * 99, left_out={"no answer": 10**6})],
        [row(found=Aggregate(0, too_few=7))],
        [row(found=Aggregate(2, 4, 2, 2, 0.0, 0.0, 0.0, never_wrong=2), note="never wrong")],
        [row(f"group {number}") for number in range(40)],
    ],
    ids=["none", "hostile", "nothing known", "never wrong", "many"],
)
def test_any_rows_can_be_drawn(tmp_path: Path, rows: list[Incoherence]) -> None:
    assert all(path.stat().st_size for path in save(error_composition(rows), tmp_path, "x"))


def test_groups_without_parts_say_why() -> None:
    shown = texts(error_composition([row("a", Aggregate(0, too_few=7)), row("b")]))
    assert "7 too few attempts (tasks)" in shown


def test_in_words() -> None:
    assert describe([row()]) == (
        "Bias and variance of each group's error. "
        "bench, agent: error 0.400, incoherence 0.250 (0.200 to 0.300), n = 89."
    )
