"""Cells of a table: text to values, unknown where they are empty, noted where they cannot be parsed."""

import math
from collections.abc import Mapping
from typing import Final

from coherence.formats.deviations import Deviations

_YES: Final = {"1", "1.0", "true", "yes"}
_NO: Final = {"0", "0.0", "false", "no"}
UNKNOWN: Final = {"", "unknown", "na", "n/a", "nan", "none", "null", "unjudged"}


class Row:
    """One row: its cells by column, and where to note what is wrong with them."""

    def __init__(self, number: int, cells: Mapping[str, str], notes: Deviations) -> None:
        self.number = number
        self.notes = notes
        self._cells = cells

    def text(self, column: str | None) -> str | None:
        """Return a cell's text, None where it is empty or there is no such column."""
        return (self._cells.get(column, "").strip() or None) if column is not None else None

    def truth(self, column: str | None, true: frozenset[str], false: frozenset[str]) -> bool | None:
        """Return a cell as true or false, which may also be said in these words."""
        text = (self.text(column) or "").lower()
        if text in _YES or text in true:
            return True
        if text in _NO or text in false:
            return False
        if text not in UNKNOWN:
            self.note(column, text)
        return None

    def number_in(self, column: str | None) -> float | None:
        """Return a cell as a finite number."""
        text = self.text(column)
        if text is None or text.lower() in UNKNOWN:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if math.isfinite(value):
            return value
        self.note(column, text)
        return None

    def whole(self, column: str | None, low: int, high: int) -> int | None:
        """Return a cell as a whole number between two bounds."""
        value = self.number_in(column)
        if value is None:
            return None
        if value.is_integer() and low <= value <= high:
            return int(value)
        self.note(column, f"{value:g}")
        return None

    def note(self, column: str | None, text: str) -> None:
        """Note that a cell is not of its column's kind."""
        self.notes.add("cell_unparsable", f"row {self.number}, {column}: {text[:40]}")
