"""Outcome files of a test's choice, and short ways to read them."""

from pathlib import Path
from typing import Any

from coherence.incoherence.outcomes import Outcomes
from coherence.incoherence.reading import read_outcomes
from coherence.incoherence.source import OutcomeSource


def file_of(folder: Path, data: str | bytes, name: str = "x.csv") -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def outcomes_of(folder: Path, data: str | bytes, name: str = "x.csv", **source: Any) -> Outcomes:
    return read_outcomes(file_of(folder, data, name), OutcomeSource("s", **source))


def counted(outcomes: Outcomes) -> dict[str, tuple[int, str, str]]:
    return {one.reason: (one.count, one.unit, one.where) for one in outcomes.counted}


def column(outcomes: Outcomes, name: str) -> list[Any]:
    values = outcomes.frame[name].astype("object")
    return values.where(values.notna(), None).to_list()
