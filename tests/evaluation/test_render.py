import csv
import io
import re
from pathlib import Path

import pytest

from coherence.evaluation.render import (
    Cell,
    Table,
    exact,
    latex,
    latex_text,
    look_up,
    markdown,
    markdown_text,
    one_line,
    write_records,
    write_table,
)
from coherence.stats.intervals import Interval
from coherence.stats.proportions import Proportion

HOSTILE = (
    "a|b\n| c \\| `x` <script>alert(1)</script> **bold** [l](u) & % $ # _ { } ~ ^ "
    "\\end{table} \x1b[31m\x00\u202e"
)


def sized(cell: str) -> Table:
    return Table(
        name="sizes",
        title="Sizes",
        caption="Count of things.",
        columns=("Task", "n"),
        rows=((cell, "3"),),
        fields=("task", "n"),
        records=({"task": cell, "n": 3},),
        note="simulated",
    )


def test_markdown() -> None:
    assert markdown(sized("plain")) == (
        "## Sizes\n\n**simulated**\n\n| Task | n |\n| --- | --- |\n| plain | 3 |\n\nCount of things.\n"
    )


def test_latex() -> None:
    assert latex(sized("plain")).splitlines() == [
        r"\begin{table}",
        r"\caption{Sizes. simulated Count of things.}",
        r"\label{tab:sizes}",
        r"\centering\footnotesize",
        r"\begin{tabular}{ll}",
        r"\toprule",
        r"Task & n \\",
        r"\midrule",
        r"plain & 3 \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


def test_a_hostile_cell_stays_one_cell_of_markdown() -> None:
    lines = markdown(sized(HOSTILE)).splitlines()
    row = next(line for line in lines if "script" in line)
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 3
    assert not re.search(r"(?<!\\)[<`*\[$]", row)
    assert len(lines) == len(markdown(sized("plain")).splitlines())


def test_a_hostile_cell_stays_one_cell_of_latex() -> None:
    lines = latex(sized(HOSTILE)).splitlines()
    assert len(lines) == len(latex(sized("plain")).splitlines())
    assert len(re.findall(r"(?<!\\)&", lines[8])) == 1
    assert r"\textbackslash{}end\{table\}" in lines[8]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("50 % & more", r"50 \% \& more"),
        ("a_b#c$d", r"a\_b\#c\$d"),
        ("{x}", r"\{x\}"),
        ("~^", r"\textasciitilde{}\textasciicircum{}"),
        ("a\\b", r"a\textbackslash{}b"),
        ("<é>", r"\textless{}é\textgreater{}"),
        ("中·", "U+4E2DU+00B7"),
    ],
)
def test_latex_specials(text: str, shown: str) -> None:
    assert latex_text(text) == shown


def test_markdown_specials() -> None:
    assert markdown_text("a|b_c\\d") == r"a\|b\_c\\d"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\r\n\tb", "a   b"),
        ("\x1b[31mred\x00", "�[31mred�"),
        ("\ud800", "�"),
        ("a\u202eb", "a�b"),
        ("中é", "中é"),
    ],
    ids=["white space", "ansi", "surrogate", "bidi", "letters"],
)
def test_one_line(text: str, line: str) -> None:
    assert one_line(text) == line


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        (0.1 + 0.2, "0.3"),
        (12.0, 12),
        (float("nan"), None),
        (float("inf"), "inf"),
        (1 / 3, "0.333333333333"),
        ("1.0", "1.0"),
        (None, None),
        (7, 7),
    ],
    ids=str,
)
def test_exact_cells(cell: Cell, written: Cell) -> None:
    assert exact(cell) == written


def test_a_path_ends_where_a_link_is_unknown() -> None:
    share = Proportion(1, 2, 0.5, Interval(0.1, 0.9, "Wilson score", 2))
    assert (look_up(share, "interval.low"), look_up(share, "exact.low")) == (0.1, None)


def test_csv_holds_hostile_cells_unchanged(tmp_path: Path) -> None:
    write_records(tmp_path / "x.csv", [{"task": HOSTILE, "n": None}], ("task", "n"))
    written = (tmp_path / "x.csv").read_text("utf-8")
    assert list(csv.reader(io.StringIO(written, newline=""))) == [["task", "n"], [HOSTILE, ""]]


def test_a_table_is_three_files(tmp_path: Path) -> None:
    paths = write_table(sized("plain"), tmp_path / "tables")
    assert [path.name for path in paths] == ["sizes.csv", "sizes.md", "sizes.tex"]
    assert paths[0].read_text("utf-8") == "task,n\nplain,3\n"
