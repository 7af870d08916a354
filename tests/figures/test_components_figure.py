from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from coherence.evaluation.variance_components import BINARY_PARTS, NestedRow, Part
from coherence.figures.style import save
from coherence.figures.variance_components import NOTHING, describe, variance_components
from coherence.incoherence.aggregates import JACKKNIFE_T
from coherence.stats.intervals import Interval


def part(value: float, share: float | None = None) -> Part:
    bounds = None if share is None else Interval(share - 0.05, share + 0.05, JACKKNIFE_T, 89)
    return Part(value, None, share, bounds)


def row(name: str = "model", **more: Any) -> NestedRow:
    told: dict[str, Any] = {
        "dataset": "bench",
        "kind": "tests",
        "decomposition": "tests",
        "is_backbone": True,
        "main": True,
        "tasks": 89,
        "fewest": 2,
        "most": 3,
        "attempts": 1200,
        "error": 0.5,
        "bias": part(0.3, 0.6),
        "scaffold": part(0.12, 0.24),
        "sampling": part(0.08, 0.16),
    }
    return NestedRow(name=name, **(told | more))


def texts(figure: Figure) -> list[str]:
    return [str(text.get_text()) for text in figure.findobj(Text) if isinstance(text, Text)]


def bars(figure: Figure) -> list[tuple[float, float]]:
    patches = [patch for patch in figure.axes[0].patches if isinstance(patch, Rectangle)]
    return [(patch.get_x(), patch.get_width()) for patch in patches if patch.get_width()]


def test_the_parts_stand_one_after_the_other_and_add_up() -> None:
    found = np.array(bars(variance_components([row()])))
    assert found == pytest.approx(np.array([(0, 0.3), (0.3, 0.12), (0.42, 0.08)]))


def test_parts_below_nothing_are_drawn_as_nothing() -> None:
    found = bars(variance_components([row(scaffold=part(-0.1, -0.2))]))
    assert np.array(found) == pytest.approx(np.array([(0, 0.3), (0.3, 0.08)]))


@pytest.mark.parametrize(
    ("more", "share"),
    [
        ({}, 0.24),
        ({"scaffold": None, "context": part(0.1, 0.2)}, 0.2),
        ({"scaffold": None, "verification": part(0.1, 0.3)}, 0.3),
    ],
    ids=["scaffold", "context", "verification"],
)
def test_the_line_is_the_interval_of_the_highest_level(more: dict[str, Any], share: float) -> None:
    lines = [
        np.asarray(line.get_xdata(), float).tolist()
        for line in variance_components([row(**more)]).axes[1].lines
    ]
    assert [pytest.approx(share - 0.05), pytest.approx(share + 0.05)] in lines


def test_only_main_rows_with_parts_are_drawn_the_largest_error_first() -> None:
    rows = [row("small"), row("large", error=0.9), row("other", main=False), row("none", error=None)]
    figure = variance_components(rows)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["large", "small"]
    assert "89 × 2 to 3, 1,200" in texts(figure)


def test_the_key_names_only_what_is_there() -> None:
    legend = variance_components([row()]).axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["bias", "scaffold", "attempts"]


def test_the_caption_names_method_and_what_is_simulated() -> None:
    shown = texts(variance_components([row(note=BINARY_PARTS, simulated="made up")]))
    caption = next(text for text in shown if "jackknife-t" in text).replace("\n", " ")
    for words in (
        *("95 %", "bench is simulated: made up.", "no property of the model alone", "not harmless"),
        "functions of the groups' pass rates",
    ):
        assert words in caption
    assert {"bench (simulated)", "model o"} <= set(shown)


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [row("$\\frac{$ 中 \ud800 \x00" * 9, dataset="<b>" * 99)],
        [row(error=None)],
        [row(error=0.0, bias=part(0.0), scaffold=part(0.0), sampling=part(0.0), note="never wrong")],
        [row(f"model {number}") for number in range(40)],
    ],
    ids=["none", "hostile", "nothing known", "never wrong", "many"],
)
def test_any_rows_can_be_drawn(tmp_path: Path, rows: list[NestedRow]) -> None:
    assert all(path.stat().st_size for path in save(variance_components(rows), tmp_path, "x"))


def test_in_words() -> None:
    assert describe([row(verification=None)]) == (
        "Parts of the error of nested runs, with their shares. bench, model: error 0.500, "
        "bias 0.300; 60 % (55 to 65), scaffold 0.120; 24 % (19 to 29), attempts 0.080; 16 % (11 to 21), "
        "n = 89."
    )
    assert NOTHING in texts(variance_components([]))
