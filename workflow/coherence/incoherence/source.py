"""What is known of an outcome file beside its bytes, and what is counted while it is read."""

from collections.abc import Mapping

import pandas as pd

from coherence.incoherence.contract import Counted, Kind, NullAs
from coherence.records import Record


class OutcomeSource(Record, frozen=True):
    """How one file is read.

    `columns` maps columns of the table to those of the file, where they have other names; `groups` are those
    to keep (None: all); `null_as` says what an attempt without a result counts as; `scaffold` and `backbone`
    stand where the file does not say.
    """

    name: str
    columns: Mapping[str, str] = {}
    groups: tuple[str, ...] | None = None
    kind: Kind | None = None
    null_as: NullAs = "unknown"
    pass_reward: float = 1.0
    scaffold: str | None = None
    backbone: str | None = None


class Tally:
    """What is counted while a file is read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.counted: list[Counted] = []

    def add(self, reason: str, count: int, where: str = "", unit: str = "rows") -> None:
        """Note something unless there is none of it."""
        if count:
            self.counted.append(Counted(self.name, reason, count, unit, where))

    def rows(self, reason: str, frame: pd.DataFrame, unit: str = "rows") -> None:
        """Note rows, the first by its number."""
        if len(frame):
            self.add(reason, len(frame), f"row {frame.index[0]}", unit)
