"""The lexical baseline: whole words, any case, forms within other markers counted once in the total."""

import pytest

from coherence.features.lexical import count_markers, load_markers, total


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("But BUT but.", {"but": 3}),
        ("butter, rebut, but_ton", {}),
        ("Even though it fails, though.", {"even though": 1, "though": 2}),
        ("It should print 3 but it prints 4.", {"but": 1, "should X but Y": 1}),
        ("It should print 3. But it prints 4.", {"but": 1}),
        ("Hmmmm, wait…", {"hmm": 1, "wait": 1}),
        ("waiting, awaits", {}),
        ("That contradicts it; a contradiction, contradictory.", {"contradicts": 3}),
        ("Merge conflict; conflicting.", {"conflicts": 2}),
        ("on the other hand, On The Other Hand", {"on the other hand": 2}),
        ("Здесь but 中文but中文 but", {"but": 2}),
        ("", {}),
        ("\x00but\x1b[0m however\ud800", {"but": 1, "however": 1}),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_markers_counted(text: str, expected: dict[str, int]) -> None:
    counts = count_markers([text])
    assert {name: count for name, count in counts.items() if count} == expected


def test_a_form_within_another_marker_is_not_counted_twice() -> None:
    assert total(count_markers(["It should work but even though it ran"])) == 2


def test_texts_are_counted_apart() -> None:
    assert count_markers(["it should be", "but"])["should X but Y"] == 0


def test_every_marker_can_match_its_own_name() -> None:
    silent = [m.name for m in load_markers() if "X" not in m.name and not count_markers([m.name])[m.name]]
    assert silent == []
