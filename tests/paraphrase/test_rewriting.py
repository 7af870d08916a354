"""Only thoughts change: everything else of real and of made-up transcripts stays, to the byte."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rewriting_samples import FIRST, SECOND, transcript, two_in_a_step

from coherence import formats
from coherence.files import encode
from coherence.formats import Source
from coherence.paraphrase.cue_removal import CueRemoval
from coherence.paraphrase.rewriting import (
    REMOVED,
    Removal,
    Rewrite,
    Rewritten,
    applied,
    rewritten_transcript,
    thoughts,
    why_not,
)
from coherence.preprocess import PreprocessSettings, preprocess
from coherence.records import Transcript

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "data/examples/jobs"


def read(name: str, root: Path) -> list[Transcript]:
    reader, source = formats.load(name), Source("d", str(root))
    readings = (found for unit in reader.discover(root) for found in reader.read(root, unit, source))
    made = (found.trajectory for found in readings if found.trajectory is not None)
    return [preprocess(trajectory, PreprocessSettings()) for trajectory in made]


def without_thoughts(one: Transcript) -> bytes:
    """The transcript's bytes, the text of every thought taken out and its source left."""
    blank = (
        msgspec.structs.replace(
            step, thoughts=tuple(msgspec.structs.replace(thought, text="") for thought in step.thoughts)
        )
        for step in one.steps
    )
    return encode(msgspec.structs.replace(one, steps=tuple(blank)))


def shouted(one: Transcript) -> Transcript:
    return applied(one, {place: text.upper() for place, text in thoughts(one)})


def cut(one: Transcript) -> Transcript:
    return rewritten_transcript(one, next(iter(CueRemoval().rewrite([one]))))


def removed(one: Transcript) -> Transcript:
    return rewritten_transcript(one, next(iter(Removal().rewrite([one]))))


REWRITERS: dict[str, Callable[[Transcript], Transcript]] = {
    "shouted": shouted,
    "cut": cut,
    "removed": removed,
}


@pytest.mark.parametrize("how", REWRITERS)
def test_nothing_but_thoughts_changes_in_the_examples(how: str) -> None:
    examples = [one for job in sorted(EXAMPLES.iterdir()) for one in read("harbor", job)]
    rewritten = [REWRITERS[how](one) for one in examples]
    assert [without_thoughts(one) for one in rewritten] == [without_thoughts(one) for one in examples]
    assert any(encode(one) != encode(other) for one, other in zip(rewritten, examples, strict=True))


@pytest.mark.parametrize("how", REWRITERS)
def test_nothing_but_thoughts_changes_in_real_runs(how: str, shared: Path) -> None:
    real = read("harbor", shared / "corpora/harbor/claude-code-kimi/kimi_k2.5")
    rewritten = [REWRITERS[how](one) for one in real]
    assert [without_thoughts(one) for one in rewritten] == [without_thoughts(one) for one in real]
    assert any(encode(one) != encode(other) for one, other in zip(rewritten, real, strict=True))


@given(st.lists(st.text(), max_size=4), st.data())
def test_any_texts_go_into_their_places_and_nowhere_else(texts: list[str], data: st.DataObject) -> None:
    one = transcript(*texts)
    encodable = st.text(st.characters(exclude_categories=["Cs"]))
    new = {place: data.draw(encodable) for place, _ in thoughts(one)}
    made = applied(one, new)
    assert without_thoughts(made) == without_thoughts(one)
    kept = {(step.number, n): t.text for step in made.steps for n, t in enumerate(step.thoughts)}
    assert {place: kept[place] for place in new} == new


def test_a_reply_with_half_a_character_can_be_written() -> None:
    made = applied(transcript(FIRST), {(2, 0): "a\ud83db"})
    assert made.steps[1].thoughts[0].text == "a\ufffdb"
    encode(made)


def test_thoughts_of_white_space_are_left_alone() -> None:
    assert list(thoughts(two_in_a_step())) == [((4, 0), FIRST), ((4, 2), SECOND)]
    assert [thought.text for thought in removed(two_in_a_step()).steps[1].thoughts] == [
        REMOVED,
        " \n",
        REMOVED,
    ]


def test_a_place_without_a_thought_is_an_error() -> None:
    with pytest.raises(ValueError, match="no thought 1 in step 2"):
        applied(transcript(FIRST), {(2, 1): "x"})


def test_removal_leaves_a_judge_something_to_be_asked_about() -> None:
    assert removed(transcript(FIRST)).substrate == "thoughts"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (
            Rewritten(
                "t1", "paraphrase", (Rewrite(2, 0, "x"), Rewrite(3, 0, reason="refusal", detail="why"))
            ),
            r"1 of 2 thoughts were not rewritten, the first in step 3 \(refusal: why\)",
        ),
        (Rewritten("t1", "paraphrase", has_text=False), "the rewritten text is not recorded"),
    ],
    ids=["one refused", "verdicts only"],
)
def test_there_is_no_transcript_where_a_thought_is_missing(made: Rewritten, said: str) -> None:
    assert not made.is_whole
    with pytest.raises(ValueError, match=said):
        rewritten_transcript(transcript(FIRST, SECOND), made)
    assert why_not(made)
