"""Discourse markers of conflict in the agent's thoughts (paper, section 3.3, the lexical baseline)."""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from coherence.errors import ConfigError
from coherence.records import Record

APOSTROPHES = str.maketrans("’ʼ", "''")


class Marker(Record, frozen=True):
    """One marker: what every match starts with, its expression, and a marker that counts the same words."""

    name: str
    stem: str
    expression: re.Pattern[str]
    within: str | None = None


def compile_marker(name: str, stem: str | None = None, ending: str = "", within: str | None = None) -> Marker:
    """Return the marker as a whole-word expression over lower-cased text: a literal stem, then an ending."""
    literal = re.escape(stem or name)
    # The border before the stem is checked behind it: expressions that start with a literal are fast.
    return Marker(name, stem or name, re.compile(rf"{literal}(?<!\w{literal}){ending}(?!\w)"), within)


@cache
def load_markers() -> tuple[Marker, ...]:
    """Return the markers of `markers.toml` in its order."""
    text = files("coherence.features").joinpath("markers.toml").read_text("utf-8")
    markers = tuple(compile_marker(**entry) for entry in tomllib.loads(text)["marker"])
    names = {marker.name for marker in markers}
    for marker in markers:
        if marker.within is not None and marker.within not in names:
            raise ConfigError(
                f"markers.toml: {marker.name!r} is within {marker.within!r}, which is no marker"
            )
    return markers


def count_markers(texts: Iterable[str]) -> dict[str, int]:
    """Return how often each marker occurs, in the order of the list."""
    counts = {marker.name: 0 for marker in load_markers()}
    for text in texts:
        lowered = text.lower().translate(APOSTROPHES) if not text.isascii() else text.lower()
        for marker in load_markers():
            if marker.stem in lowered:
                counts[marker.name] += sum(1 for _ in marker.expression.finditer(lowered))
    return counts


def total(counts: dict[str, int]) -> int:
    """Return the number of marked places: forms within another marker are not counted twice."""
    return sum(counts[marker.name] for marker in load_markers() if marker.within is None)
