"""Panels one below the other with the caption at the foot: the frame of figures that repeat a plot."""

from collections.abc import Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coherence.figures.style import FAINT, GREY, caption_height, write_caption

WIDTH: Final = 10.0  # inches, as all lengths here
HEAD: Final = 0.5
FOOT: Final = 0.55
UNPLACED: Final = (  # why a figure of places shows nothing
    "no flag has a known place in a run. Runs of a table have no text, and so no places."
)


class Panels:
    """A figure of panels whose plots are so many inches high; `figure` is ready once all are drawn.

    To be made and filled within `style()`.
    """

    def __init__(self, caption: str, heights: Sequence[float]) -> None:
        whole = sum(height + HEAD + FOOT for height in heights) + caption_height(caption)
        self.figure = Figure(figsize=(WIDTH, whole))
        write_caption(self.figure, caption)
        self._top = whole
        self._height = 0.0
        self._left = iter(heights)

    def start(self, title: str, note: str = "") -> None:
        """Begin the next panel, with its title and a note right of it."""
        self._top -= self._height + FOOT if self._height else 0.0
        self._height = next(self._left)
        whole = self.figure.get_figheight()
        self.figure.text(0.1 / WIDTH, (self._top - 0.22) / whole, title, fontweight="bold")
        self.figure.text(
            (WIDTH - 0.1) / WIDTH, (self._top - 0.22) / whole, note, ha="right", fontsize=8, color=GREY
        )
        self._top -= HEAD

    def axes(self, left: float, width: float) -> Axes:
        """Return axes in the panel begun last, from so many inches on and so many wide."""
        whole = self.figure.get_figheight()
        bottom = self._top - self._height
        axes = self.figure.add_axes((left / WIDTH, bottom / whole, width / WIDTH, self._height / whole))
        axes.grid(color=FAINT, linewidth=0.6)
        axes.set_axisbelow(True)
        return axes
