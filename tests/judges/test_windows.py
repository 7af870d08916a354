"""Long transcripts in parts: every step is read, no part is too long, nothing is cut in silence."""

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from coherence.judges.frame import framed
from coherence.judges.windows import smaller_room, tokens_in, windows
from coherence.records import Call, Observation, Step, Thought, Transcript


def run(*lengths: int, letter: str = "x") -> Transcript:
    steps = (
        Step(3 * n, "agent", thoughts=(Thought(letter * size, "reasoning"),))
        for n, size in enumerate(lengths, 1)
    )
    return Transcript("t", tuple(steps))


def numbers(transcript: Transcript) -> list[int]:
    return [step.number for step in transcript.steps]


def test_what_fits_is_one_part_and_stays_what_it_is() -> None:
    transcript = run(500, 500)
    (part,) = windows(transcript, tokens_in(framed(transcript)), overlap=4)

    assert part.transcript is transcript
    assert (part.number, part.count, part.overlap, part.cuts) == (1, 1, 0, ())


def test_parts_overlap_on_step_borders() -> None:
    parts = windows(run(*[1_000] * 10), room=2_100, overlap=2)

    assert [numbers(part.transcript) for part in parts] == [
        [3, 6, 9, 12], [9, 12, 15, 18], [15, 18, 21, 24], [21, 24, 27, 30],
    ]  # fmt: skip
    assert [part.overlap for part in parts] == [0, 2, 2, 2]
    assert {(part.number, part.count) for part in parts} == {(n, 4) for n in range(1, 5)}


def test_an_overlap_as_large_as_a_part_at_most_doubles_what_is_read() -> None:
    parts = windows(run(*[1_000] * 20), room=2_100, overlap=99)

    assert [part.overlap for part in parts] == [0, *[2] * 8]


@example([0, 0, 0, 519], 662, 0, "漢")
@given(
    st.lists(st.integers(0, 3_000), min_size=1, max_size=12),
    st.integers(300, 3_000),
    st.integers(0, 6),
    st.sampled_from("x漢"),
)
def test_every_step_is_in_a_part_and_no_part_is_too_long(
    lengths: list[int], room: int, overlap: int, letter: str
) -> None:
    transcript = run(*lengths, letter=letter)
    parts = windows(transcript, room, overlap)
    new = [number for part in parts for number in numbers(part.transcript)[part.overlap :]]

    assert new == numbers(transcript)
    assert all(tokens_in(framed(part.transcript)) <= room for part in parts)
    assert all(part.overlap <= overlap for part in parts)
    for before, part in itertools.pairwise(parts):
        assert (
            numbers(part.transcript)[: part.overlap]
            == numbers(before.transcript)[len(before.transcript.steps) - part.overlap :]
        )
    cut = sum(len(part.cuts) for part in parts)
    alone = (replace(transcript, steps=(step,)) for step in transcript.steps)
    assert cut == sum(tokens_in(framed(one)) > room for one in alone)


def test_a_step_longer_than_a_part_is_cut_in_sight() -> None:
    long = Step(
        2,
        "agent",
        message="short",
        thoughts=(Thought("a" + "b" * 5_000 + "c", "reasoning"),),
        calls=(Call("bash", {"command": "d" * 5_000}),),
        observations=(Observation("e" * 5_000), Observation(None)),
    )
    (part,) = windows(Transcript("t", (long,)), room=1_000, overlap=4)
    (shown,) = part.transcript.steps
    text = framed(part.transcript)

    assert tokens_in(text) <= 1_000
    assert shown.message == "short"
    assert shown.thoughts[0].text.startswith("abb") and shown.thoughts[0].text.endswith("bbc")
    assert text.count("characters left out") == 3
    assert part.cuts[0].startswith("step 2: ") and "longer than the window" in part.cuts[0]


@pytest.mark.parametrize(
    ("refusal", "room"),
    [
        ("stop reason model_context_window_exceeded", 500),
        ("prompt is too long: 250000 tokens > 200000 maximum", 500),
        ("HTTP 400: prompt is too long: 1,000,000 tokens > 200,000 maximum", 160),
        ("HTTP 400: claude-x-20260101: too long, at most 200000", 500),
        ("9,000,000 tokens where 1000 fit", 50),
        ("000 tokens where 000 fit", 50),
        ("request (9000 tokens) exceeds the available context size (3000 tokens)", 266),
    ],
)
def test_a_refusal_halves_the_room_or_names_it(refusal: str, room: int) -> None:
    transcript = run(2_000)
    size = tokens_in(framed(transcript))

    assert smaller_room(transcript, 1_000_000, refusal) == room * size // 1_000
    assert smaller_room(transcript, 100, refusal) == room * 100 // 1_000
