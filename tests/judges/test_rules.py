from itertools import pairwise
from time import process_time
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.judges.frame import call_text
from coherence.judges.rules import RulesJudge, RulesSettings
from coherence.records import Call, Judgement, Observation, Step, Thought, Transcript
from coherence.vocabulary import CONFLICT_TYPES

BEFORE = (("Let me look at the folder.", "ls"), ("Now the parser.", "cat parser.py"))
AFTER = (("Next, the manual.", "ls manual"), ("", "ls manual/en"), ("", "ls manual/de"), ("", "ls manual/fr"))


def transcript(*steps: tuple[str, str]) -> Transcript:
    """A run of thoughts and shell commands between others that have to do with neither."""
    return Transcript(
        "run",
        tuple(
            Step(
                number,
                "agent",
                thoughts=(Thought(thought, "reasoning"),) if thought else (),
                calls=(Call("bash", {"command": command}),) if command else (),
                observations=(Observation("ok"),),
            )
            for number, (thought, command) in enumerate((*BEFORE, *steps, *AFTER), 1)
        ),
    )


def judge(*steps: tuple[str, str], **settings: Any) -> Judgement:
    return RulesJudge("rules", RulesSettings(**settings)).judge_one(transcript(*steps))


STRAINED = {
    "baffled-and-anyway": (
        "I am completely baffled why `tz_offset` is negative. Anyway, on to the manual.",
        "ls manual",
        "tool_output_vs_plan",
    ),
    "expected-but-got": (
        "It should have raised an error but it returned zero. I'll ignore that.",
        "ls manual",
        "tool_output_vs_plan",
    ),
    "not-what-was-asked": (
        "This is not what the task asks for, but it is quicker. I'll go with it.",
        "echo done > answer.txt",
        "constraint_vs_derivation",
    ),
    "despite-the-instructions": (
        "I'll rename the column despite the instructions.",
        "mv a.csv b.csv",
        "constraint_vs_derivation",
    ),
    "two-conclusions": (
        "This contradicts what I concluded about the cache. Moving on.",
        "ls manual",
        "inference_vs_inference",
    ),
    "environment": (
        "The compiler is not installed here. Never mind, I'll skip the tests.",
        "echo done > answer.txt",
        "environment_vs_premise",
    ),
    "not-sure-but": (
        "I'm not sure whether the header is counted, but I'll leave it for now.",
        "echo 12 > answer.txt",
        "unresolved_uncertainty",
    ),
    "unverified": (
        "I cannot verify this without the data set. Good enough for now.",
        "echo 12 > answer.txt",
        "unresolved_uncertainty",
    ),
    "taken-on-trust": (
        "I'll just assume the column is in metres.",
        "echo 12 > answer.txt",
        "unresolved_uncertainty",
    ),
}


@pytest.mark.parametrize(("thought", "command", "conflict_type"), STRAINED.values(), ids=STRAINED.keys())
def test_a_conflict_left_standing_is_flagged(thought: str, command: str, conflict_type: str) -> None:
    judgement = judge((thought, command))
    assert [span.conflict_type for span in judgement.spans] == [conflict_type]
    assert (judgement.state, judgement.spans[0].acknowledgment_step) == ("flagged", 3)


SOUND = {
    "hedged-then-checked": [
        ("I'm not sure whether `skip_rows` is 1. Let me check.", "grep skip_rows parser.py")
    ],
    "doubt-tested": [("I don't know if parser.py handles tabs.", "python parser.py tabs.txt")],
    "iteration": [
        ("It still fails. Let me try a different approach.", "python b.py"),
        ("", "python c.py"),
    ],
    "resolved-later": [
        ("This is strange, `skip_rows` is ignored.", "ls"),
        ("Ah, `skip_rows` is read from the config.", "cat config.ini"),
    ],
    "argued": [
        (
            "The output doesn't match what the manual says. That is because the manual is for version 2, "
            "which is expected here.",
            "ls manual",
        )
    ],
    "revised": [
        ("It should have been sorted but it is not. I need to change the key.", "sed -i s/a/b/ parser.py")
    ],
    "rule-followed": [
        ("I am not supposed to touch the tests, though a new one would help. I won't add it.", "ls manual")
    ],
    "question-and-inquiry": [("Wait, why is it empty? Let me look.", "cat out.txt")],
    "plain-work": [("Now I write the parser. It looks good and I am confident.", "echo x > parser.py")],
    "cue-in-code": [("The fixture:\n```\nI am baffled. Anyway.\n```\nNext.", "ls manual")],
    "not-a-conflict": [("If this is strange to users, they can ask; make sure the text is clear.", "ls")],
}


@pytest.mark.parametrize("steps", SOUND.values(), ids=SOUND.keys())
def test_what_is_settled_or_no_conflict_is_not_flagged(steps: list[tuple[str, str]]) -> None:
    judgement = judge(*steps)
    assert (judgement.state, judgement.spans) == ("unflagged", ())


def test_the_same_failing_action_again_is_flagged() -> None:
    steps = [
        ("", "start server"),
        ("It seems the command is not running. Let me try a simpler approach.", "start server"),
    ]
    span = judge(*steps).spans[0]
    assert (span.action_step, span.action_quote) == (4, "start server")
    assert "same action repeated" in span.reasoning


def test_a_span_reaches_from_the_first_naming_to_the_action() -> None:
    steps = [
        ("The result of `sum_rows` is unexpected, that is weird.", "ls data"),
        ("I am confused by sum_rows.", ""),
        ("", "submit"),
    ]
    spans = judge(*steps).spans
    assert [(span.start_step, span.acknowledgment_step, span.end_step) for span in spans] == [(3, 4, 5)]


def test_without_thoughts_nothing_can_be_named() -> None:
    step = Step(
        1, "agent", message="I am baffled. Anyway, I'll ignore it.", calls=(Call("bash", {"command": "ls"}),)
    )
    judgement = RulesJudge("rules").judge_one(Transcript("run", (step,)))
    assert (judgement.state, judgement.substrate, judgement.spans) == ("unflagged", "none", ())


def test_a_message_can_name_a_conflict_where_there_are_thoughts() -> None:
    steps = (
        Step(1, "agent", thoughts=(Thought("Hello.", "reasoning"),)),
        Step(2, "agent", message="I am baffled. Anyway, on.", calls=(Call("bash", {"command": "ls"}),)),
    )
    assert RulesJudge("rules").judge_one(Transcript("run", steps)).state == "flagged"


def test_a_conflict_named_after_the_last_action_is_not_acted_against() -> None:
    steps = (
        Step(1, "agent", calls=(Call("bash", {"command": "ls"}),)),
        Step(2, "agent", thoughts=(Thought("I am baffled. Anyway, that is all.", "reasoning"),)),
    )
    assert RulesJudge("rules").judge_one(Transcript("run", steps)).state == "unflagged"


def test_an_empty_transcript_is_unflagged() -> None:
    assert RulesJudge("rules").judge_one(Transcript("run", ())).state == "unflagged"


BAFFLED = ("I am baffled why `x_y` is 3. Anyway, I'll ignore it.", "ls manual")


def test_a_judgement_names_its_judge_and_what_it_rests_on() -> None:
    judgement = judge(BAFFLED)
    assert (judgement.judge, judgement.kind, judgement.trajectory) == ("rules", "rules", "run")
    assert judgement.basis.startswith("rules/")
    assert judgement.basis != judge(BAFFLED, window=2).basis


def test_confidence_rises_with_the_evidence() -> None:
    weak = judge(("This is strange, `x_y` is 3.", "ls manual"))
    strong = judge(("I am baffled why `x_y` is 3. I'll assume it is fine.", "submit"))
    assert (weak.spans[0].confidence, strong.spans[0].confidence) == (2, 5)


@pytest.mark.parametrize(
    ("settings", "steps", "spans"),
    [
        ({}, [BAFFLED], ["tool_output_vs_plan"]),
        ({"typed": False}, [BAFFLED], ["other"]),
        ({"minimum_score": 9.0}, [BAFFLED], []),
        ({"dismissals": False, "minimum_score": 5.0}, [BAFFLED], []),
        ({"resolution_check": False}, SOUND["revised"], ["tool_output_vs_plan"]),
        ({"window": 1}, [("This is odd, x_y is 3.", "ls"), ("", "cat x_y")], ["tool_output_vs_plan"]),
        ({"window": 2}, [("This is odd, x_y is 3.", "ls"), ("", "cat x_y")], []),
        ({"max_spans": 1}, [BAFFLED, ("", "ls a"), ("", "ls b"), BAFFLED], ["tool_output_vs_plan"]),
        ({"repetition": False}, [("", ":"), ("Something is wrong.", ":")], []),
        ({"repetition": True}, [("", ":"), ("Something is wrong.", ":")], ["tool_output_vs_plan"]),
    ],
    ids=str,
)
def test_settings(settings: dict[str, Any], steps: list[tuple[str, str]], spans: list[str]) -> None:
    assert [span.conflict_type for span in judge(*steps, **settings).spans] == spans


@pytest.mark.parametrize("settings", [{"window": 0}, {"max_spans": 0}, {"windows": 3}, {"typed": "yes"}])
def test_settings_are_checked_when_read(settings: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(settings, RulesSettings)


def test_spans_do_not_overlap_and_are_capped() -> None:
    steps = [(f"I am baffled why `item_{n}` is empty. Anyway, on.", f"ls folder{n}") for n in range(20)]
    spans = judge(*steps).spans
    assert [span.span_id for span in spans] == [1, 2, 3, 4, 5, 6]
    assert all(one.end_step < other.start_step for one, other in pairwise(spans))


HOSTILE = {
    "nul": "I am baffled.\x00 Anyway, I'll ignore it.\x00",
    "surrogate": "I am baffled.\ud800 Anyway, I'll ignore it.",
    "ansi": "\x1b[31mThis is very strange.\x1b[0m I'll ignore it.",
    "growing-letter": "İ am baffled. I am baffled. Anyway, İ go on.",
    "curly": "I’m not sure it’s right. I’ll leave it.",
    "markup": "<b>This is strange</b> ``` [INST] I am baffled.",
    "empty": "",
    "spaces": " \t\n ",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_keeps_its_quotes(text: str) -> None:
    judgement = judge((text, text or "ls"))
    assert all(span.acknowledgment_check.verdict == "exact" for span in judgement.spans)


def test_a_call_without_text_is_quoted_by_its_name() -> None:
    steps = (
        Step(
            1,
            "agent",
            thoughts=(Thought("I am baffled. Anyway, on.", "reasoning"),),
            calls=(Call("finish", {}),),
        ),
    )
    spans = RulesJudge("rules").judge_one(Transcript("run", steps)).spans
    assert [(span.action_quote, span.action_check.verdict) for span in spans] == [("finish {}", "exact")]


PIECES = st.sampled_from(
    [
        "I am confused.",
        "This is strange. ",
        "not sure why\n",
        "Anyway, ",
        "I'll assume it works. ",
        "Let me check. ",
        "`a_b`",
        "```",
        "\x00",
        "\ud800",
        "İ’",
        " ",
        '{"x": "y"}\n',
    ]
)
TEXTS = st.lists(PIECES, max_size=8).map("".join)


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=8))
def test_every_quote_is_in_its_step(parts: list[tuple[str, str, str]]) -> None:
    steps = {
        number: Step(
            number, "agent", message, (Thought(thought, "reasoning"),), (Call("bash", {"command": call}),)
        )
        for number, (thought, message, call) in enumerate(parts, 1)
    }
    whole = Transcript("run", tuple(steps.values()))
    judgement = RulesJudge("rules").judge_one(whole)
    for span in judgement.spans:
        named, acting = steps[span.acknowledgment_step], steps[span.action_step]
        assert span.acknowledgment_quote
        assert (
            span.acknowledgment_quote in named.thoughts[0].text or span.acknowledgment_quote in named.message
        )
        texts = [acting.calls[0].arguments["command"], acting.thoughts[0].text, acting.message]
        assert any(span.action_quote in text for text in (*texts, call_text(acting.calls[0])))
        assert span.start_step <= span.acknowledgment_step <= span.action_step == span.end_step
        assert span.conflict_type in CONFLICT_TYPES
        assert span.confidence in {1, 2, 3, 4, 5}
    assert judgement == RulesJudge("rules").judge_one(whole)


def test_judge_takes_transcripts_one_by_one() -> None:
    def endless() -> Any:
        while True:
            yield transcript(BAFFLED)

    assert next(RulesJudge("rules").judge(endless())).state == "flagged"


def test_a_megabyte_on_one_line_takes_less_than_a_second() -> None:
    text = "I am not sure whether it should be so, but why is it? " * 18_000
    whole = transcript((text, text), *[("This is strange, let me check why.", "ls")] * 5)
    judge_it = RulesJudge("rules")
    begun = process_time()
    judge_it.judge_one(whole)
    assert process_time() - begun < 1.0


def test_time_grows_with_the_length_of_the_run_and_not_faster() -> None:
    def seconds(length: int) -> float:
        steps = [("Why is `x_y` so odd? I am confused.", "ls")] * length
        whole = transcript(*steps)
        begun = process_time()
        RulesJudge("rules").judge_one(whole)
        return process_time() - begun

    seconds(200)
    assert seconds(4000) < 60 * max(seconds(400), 0.005)
