"""Tables on the screen, for stages that start without heavy imports."""

from collections.abc import Sequence
from typing import Final

from coherence.evaluation.render import one_line

WIDTH: Final = 110


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of cells as lines in columns; no cell can leave its line."""
    lines = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines
    ]
    return "\n".join(line.rstrip() for line in padded)
