"""How a rewritten thought stands to the one before it: length, markers, numbers and code tokens."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from coherence.features.lexical import count_markers, total
from coherence.paraphrase.rewriting import Manipulation, Place, Rewrite, Rewritten, thoughts
from coherence.records import Record, Transcript

# Characters after per character before that pass. Of cue removal only the words cut out are gone; for a
# removed reasoning there is nothing to compare.
RATIOS: Final[dict[Manipulation, tuple[float, float]]] = {
    "paraphrase": (0.67, 1.5),
    "compression": (0.05, 0.6),
    "restructuring": (0.5, 2.0),
    "cue removal": (0.5, 1.0),
}
PROBLEMS: Final[dict[str, str]] = {
    "not rewritten": "refused, cut short, empty, missing or, offline, not run",
    "unchanged": "every character as before",
    "length": "shorter or longer than allowed",
    "markers left": "discourse markers are left",
    "tokens lost": "numbers or code tokens of the thought are gone",
    "tokens added": "numbers or code tokens that the thought did not have",
}
_TOKEN: Final = re.compile(
    r"`[^`\n]{1,200}`"  # code in backticks
    r"|(?<![\w/.~-])(?:~|\.{1,2})?/[\w./@%+=-]{0,200}\w"  # paths
    r"|(?<![\w-])--?[A-Za-z][\w-]{0,60}"  # options
    r"|\b(?!(?:e\.g|i\.e)\b)"  # but no abbreviations of prose:
    r"[\w-]{1,60}(?:[./:][\w-]{1,60})+\b"  # names with dots, files, host:port, dates, decimals
    r"|\b\w{0,60}_\w{1,60}\b"  # snake_case
    r"|\b[a-z]{1,40}[A-Z]\w{0,60}\b"  # camelCase
    r"|\b\d[\d,]{0,30}\b"  # numbers
)


class ThoughtCheck(Record, frozen=True):
    """One thought before and after; what cannot be told of a thought that was not rewritten is None.

    `problems` are keys of `PROBLEMS`. Lengths are characters, `lost` and `added` count distinct tokens.
    """

    step: int
    index: int
    characters: int
    markers: int
    tokens: int
    problems: tuple[str, ...]
    reason: str | None = None
    characters_after: int | None = None
    ratio: float | None = None
    markers_after: int | None = None
    lost: tuple[str, ...] | None = None
    added: tuple[str, ...] | None = None


def tokens(text: str) -> tuple[str, ...]:
    """Return the distinct numbers and code tokens of a text in their order, without backticks around them."""
    return tuple(dict.fromkeys(found[0].strip("`") for found in _TOKEN.finditer(text)))


def token_ranges(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of every number and code token of a text."""
    return (found.span() for found in _TOKEN.finditer(text))


def check(place: Place, before: str, after: str | None, manipulation: Manipulation) -> ThoughtCheck:
    """Return how one thought was rewritten."""
    known = tokens(before)
    markers = total(count_markers([before]))
    if after is None:
        return ThoughtCheck(*place, len(before), markers, len(known), ("not rewritten",))
    found = tokens(after)
    lost = _only_in(known, found, after)
    added = _only_in(found, known, before)
    measured = ThoughtCheck(
        *place,
        characters=len(before),
        markers=markers,
        tokens=len(known),
        problems=(),
        characters_after=len(after),
        ratio=len(after) / len(before),
        markers_after=total(count_markers([after])),
        lost=lost,
        added=added,
    )
    problems = list(_problems(measured, manipulation))
    if before == after and manipulation != "cue removal":  # which leaves a thought without cues alone
        problems.append("unchanged")
    return replace(measured, problems=tuple(name for name in PROBLEMS if name in problems))


def checks(transcript: Transcript, rewritten: Rewritten) -> tuple[ThoughtCheck, ...]:
    """Return how each thought of a transcript was rewritten; nothing where no text is recorded."""
    if not rewritten.has_text:
        return ()
    made = {rewrite.place: rewrite for rewrite in rewritten.rewrites}
    return tuple(_checked(made, place, text, rewritten.manipulation) for place, text in thoughts(transcript))


def count_problems(found: Sequence[ThoughtCheck]) -> dict[str, int]:
    """Return how many thoughts have each problem."""
    return {name: sum(name in one.problems for one in found) for name in PROBLEMS}


def _checked(
    made: Mapping[Place, Rewrite], place: Place, text: str, manipulation: Manipulation
) -> ThoughtCheck:
    rewrite = made.get(place, Rewrite(*place, reason="missing"))
    return replace(check(place, text, rewrite.text, manipulation), reason=rewrite.reason)


def _only_in(mine: Sequence[str], others: Sequence[str], text: str) -> tuple[str, ...]:
    """Return the tokens of one side that are neither among the other side's nor anywhere in its text."""
    there = frozenset(others)
    return tuple(token for token in mine if token not in there and not _stands_in(token, text))


def _stands_in(token: str, text: str) -> bool:
    """Whether a token stands in a text as a whole, wherever the pattern drew its borders there."""
    return re.search(rf"(?<!\w){re.escape(token)}(?!\w)", text) is not None


def _problems(found: ThoughtCheck, manipulation: Manipulation) -> Iterator[str]:
    """Yield what the measures say against a thought that was rewritten."""
    if found.markers_after:
        yield "markers left"
    if manipulation == "reasoning removed":
        return
    low, high = RATIOS[manipulation]
    if found.ratio is not None and not low <= found.ratio <= high:
        yield "length"
    if found.lost:
        yield "tokens lost"
    if found.added:
        yield "tokens added"


class Checked(Record, frozen=True):
    """What became of one trajectory's thoughts, and how each stands to the one before it."""

    rewritten: Rewritten
    checks: tuple[ThoughtCheck, ...]

    @property
    def is_faultless(self) -> bool:
        """Whether every thought was rewritten and passed every check; False where there was no text."""
        return self.rewritten.is_whole and not any(check.problems for check in self.checks)
