import random
import time
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.judges.frame import inert, step_texts
from coherence.judges.quotes import ACKNOWLEDGMENT_FIELDS, ACTION_FIELDS, Places, checked, strays
from coherence.records import Call, Observation, QuoteCheck, Span, Step, Thought, Transcript

THOUGHT = (
    "The spec says \u201cUTC\u201d \u2014 but the file\u2019s stamps are\n  local time\u2026 "
    "That **does not** fit `tz`.\n"
    "I should check the header first. Anyway, I will convert nothing and write the report now."
)
COMMAND = 'printf "a\\n" > out.txt\ncat out.txt \\\n  | sort'
RUN = Transcript(
    id="t",
    steps=(
        Step(1, "user", message="Convert the stamps to UTC, please."),
        Step(2, "agent", thoughts=(Thought("Nothing odd here.", "reasoning"), Thought(THOUGHT, "reasoning"))),
        Step(
            4,
            "agent",
            message="Writing the report.",
            calls=(Call("read", {"path": "a.txt"}), Call("bash", {"command": COMMAND, "note": "caf\u00e9"})),
            observations=(Observation("observed words only"),),
        ),
        Step(9, "agent", message="The report is written. Nothing odd here, I think."),
    ),
)


def text_at(check: QuoteCheck) -> str:
    """What the transcript itself says at a check's offsets."""
    step = next(step for step in RUN.steps if step.number == check.step)
    texts = {(field, index): text for field, index, text in step_texts(step)}
    assert check.field is not None and check.index is not None
    return texts[check.field, check.index][check.start : check.end]


def acknowledgment(quote: str, step: int = 2) -> QuoteCheck:
    return Places(RUN).check(quote, step, ACKNOWLEDGMENT_FIELDS)


def action(quote: str, step: int = 4) -> QuoteCheck:
    return Places(RUN).check(quote, step, ACTION_FIELDS)


@pytest.mark.parametrize(
    "quote",
    [
        "I should check the header first.",
        "\u201cUTC\u201d \u2014 but the file\u2019s stamps are\n  local time\u2026",
    ],
)
def test_a_substring_is_exact(quote: str) -> None:
    check = acknowledgment(quote)

    assert (check.verdict, check.step, check.field, check.index) == ("exact", 2, "thought", 1)
    assert text_at(check) == quote


@pytest.mark.parametrize(
    ("quote", "original"),
    [
        ('says "UTC" - but', "says \u201cUTC\u201d \u2014 but"),
        ("file's stamps", "file\u2019s stamps"),
        ("stamps are local time...", "stamps are\n  local time\u2026"),
        ("That does not fit tz.", "That **does not** fit `tz`."),
        ("i SHOULD check", "I should check"),
        ("  I should check \n", "I should check"),
        ("...I should check the header first...", "I should check the header first"),
        ("I should check [...] Anyway, I will", "I should check the header first. Anyway, I will"),
    ],
    ids=["quotation marks", "apostrophe", "space", "emphasis", "case", "margins", "outer dots", "elision"],
)  # fmt: skip
def test_typography_is_normalised_and_mapped_back_to_the_original(quote: str, original: str) -> None:
    check = acknowledgment(quote)

    assert (check.verdict, check.step, check.field) == ("normalised", 2, "thought")
    assert text_at(check) == original


@pytest.mark.parametrize(
    ("quote", "verdict"),
    [
        ('printf \\"a\\\\n\\" > out.txt', "exact"),
        ('printf "a\\n" > out.txt', "normalised"),
        (COMMAND, "normalised"),
        ('bash {"command"', "exact"),
        ("caf\u00e9", "exact"),
        ("cat out.txt \\ | sort", "normalised"),
        ('[0123abcd CALL]\nbash {"command"', "normalised"),
    ],
    ids=["as framed", "unescaped", "whole command", "name", "unicode", "line joined", "with the heading"],
)
def test_a_call_is_found_escaped_or_not(quote: str, verdict: str) -> None:
    check = action(quote)

    assert (check.verdict, check.step, check.field, check.index) == (verdict, 4, "call", 1)


def test_an_unescaped_call_is_mapped_back_to_its_json() -> None:
    assert text_at(action('"a\\n" > out.txt\ncat')) == '\\"a\\\\n\\" > out.txt\\ncat'


@pytest.mark.parametrize(
    "quote",
    [
        "I should check the footer first.",
        "I should check the header first. Then I gave up on it.",
        "That does fit `tz`",
        "I convert nothing",
        "observed words only",
        "Convert the stamps to UTC, please.",
        "",
        " \n ",
        "...",
        "I ... now",
        "The spec says ... I cannot be sure of it at all",
    ],
    ids=[
        "a word changed", "an invented tail", "a word dropped", "two words dropped", "an observation",
        "the user's words", "empty", "blank", "dots", "short parts", "an invented part",
    ],
)  # fmt: skip
def test_what_is_not_there_is_absent(quote: str) -> None:
    assert acknowledgment(quote) == QuoteCheck("absent")


def test_an_elision_may_not_stand_for_a_long_stretch() -> None:
    def run(gap: int) -> Transcript:
        return Transcript(
            "t",
            (
                Step(
                    1,
                    "agent",
                    thoughts=(Thought("it starts here" + "x" * gap + "it ends here", "reasoning"),),
                ),
            ),
        )

    verdicts = [
        Places(run(gap)).check("it starts here ... it ends here", 1, ACKNOWLEDGMENT_FIELDS).verdict
        for gap in (300, 301)
    ]
    assert verdicts == ["normalised", "absent"]


@pytest.mark.parametrize(
    ("quote", "said", "found"),
    [("I should check the header", 4, 2), ("i should CHECK the header", 77, 2), ("Nothing odd here", 8, 9)],
    ids=["exact", "normalised, no such step", "the nearest"],
)
def test_a_quote_in_another_step_is_corrected(quote: str, said: int, found: int) -> None:
    check = acknowledgment(quote, said)

    assert (check.verdict, check.step) == ("wrong_step", found)
    assert text_at(check).lower() == quote.lower()


def test_a_short_quote_is_not_looked_for_elsewhere() -> None:
    assert (acknowledgment("odd", 2).verdict, acknowledgment("odd", 4).verdict) == ("exact", "absent")


def test_a_thought_goes_before_a_message_and_a_call_before_both() -> None:
    step = Step(
        1, "agent", message="run it", thoughts=(Thought("run it", "reasoning"),), calls=(Call("run it", {}),)
    )
    places = Places(Transcript("t", (step,)))

    assert places.check("run it", 1, ACKNOWLEDGMENT_FIELDS).field == "thought"
    assert places.check("run it", 1, ACTION_FIELDS).field == "call"


def span(**fields: object) -> Span:
    base = {
        "span_id": 1,
        "start_step": 2,
        "end_step": 4,
        "acknowledgment_step": 2,
        "acknowledgment_quote": "I should check the header first.",
        "action_step": 4,
        "action_quote": "Writing the report.",
        "conflict_type": "other",
    }
    return Span(**{**base, **fields})  # type: ignore[arg-type]


def test_spans_keep_their_numbers_and_get_both_verdicts() -> None:
    (found,) = checked([span(acknowledgment_step=9)], RUN)

    assert (found.acknowledgment_step, found.acknowledgment_check.step) == (9, 2)
    assert (found.acknowledgment_check.verdict, found.action_check.verdict) == ("wrong_step", "exact")


def test_without_text_a_quote_cannot_be_checked() -> None:
    (found,) = checked([span()], Transcript("t", ()))

    assert (found.acknowledgment_check.verdict, found.action_check.verdict) == (
        "not_checkable",
        "not_checkable",
    )


def test_step_numbers_that_are_not_in_the_transcript_are_named() -> None:
    assert strays([span(), span(span_id=2, end_step=3, action_step=-1)], RUN) == (
        "span 2: end_step 3 is no step of the transcript",
        "span 2: action_step -1 is no step of the transcript",
    )


def test_quotes_copied_from_the_frame_are_found_whatever_their_control_characters() -> None:
    text = "step one\r\nstep \x1b[1mtwo\x1b[0m\tdone\rready\x00set\u200b go"
    run = Transcript("t", (Step(1, "agent", message=text),))
    check = Places(run).check(inert(text), 1, ACKNOWLEDGMENT_FIELDS)

    assert (check.verdict, check.start, check.end) == ("normalised", 0, len(text))


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60), st.data())
@settings(max_examples=150, deadline=None)
def test_any_piece_of_a_message_is_found_where_it_is(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    quote = text[start:end]
    check = Places(Transcript("t", (Step(1, "agent", message=text),))).check(quote, 1, ACKNOWLEDGMENT_FIELDS)

    if any(map(str.isalnum, quote)):
        assert (check.verdict, text[check.start : check.end]) == ("exact", quote)
    else:
        assert check.verdict == "absent"


def test_a_long_transcript_of_repeated_words_takes_little_time() -> None:
    words = random.Random(1).choices(["that cannot ", "be right so ", "aaaaaaaaaa "], k=60_000)
    run = Transcript("t", tuple(Step(n, "agent", message="".join(words[n::20])) for n in range(1, 20)))
    started = time.process_time()
    check = Places(run).check(
        " ... ".join(["aaaaaaaaaa"] * 40 + ["not there at all"]), 3, ACKNOWLEDGMENT_FIELDS
    )

    assert check.verdict == "absent"
    assert time.process_time() - started < 5


def test_a_long_text_is_folded_in_little_memory() -> None:
    text = "the quick brown fox \u201cdid\u201d " * 40_000
    tracemalloc.start()
    checked(
        [span(acknowledgment_quote="not there at all")], Transcript("t", (Step(1, "agent", message=text),))
    )
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert most < 50 * len(text)  # two numbers of 8 bytes a character; as lists of numbers over 80
