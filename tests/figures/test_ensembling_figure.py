from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from coherence.evaluation.ensembling import Votes
from coherence.evaluation.main_parts import ALL_GROUPS
from coherence.figures.ensembling import describe, ensembling_curves
from coherence.figures.style import save
from coherence.incoherence.aggregates import DELTA_T
from coherence.stats.intervals import Interval


def row(votes: int = 1, group: str = "agent", **more: Any) -> Votes:
    settings: dict[str, Any] = {
        "dataset": "bench",
        "kind": "answer",
        "rule": "majority",
        "tasks": 50,
        "error": 0.4 / votes,
        "error_interval": Interval(0.1, 0.9, DELTA_T, 50),
        "error_of_one": 0.45,
        "parted": 40,
        "incoherence": 0.5,
        "incoherence_of_one": 0.55,
    }
    return Votes(group=group, votes=votes, **(settings | more))


def texts(figure: Figure) -> list[str]:
    return [str(text.get_text()) for text in figure.findobj(Text) if isinstance(text, Text)]


def lines(figure: Figure, side: int) -> list[list[float]]:
    return [np.asarray(line.get_ydata(), dtype=float).tolist() for line in figure.axes[side].lines]


def test_error_left_and_incoherence_right() -> None:
    figure = ensembling_curves([row(1), row(2)])
    assert [axes.get_ylabel() for axes in figure.axes] == ["error", "incoherence"]
    assert [0.4, 0.2] in lines(figure, 0)
    assert [0.1, 0.9] in lines(figure, 0)
    assert [0.45] in lines(figure, 0)
    assert [0.5, 0.5] in lines(figure, 1)
    assert {"1\nn 50", "2\nn 50", "1\nn 40", "bench: answer, majority"} <= set(texts(figure))


def test_all_groups_together_have_the_interval() -> None:
    rows = [row(votes, group) for group in ("a", "b", ALL_GROUPS) for votes in (1, 2)]
    assert lines(ensembling_curves(rows), 0).count([0.1, 0.9]) == 2  # one for each number of votes


def test_lines_end_where_the_tasks_are_no_longer_the_same() -> None:
    figure = ensembling_curves([row(1), row(2), row(3, tasks=39)])
    assert [0.4, 0.2] in lines(figure, 0)
    assert [0.4, 0.2, 0.4 / 3] not in lines(figure, 0)
    assert [0.4 / 3] in lines(figure, 0)


def test_what_is_not_known_is_said() -> None:
    figure = ensembling_curves([row(3, parted=0, incoherence=None, incoherence_of_one=None)])
    assert "too few attempts" in texts(figure)


def test_the_caption_names_the_methods_and_what_is_simulated() -> None:
    shown = texts(ensembling_curves([row(simulated="made up")]))
    caption = next(text for text in shown if "jackknife-t" in text).replace("\n", " ")
    for words in (
        "delta-t",
        "95 %",
        "Exact expectations",
        "20 % of the tasks",
        "bench is simulated: made up.",
    ):
        assert words in caption


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [row(dataset="$\\frac{$ 中 \ud800 \x00" * 9)],
        [row(votes, f"group {number}") for number in range(30) for votes in (1, 2, 3)],
        [row(1, "a"), row(1, "b"), row(2, "b")],
    ],
    ids=["none", "hostile", "many without all together", "unequal"],
)
def test_any_rows_can_be_drawn(tmp_path: Path, rows: list[Votes]) -> None:
    assert all(path.stat().st_size for path in save(ensembling_curves(rows), tmp_path, "x"))


def test_in_words() -> None:
    assert describe([row()]) == (
        "Error against the number of votes. bench, majority of 1: error 0.400 (0.100 to 0.900), n = 50."
    )


def test_errors_above_1_are_in_the_frame() -> None:
    wide = Interval(40.0, 90.0, DELTA_T, 50)
    rows = [row(1, kind="number", error=60.0, error_interval=wide, error_of_one=70.0)]
    error, incoherence = ensembling_curves(rows).axes
    assert error.get_ylim()[1] > 90
    assert incoherence.get_ylim()[1] == 1
    assert ensembling_curves([row(1)]).axes[0].get_ylim() == (0, 1)
