from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from coherence.evaluation.failure_rates import FailureRate
from coherence.evaluation.readings import Reading
from coherence.figures.forest import describe, forest
from coherence.figures.style import save
from coherence.stats.proportions import proportion
from coherence.stats.tables import Counts, compare

QWEN = Counts(15, 16, 13, 28)


def rate(counts: Counts = QWEN, name: str = "detector", dataset: str = "qwen", **more: Any) -> FailureRate:
    left = {"unknown_outcome": 0, "unjudged": 0, "missing": 0, "excluded": 0} | more
    return FailureRate(
        reading=Reading(dataset, name, "flagged", name),
        risky=proportion(counts.risky_fail, counts.risky_n),
        safe=proportion(counts.safe_fail, counts.safe_n),
        comparison=compare(counts),
        **left,
    )


def texts(figure: Figure) -> list[str]:
    return [str(text.get_text()) for text in figure.findobj(Text) if isinstance(text, Text)]


def test_each_row_shows_n_gap_and_what_is_left_out() -> None:
    shown = texts(forest([rate(unjudged=3)]))
    for text in ("detector", "flagged", "risky 15/16 · safe 13/28", "+47 (19 to 65)", "3 unjudged"):
        assert text in shown


def test_the_bar_is_the_interval() -> None:
    (axes,) = forest([rate()]).axes
    bars = [np.asarray(line.get_xdata(), dtype=float).tolist() for line in axes.lines]
    assert pytest.approx([18.99, 64.98], abs=0.01) in bars


def test_the_caption_names_the_method_and_what_is_simulated() -> None:
    shown = texts(forest([rate(simulated="planted verdicts")]))
    caption = next(text for text in shown if "Newcombe" in text)
    assert "95 %" in caption
    assert "qwen is simulated: planted verdicts." in caption
    assert "qwen (simulated)" in shown


def test_a_split_with_an_empty_side_says_so() -> None:
    shown = texts(forest([rate(Counts(0, 0, 5, 9))]))
    assert "not applicable: no trajectory is risky" in shown


def test_each_dataset_is_a_panel() -> None:
    figure = forest([rate(), rate(dataset="gemma"), rate(name="rules", dataset="gemma")])
    assert len(figure.axes) == 2
    assert {"qwen", "gemma"} <= set(texts(figure))


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [rate(name="$\\frac{$ 中 \ud800 \x00" * 9, dataset="<b>" * 99, unjudged=10**6, excluded=10**6)],
        [rate(Counts(4, 4, 9, 9)), rate(Counts(0, 1, 0, 1))],
        [rate(Counts(2500, 5000, 2400, 5000))] * 40,
    ],
    ids=["no rows", "hostile names", "certain", "many"],
)
def test_any_rows_can_be_drawn(tmp_path: Path, rows: list[FailureRate]) -> None:
    assert all(path.stat().st_size for path in save(forest(rows), tmp_path, "x"))


def test_in_words() -> None:
    assert describe([rate()]) == (
        "Gaps in failure rate, in percentage points. qwen, detector flagged: +47 (19 to 65), n = 44."
    )
