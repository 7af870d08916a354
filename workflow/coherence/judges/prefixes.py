"""Prefixes: transcripts cut after a step, so that a judge's word on one rests on nothing that came later.

Non-empty steps are counted. The whole transcript is no prefix: the judge has had its word on it.
"""

from collections.abc import Iterable, Iterator
from typing import Annotated, Final

from msgspec import Meta
from msgspec.structs import asdict

from coherence.records import Judgement, PrefixJudgement, Record, Transcript

AT: Final = "@"  # in no trajectory's id, so that a prefix's id tells both


class Grid(Record, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """After how many non-empty steps a run is looked at: one of three ways to say so.

    `every` so many steps; at the inner bounds of so many equal `parts` of its length (4: the quartiles);
    `at` the numbers listed.
    """

    every: Annotated[int, Meta(ge=1)] | None = None
    parts: Annotated[int, Meta(ge=2)] | None = None
    at: Annotated[tuple[Annotated[int, Meta(ge=1)], ...], Meta(min_length=1)] | None = None

    def __post_init__(self) -> None:
        """Refuse a grid that is not said, or said twice."""
        if sum(way is not None for way in (self.every, self.parts, self.at)) != 1:
            raise ValueError("needs exactly one of `every`, `parts` and `at`")


def lengths(whole: int, grid: Grid) -> tuple[int, ...]:
    """Return how many steps each prefix of a run of `whole` steps has, rising; all are shorter than it."""
    if grid.every is not None:
        wanted: Iterable[int] = range(grid.every, whole, grid.every)
    elif grid.parts is not None:
        wanted = (-(-whole * part // grid.parts) for part in range(1, grid.parts))
    else:
        wanted = grid.at or ()
    return tuple(sorted({length for length in wanted if 0 < length < whole}))


def prefix_id(trajectory: str, after_step: int) -> str:
    """Return the id of the prefix that ends with a step."""
    return f"{trajectory}{AT}{after_step}"


def cut_after(transcript: Transcript, after_step: int) -> Transcript:
    """Return the transcript up to and including a step, under the prefix's id."""
    kept = tuple(step for step in transcript.steps if step.number <= after_step)
    return Transcript(prefix_id(transcript.id, after_step), kept)


class Cutter:
    """Cuts transcripts by a grid, and knows of each judgement which prefix it is on."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._places: dict[str, tuple[str, int, int, int]] = {}

    def prefixes(self, transcripts: Iterable[Transcript]) -> Iterator[Transcript]:
        """Yield the prefixes of each transcript, the shortest first."""
        for transcript in transcripts:
            numbers = [step.number for step in transcript.steps if not step.is_empty]
            for length in lengths(len(numbers), self._grid):
                prefix = cut_after(transcript, numbers[length - 1])
                self._places[prefix.id] = (transcript.id, numbers[length - 1], length, len(numbers))
                yield prefix

    def strays(self, ids: Iterable[str]) -> list[str]:
        """Return those of the ids that are prefixes of transcripts cut here, and none that the grid makes."""
        cut = {trajectory for trajectory, *_ in self._places.values()}
        return sorted(id for id in ids if id.rpartition(AT)[0] in cut and id not in self._places)

    def placed(self, word: Judgement) -> PrefixJudgement:
        """Return a judgement of one of the prefixes as one of the trajectory's prefixes."""
        trajectory, after_step, length, whole = self._places[word.trajectory]
        said = {**asdict(word), "trajectory": trajectory}
        return PrefixJudgement(**said, after_step=after_step, steps_read=length, steps_whole=whole)
