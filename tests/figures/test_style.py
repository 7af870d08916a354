from pathlib import Path

import pytest
from matplotlib.figure import Figure

from coherence.figures.style import label, save, style


def figure() -> Figure:
    with style():
        made = Figure(figsize=(2, 1))
        axes = made.add_subplot()
        axes.plot([0, 1], [1, 0])
        axes.set_title("costs $5, not $x^2$")
    return made


def test_same_figure_same_bytes(tmp_path: Path) -> None:
    first, second = (save(figure(), tmp_path / name, "x") for name in ("one", "two"))
    assert [path.name for path in first] == ["x.png", "x.pdf", "x.svg"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


@pytest.mark.parametrize("mark", [b"CreationDate", b"<dc:date>", b"Software"], ids=["pdf", "svg", "png"])
def test_files_carry_no_date_and_no_software(tmp_path: Path, mark: bytes) -> None:
    assert not any(mark in path.read_bytes() for path in save(figure(), tmp_path, "x"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("x" * 50, "x" * 39 + "…"),
        ("中\ud800\x00", "���"),
        ("two\nlines", "two lines"),
        ("é · −", "é · −"),
    ],
    ids=["plain", "long", "no glyph", "line break", "glyphs"],
)
def test_labels(text: str, shown: str) -> None:
    assert label(text) == shown
