from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.judges.cues import load_cues
from coherence.judges.prose import MOST_ACKNOWLEDGMENTS, SENTENCE_REACH, Prose, fold

CUES = load_cues()


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("I DON’T", "i don't"),
        ("a```\nWAIT\n```b", f"a{' ' * 12}b"),
        ("open ``` WAIT", "open     wait"),
        ("ÉA", "éa"),
        ("İx", "İx"),
    ],
    ids=["case-and-apostrophe", "fence", "unclosed-fence", "accent", "letter-that-grows"],
)
def test_fold(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(st.text(st.characters(exclude_categories=[]), max_size=80))
def test_fold_keeps_every_place(text: str) -> None:
    assert len(fold(text)) == len(text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("First one. Here is x.py now! Last.", "Here is x.py now!"),
        ("- First\n-  Here is it \n- Last", "-  Here is it"),
        ('He said "no." Here I am', "Here I am"),
        ("Here it fails!\n```\ntrace\n```\n", "Here it fails!"),
        ("Here" + "a" * 1000, "Here" + "a" * 296),
    ],
    ids=["stops", "lines", "quotation", "code", "no-boundary"],
)
def test_sentence_around_an_offset(text: str, sentence: str) -> None:
    prose = Prose(text, CUES)
    start, end = prose.sentence(text.index("Here"))
    assert text[start:end] == sentence


def test_fenced_code_and_quoted_lines_name_no_conflict() -> None:
    text = "```\n# This is very strange.\n```\n> This is very strange.\nAll is well."
    assert Prose(text, CUES).acknowledgments == []


def test_a_sentence_is_met_once_by_each_cue() -> None:
    found = Prose("This is strange, really strange and weird.", CUES).acknowledgments
    assert [match.cue.name for match in found] == ["strange"]


def test_of_very_many_acknowledgments_the_surest_are_kept() -> None:
    text = "Why is it so slow?\n" * 100 + "I am baffled."
    found = Prose(text, CUES).acknowledgments
    assert len(found) == MOST_ACKNOWLEDGMENTS
    assert found[-1].cue.name == "baffled"


HOSTILE = {
    "cue-words": "i'm not sure why it should wait but this is not what the task asks ",
    "no-words": "a",
    "spaces": " ",
    "fences": "```",
    "stops": ".",
    "closers": ".'''",
    "questions": "why is it not working? ",
    "apostrophes": "’",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_megabyte_on_one_line_takes_less_than_a_second(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    prose = Prose(text, CUES)
    begun = process_time()
    found = [*prose.acknowledgments, *prose.dismissals, *prose.settlements]
    assert process_time() - begun < 1.0
    assert all(match.end - match.start <= 2 * SENTENCE_REACH for match in found)


@given(
    st.lists(
        st.sampled_from(
            ["this is strange", ". ", "\n", "i am confused", "\x00", "é", "```", "> ", "İ", " but "]
        ),
        max_size=20,
    )
)
def test_matches_are_sentences_of_the_text(parts: list[str]) -> None:
    text = "".join(parts)
    for match in Prose(text, CUES).acknowledgments:
        assert text[match.start : match.end].strip() == text[match.start : match.end] != ""
