import re
import tomllib

import pytest

from coherence.judges.cues import any_of, compile_commands, compile_cue, cues_text, load_cues
from coherence.vocabulary import CONFLICT_TYPES

DATA = tomllib.loads(cues_text())
ENTRIES = [
    pytest.param(role, entry, id=f"{role}-{entry['name']}")
    for role in ("acknowledgment", "dismissal", "settlement")
    for entry in DATA[role]
]


@pytest.mark.parametrize(("role", "entry"), ENTRIES)
def test_needles_are_as_searched(role: str, entry: dict[str, list[str]]) -> None:
    assert entry["needles"] == [needle.lower().replace("’", "'") for needle in entry["needles"]]


@pytest.mark.parametrize(("role", "entry"), ENTRIES)
def test_repeats_are_bounded(role: str, entry: dict[str, str]) -> None:
    patterns = entry.get("pattern", "") + entry.get("unless", "")
    assert not re.search(r"(?<!\\)[*+]|\{\d+,\}", patterns)


def test_acknowledgments_have_a_strength_and_every_conflict_type_but_other() -> None:
    cues = load_cues().acknowledgment.cues
    assert all(0 < cue.strength <= 3 for cue in cues)
    assert {cue.conflict_type for cue in cues} == set(CONFLICT_TYPES) - {"other"}


def test_names_are_unique_within_their_role() -> None:
    for role in ("acknowledgment", "dismissal", "settlement"):
        names = [entry["name"] for entry in DATA[role]]
        assert len(set(names)) == len(names)


def test_a_cue_without_pattern_takes_its_needles_as_whole_words() -> None:
    cue = compile_cue({"name": "x", "needles": ["odd"]})
    assert [cue.matches(text) for text in ("how odd", "an oddity", "odd.")] == [True, False, True]


def test_unless_forbids() -> None:
    cue = compile_cue({"name": "x", "needles": ["odd"], "unless": r"\bnot\b"})
    assert [cue.matches(text) for text in ("this is odd", "this is not odd")] == [True, False]


@pytest.mark.parametrize(
    ("words", "text", "found"),
    [
        (["wait", "wait for", "why "], "wait for me", ["wait"]),
        (["not sure", "not clear", "now"], "not clear now, not sure", ["not clear", "now", "not sure"]),
        (["a.b", "a"], "a.b", ["a"]),
        (["x.y"], "xzy x.y", ["x.y"]),
    ],
)
def test_any_of_finds_words(words: list[str], text: str, found: list[str]) -> None:
    assert re.findall(any_of(words), text) == found


def test_a_lexicon_meets_cues_whose_needles_overlap() -> None:
    lexicon = load_cues().acknowledgment
    met = {cue.name for cue in lexicon.met("this is not what the task asks, and i am not sure why")}
    assert {"not as asked", "unsure"} <= met


@pytest.mark.parametrize(
    ("command", "starts"),
    [
        ("rm x", True),
        ("rm", True),
        ("rmdir x", False),
        ("rm-old x", False),
        ("./go.sh", True),
        ("a/go", False),
    ],
)
def test_commands_are_whole_words(command: str, starts: bool) -> None:
    assert (compile_commands(["rm", "./"]).match(command) is not None) is starts
