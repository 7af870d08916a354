"""The numbers the paper prints, as `data/published/numbers.csv` lists them, and when another one matches."""

import csv
from pathlib import Path
from typing import Final, Literal

import msgspec

from coherence.errors import InputError
from coherence.records import Record
from coherence.stats.rounding import half_up

Kind = Literal["exact", "rounded", "interval"]
Needs = Literal["", "trajectories", "paraphrases"]
NOISE: Final = 1e-9  # of floats that mean whole numbers


class Value(Record, frozen=True):
    """One number or several that belong together, unrounded; `n` is the group size behind an interval."""

    numbers: tuple[float, ...]
    n: int = 0


class Number(Record, frozen=True):
    """One printed number, or several that belong together; none where the text only lets it be derived.

    `tolerance` is a number of decimals for "rounded" and of steps of 1/n for "interval"; `needs` says what
    counts cannot give, `also` what a second place prints instead.
    """

    id: str
    place: str
    published: tuple[float, ...]
    unit: str
    kind: Kind
    tolerance: int = 0
    needs: Needs = ""
    also: tuple[float, ...] = ()

    def fits(self, ours: Value) -> bool:
        """Whether our value, rounded once, is the printed one."""
        if len(ours.numbers) != len(self.published):
            return False
        pairs = zip(ours.numbers, self.published, strict=True)
        if self.kind == "rounded":
            return all(float(half_up(value, self.tolerance)) == printed for value, printed in pairs)
        if self.kind == "interval":
            counts = [
                (half_up(value * ours.n / 100), half_up(printed * ours.n / 100)) for value, printed in pairs
            ]
            return all(abs(one - two) <= self.tolerance for one, two in counts)
        return all(abs(value - printed) < NOISE for value, printed in pairs)


def read_numbers(path: Path) -> tuple[Number, ...]:
    """Read the list; InputError names the file and the line that does not fit."""
    try:
        lines = list(csv.DictReader(path.read_text("utf-8").splitlines()))
        return tuple(_number(line) for line in lines)
    except (OSError, UnicodeDecodeError, csv.Error, KeyError, ValueError, msgspec.ValidationError) as error:
        raise InputError(f"{path}: cannot be read as published numbers: {error}") from error


def _number(line: dict[str, str]) -> Number:
    several = {
        name: tuple(float(part) for part in line[name].split(";") if part) for name in ("published", "also")
    }
    return msgspec.convert({**line, **several, "tolerance": int(line["tolerance"] or 0)}, Number)
