"""Cue removal: the words that mark a conflict are cut out of the thoughts, offline.

It is no paraphrase: what a cut phrase said is gone with it. A judge that goes by such cues finds fewer of
them afterwards by construction, which proves little; the check shows how far a judge hangs on the words.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.resources import files
from typing import Final

from coherence.features.lexical import load_markers
from coherence.files import digest
from coherence.judges.cues import Cues, cues_text, load_cues
from coherence.judges.prose import Prose, fold
from coherence.paraphrase.checks import token_ranges
from coherence.paraphrase.rewriting import Rewrite, Rewritten, thoughts
from coherence.records import Transcript

CODE_VERSION: Final = "1"  # rises when the same cues may be cut otherwise
MOST_PASSES: Final = 5  # cutting may bring together what is a cue again
_FENCED: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_OPENS: Final = re.compile(r"(?:\A|[.!?\n][\"')*]{0,3}\s*)\Z")
_CLOSES: Final = re.compile(r"[ \t]*(?:[.!?\n]|\Z)")
_OPENING: Final = re.compile(r"[ \t]*[,;:.!?\u2026]*[ \t]*")  # a first word's own punctuation goes with it
_INNER: Final = re.compile(r"[,;:]?[ \t]*")

Range = tuple[int, int]


class CueRemoval:
    """Cuts the markers of `markers.toml` and the acknowledgments and dismissals of `cues.toml`.

    Numbers, code tokens and fenced code stay, even within a phrase that is cut.
    """

    def __init__(self) -> None:
        markers = files("coherence.features").joinpath("markers.toml").read_text("utf-8")
        self.basis = f"cue removal {digest(CODE_VERSION, cues_text(), markers)[:12]}"
        self._cues = load_cues()

    def rewrite(self, transcripts: Iterable[Transcript]) -> Iterator[Rewritten]:
        """Yield each transcript's thoughts without their cues."""
        for transcript in transcripts:
            rewrites = tuple(
                Rewrite(*place, text=without_cues(text, self._cues)) for place, text in thoughts(transcript)
            )
            yield Rewritten(transcript.id, "cue removal", rewrites, basis=self.basis)


def without_cues(text: str, cues: Cues) -> str:
    """Return the text with every cue cut out that is no part of code: the markers first.

    Without these most phrases of the longer cues are none any more, and what they say stays.
    """
    text = _without(_markers, text, cues)
    return _without(_phrases, text, cues)


def _without(find: Callable[[str, Cues], Iterator[Range]], text: str, cues: Cues) -> str:
    for _ in range(MOST_PASSES):
        cuts = _outside(_merged(find(text, cues)), _protected(text))
        if not any(text[start:end].strip() for start, end in cuts):
            break
        text = _cut(text, cuts)
    return text


def _markers(text: str, _: Cues) -> Iterator[Range]:
    folded = fold(text)
    for marker in load_markers():
        if marker.within is None and marker.stem in folded:
            yield from (match.span() for match in marker.expression.finditer(folded))


def _phrases(text: str, cues: Cues) -> Iterator[Range]:
    prose = Prose(text, cues)
    for lexicon in (cues.acknowledgment, cues.dismissal):
        for met in prose.find(lexicon):
            for phrase in met.cue.expression.finditer(prose.folded[met.start : met.end]):
                yield met.start + phrase.start(), met.start + phrase.end()


def _protected(text: str) -> list[Range]:
    return _merged([*token_ranges(text), *(fence.span() for fence in _FENCED.finditer(text))])


def _merged(ranges: Iterable[Range]) -> list[Range]:
    """Return the ranges in their order, those that overlap as one."""
    merged: list[Range] = []
    for start, end in sorted(ranges):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif start < end:
            merged.append((start, end))
    return merged


def _start(one: Range) -> int:
    return one[0]


def _end(one: Range) -> int:
    return one[1]


def _outside(cuts: Sequence[Range], kept: Sequence[Range]) -> list[Range]:
    """Return what of the cuts is in no range to be kept; these are in their order and do not overlap."""
    parts = []
    for start, end in cuts:
        inside = kept[bisect_right(kept, start, key=_end) : bisect_left(kept, end, key=_start)]
        starts = [start, *(high for _, high in inside)]
        ends = [*(low for low, _ in inside), end]
        parts += [(low, high) for low, high in zip(starts, ends, strict=True) if low < high]
    return parts


def _cut(text: str, cuts: Sequence[Range]) -> str:
    """Return the text without the ranges, and without the punctuation and space that belonged to them."""
    made, position, opens = "", 0, False
    for start, end in cuts:
        made += _begun(text[position:start], opens and start > position)
        opens, position = _OPENS.search(made[-8:]) is not None, max(position, end)
        if opens:
            position = _rest(_OPENING, text, position)
        elif _CLOSES.match(text, position):
            made = made.rstrip(" ,;:")
        elif made[-1:].isspace():
            position = _rest(_INNER, text, position)
        elif made[-1:].isalnum() and text[position : position + 1].isalnum():
            made += " "  # two numbers must not become one
    return made + _begun(text[position:], opens)


def _begun(text: str, opens: bool) -> str:
    """Return the text, with a capital where it has become the beginning of a sentence."""
    return text[:1].upper() + text[1:] if opens else text


def _rest(expression: re.Pattern[str], text: str, start: int) -> int:
    found = expression.match(text, start)
    return start if found is None else found.end()
