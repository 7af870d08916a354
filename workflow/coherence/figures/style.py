"""The one look of all figures, and how they become files: the same figure gives the same bytes."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import cache
from io import BytesIO
from pathlib import Path
from textwrap import wrap
from typing import Any, Final

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont
from matplotlib.ft2font import FT2Font

from coherence.evaluation.render import one_line
from coherence.files import write_bytes
from coherence.records import OutcomeStatus

FONT: Final = "DejaVu Sans"  # ships with matplotlib
DPI: Final = 200
INK: Final = "#222222"
GREY: Final = "#767676"  # 4.5:1 on white
FAINT: Final = "#D9D9D9"
# Okabe and Ito's palette, which colour-blind readers can tell apart.
BLUE: Final = "#0072B2"
VERMILION: Final = "#D55E00"
PALETTE: Final = (BLUE, VERMILION, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", INK)
OUTCOME_COLOURS: Final[Mapping[OutcomeStatus, str]] = {"failed": VERMILION, "passed": BLUE, "unknown": GREY}
DASHES: Final[Mapping[OutcomeStatus, str]] = {"failed": "-", "passed": "--", "unknown": ":"}

_STYLE: Final[Any] = {
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.labelsize": 9,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "white",
    "font.family": FONT,
    "font.size": 9,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "coherence",
    "text.color": INK,
    "text.parse_math": False,  # a "$" in a name is a dollar
    "xtick.color": GREY,
    "xtick.labelcolor": INK,
    "xtick.labelsize": 8,
    "ytick.color": GREY,
    "ytick.labelcolor": INK,
    "ytick.labelsize": 8,
}
_METADATA: Final[dict[str, dict[str, None]]] = {
    "png": {"Software": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "svg": {"Creator": None, "Date": None},
}


def style() -> AbstractContextManager[None]:
    """Return the context in which figures are drawn and saved."""
    return mpl.rc_context(_STYLE)


def save(figure: Figure, folder: Path, stem: str) -> tuple[Path, ...]:
    """Write the figure as PNG, PDF and SVG without dates, and return the paths."""
    paths = {suffix: folder / f"{stem}.{suffix}" for suffix in _METADATA}
    with style():
        for suffix, path in paths.items():
            buffer = BytesIO()
            figure.savefig(buffer, format=suffix, dpi=DPI, metadata=_METADATA[suffix])
            write_bytes(path, buffer.getvalue())
    return tuple(paths.values())


def label(text: str, longest: int = 40) -> str:
    """Return a name as a figure can show it: one line, cut to `longest`, unknown glyphs as U+FFFD."""
    line = one_line(text)
    line = line if len(line) <= longest else line[: longest - 1] + "…"
    return "".join(mark if _has_glyph(mark) else "\N{REPLACEMENT CHARACTER}" for mark in line)


def write_caption(figure: Figure, text: str) -> None:
    """Write the caption at the figure's foot, which needs `caption_height` inches."""
    width, height = figure.get_size_inches()
    figure.text(
        0.1 / width,
        0.1 / height,
        "\n".join(_caption_lines(text)),
        fontsize=7.5,
        color=GREY,
        va="bottom",
        linespacing=1.35,
    )


def caption_height(text: str) -> float:
    """Return the inches a caption needs."""
    return 0.2 + 0.145 * len(_caption_lines(text))


def _caption_lines(text: str) -> list[str]:
    return wrap(label(text, 2000), 175)


@cache
def _font() -> FT2Font:
    return FT2Font(findfont(FONT))


def _has_glyph(character: str) -> bool:
    return _font().get_char_index(ord(character)) != 0
