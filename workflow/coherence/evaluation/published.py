"""What the paper printed, and the counts it rests on, as `data/published/counts.toml` has them."""

import tomllib
from functools import cached_property
from pathlib import Path
from typing import Final

import msgspec

from coherence.errors import InputError
from coherence.records import Record
from coherence.stats.solutions import solutions
from coherence.stats.tables import Counts

Share = tuple[int, int]  # failed, n
DETECTOR: Final = "strained_coherence"
FIRST: Final = "qwen"
SECOND: Final = "gemma"


def counts(risky: Share, safe: Share) -> Counts:
    """Return two shares of failures as one table."""
    return Counts(*risky, *safe)


class PrintedComparison(Record, frozen=True):
    """A row of Table 1 or 2: counts, and the rates, intervals, gap and p as printed."""

    dataset: str
    feature: str
    place: str
    risky: Share
    safe: Share
    risky_rate: int
    safe_rate: int
    risky_interval: tuple[int, int]
    safe_interval: tuple[int, int]
    gap: int
    p: float | None = None

    @property
    def counts(self) -> Counts:
        """The counts of both groups."""
        return counts(self.risky, self.safe)

    @property
    def name(self) -> str:
        """Dataset and feature in words."""
        return f"{self.dataset.capitalize()}, {self.feature.replace('_', ' ')}"


class WithoutSeeds(Record, frozen=True):
    """The detector without the `tasks` its prompt quotes, all flagged and failed."""

    tasks: int
    risky: Share
    safe: Share
    gap: int
    p: float


class PrintedTertiles(Record, frozen=True):
    """The printed gaps within tertiles of thought characters."""

    dataset: str
    place: str
    gaps: tuple[int, int, int]


class WithoutThoughts(Record, frozen=True):
    """The trajectories without any thought; none of them is flagged."""

    dataset: str
    place: str
    failed: Share


class Trials(Record, frozen=True):
    """Trials of the first dataset by what became of them, and its trajectories with any thought."""

    completed: int
    crashed: int
    with_thoughts: int


class Overlap(Record, frozen=True):
    """Detector and the k trajectories with most markers: failures of both, of one only, of neither."""

    k: int
    both: Share
    detector_only: Share
    lexical_only: Share
    neither: Share
    lexical_rate: int
    detector_only_above_median: Share


class Text(Record, frozen=True):
    """What the text says of itself in two places."""

    conflict_types_in_section: int
    conflict_types_in_appendix: int
    confidence_in_example: int
    confidence_in_list: int
    confidence_selected: tuple[int, int]
    acknowledgment_steps: tuple[int, ...]


class Published(Record, frozen=True, dict=True):
    """All that the audit is computed from."""

    paper: str
    resamples: int
    comparisons: tuple[PrintedComparison, ...]
    without_seeds: WithoutSeeds
    tertiles: tuple[PrintedTertiles, ...]
    without_thoughts: WithoutThoughts
    trials: Trials
    overlap: Overlap
    text: Text

    def of(self, dataset: str, feature: str = DETECTOR) -> PrintedComparison:
        """Return the row of a feature in a dataset."""
        return next(row for row in self.comparisons if (row.dataset, row.feature) == (dataset, feature))

    def gaps_within(self, dataset: str) -> PrintedTertiles:
        """Return the gaps within tertiles of a dataset."""
        return next(row for row in self.tertiles if row.dataset == dataset)

    @cached_property
    def strata(self) -> dict[str, tuple[tuple[Counts, ...], ...]]:
        """By dataset all whole-number tertiles with the printed gaps, cut at n//3 and 2n//3 or 2(n//3)."""
        found = {}
        for row in self.tertiles:
            table = self.of(row.dataset).counts
            n = table.n
            cuts = {(n // 3, 2 * n // 3), (n // 3, 2 * (n // 3))}
            sizes = sorted((low, high - low, n - high) for low, high in cuts)[::-1]
            found[row.dataset] = tuple(way for size in sizes for way in solutions(table, size, row.gaps))
            if not found[row.dataset]:
                raise InputError(f"tertiles of {row.dataset}: no whole numbers give the gaps {row.gaps}")
        return found


def read_published(path: Path) -> Published:
    """Read the published counts; InputError names the file and what in it does not fit."""
    try:
        return msgspec.convert(tomllib.loads(path.read_text("utf-8")), Published)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise InputError(f"{path}: cannot be read as published counts: {error}") from error
