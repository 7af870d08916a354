from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from msgspec.structs import replace

from coherence.evaluation.ablations import Ablation, Pair
from coherence.figures.ablations import ablations, describe
from coherence.figures.style import save
from coherence.stats.paired import bonett_price, mcnemar
from coherence.stats.proportions import proportion
from coherence.stats.tables import Counts, compare

FULL = Ablation("qwen", "rules", "rules", "", proportion(16, 44), compare(Counts(15, 16, 13, 28)), 0, 0, 0, 0)
PAIR = Pair(44, mcnemar(0, 6), mcnemar(1, 5), bonett_price(1, 5, 44), "undecided")
FEWER = replace(FULL, judge="fewer", changed="drop: x", comparison=compare(Counts(10, 10, 18, 34)), pair=PAIR)
SILENT = replace(
    FULL, judge="silent", changed="y", comparison=compare(Counts(0, 0, 0, 0)), not_run="no stored reply"
)


def texts(figure: Figure) -> list[str]:
    return [str(text.get_text()) for text in figure.findobj(Text) if isinstance(text, Text)]


def test_a_row_shows_what_changed_the_gap_the_flags_and_who_is_right_alone() -> None:
    shown = texts(ablations([FULL, FEWER]))
    expected = (
        "fewer",
        "drop: x",
        "+47 (19 to 65)",
        "16/44",
        "right only here 1, only full 5",
        "qwen, variants of rules",
    )
    assert [text for text in expected if text not in shown] == []


def test_a_judge_that_is_not_run_has_a_reason_and_no_numbers() -> None:
    shown = texts(ablations([FULL, SILENT]))
    assert "not run: no stored reply" in shown
    assert shown.count("16/44") == 1


def test_the_gap_of_the_full_judge_is_a_line_through_its_panel() -> None:
    (axes,) = ablations([FULL, FEWER]).axes
    dotted = [line for line in axes.lines if line.get_linestyle() == ":"]
    assert [np.asarray(line.get_xdata(), dtype=float).tolist() for line in dotted] == [
        [FULL.comparison.gap] * 2
    ]


def test_each_dataset_and_each_full_judge_is_a_panel() -> None:
    other = [replace(FULL, dataset="gemma"), replace(FULL, full="full", judge="full")]
    assert len(ablations([FULL, FEWER, *other]).axes) == 3


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [replace(FEWER, judge="$\\frac{$ 中 \ud800 \x00" * 9, changed="<b>" * 99, dataset="d" * 99)],
        [replace(SILENT, not_run="\x1b[31m" * 50)],
    ],
    ids=["no rows", "hostile names", "hostile reason"],
)
def test_any_rows_can_be_drawn(tmp_path: Path, rows: list[Ablation]) -> None:
    assert all(path.stat().st_size for path in save(ablations(rows), tmp_path, "x"))


def test_in_words() -> None:
    said = describe([FULL, SILENT])
    assert "qwen, rules (the full judge): +47 (19 to 65), n = 44" in said
    assert "qwen, silent (y): not run, no stored reply" in said
