"""Action sequences of attempts: where they part and which is in the middle."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.incoherence.paths import (
    LONGEST,
    MESSAGE,
    Action,
    actions,
    alignment,
    middle,
    parting,
    similarity,
)
from coherence.records import Call, Step

LETTERS = st.text("abc", max_size=12)


def path(letters: str, start: int = 1) -> list[Action]:
    return [Action(start + place, "run", letter) for place, letter in enumerate(letters)]


def test_actions_are_calls_and_messages_of_steps_without_calls() -> None:
    steps = [
        Step(1, "user", "Do it."),
        Step(2, "agent", "Now.", calls=(Call("run", {"b": 1, "a": "x  y"}), Call("look"))),
        Step(3, "agent", " all\n done "),
        Step(4, "agent", "  "),
    ]
    assert [(one.step, one.tool, one.text) for one in actions(steps)] == [
        (2, "run", '{"a":"x y","b":1}'),
        (2, "look", ""),
        (3, "message", "all done"),
    ]


@pytest.mark.parametrize(
    ("one", "two", "shared", "step"),
    [
        ("abc", "abc", 3, None),
        ("abx", "abc", 2, 3),
        ("ab", "abc", 2, None),
        ("abc", "ab", 2, None),
        ("", "abc", 0, None),
        ("x", "a", 0, 1),
    ],
)
def test_where_paths_part(one: str, two: str, shared: int, step: int | None) -> None:
    found = parting(path(one), path(two))
    assert (found.shared, found.step) == (shared, step)


def test_the_words_of_messages_part_no_paths() -> None:
    mine = [Action(1, MESSAGE, "Done."), Action(2, "run", "a")]
    theirs = [Action(1, MESSAGE, "All done."), Action(2, "run", "b")]
    assert parting(mine, theirs).step == 2


def test_the_step_is_the_path_s_own() -> None:
    assert parting(path("ax", start=5), path("ab")).step == 6


@given(LETTERS, LETTERS)
def test_the_alignment_leads_from_one_path_to_the_other(one: str, two: str) -> None:
    mine, theirs, rebuilt = path(one), path(two), ""
    for stretch in alignment(mine, theirs):
        kept = one[slice(*stretch.first)] if stretch.kind == "equal" else two[slice(*stretch.second)]
        rebuilt += kept
    assert rebuilt == two
    assert 0 <= similarity(mine, theirs) <= 1
    assert (similarity(mine, theirs) == 1) == (one == two)


def test_the_middle_is_most_alike_to_all_others() -> None:
    assert middle([path("abcx"), path("abcd"), path("abce"), path("zzzz")]) in (0, 1, 2)
    assert middle([path("zz"), path("abcd"), path("abc")]) in (1, 2)
    assert middle([path("a")]) == 0
    with pytest.raises(ValueError, match="no paths"):
        middle([])


def test_long_paths_are_cut_before_they_are_aligned() -> None:
    long = path("ab" * LONGEST)
    assert parting(long, long[:-1]).shared == len(long) - 1
    assert similarity(long, long) == 1
