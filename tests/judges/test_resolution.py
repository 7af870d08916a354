import pytest

from coherence.judges.acknowledgment import agent_steps, find_acknowledgments
from coherence.judges.cues import load_cues
from coherence.judges.resolution import WEIGHTS, Course, Response, weigh
from coherence.records import Call, Step, Thought, Transcript

CUES = load_cues()
CONFLICT = "This is very strange, `parse_date` returns None."


def run(*steps: tuple[str, str]) -> list[Step]:
    """Steps of a thought and a shell command each; no command where it is empty."""
    return [
        Step(
            number,
            "agent",
            thoughts=(Thought(thought, "reasoning"),) if thought else (),
            calls=(Call("bash", {"command": command}),) if command else (),
        )
        for number, (thought, command) in enumerate(steps, 1)
    ]


def responses(*steps: tuple[str, str], window: int = 3) -> dict[Response, float]:
    """What followed the last acknowledgment of the run."""
    read = agent_steps(Transcript("t", tuple(run(*steps))), CUES)
    named = find_acknowledgments(read)
    course = Course(read, named, window)
    return {item.response: item.weight for item in weigh(course, named[-1], course.ahead(named[-1]))}


ELSEWHERE = ("", "ls docs"), ("", "ls docs/a"), ("", "ls docs/b"), ("", "ls docs/c")


@pytest.mark.parametrize(
    ("after", "response"),
    [
        ([("", "grep -n parse_date dates.py")], "information gathered"),
        ([("", "sed -i 's/a/b/' parse_date.py")], "plan revised"),
        ([("", "ls"), ("Ah, parse_date returns early.", "ls")], "explained later"),
    ],
    ids=["reads-it", "changes-it", "explains-it-later"],
)
def test_what_is_done_answers(after: list[tuple[str, str]], response: Response) -> None:
    found = responses((CONFLICT, "ls docs"), *after, *ELSEWHERE)
    assert found == {response: WEIGHTS[response]}


@pytest.mark.parametrize(
    ("words", "command", "response"),
    [
        ("It turns out the locale is unset.", "ls", "explained"),
        ("It is expected for empty input.", "ls", "argued"),
        ("So I should not modify the test.", "ls", "rule followed"),
        ("Let me check the locale.", "cat locale.cfg", "information gathered"),
        ("I need to change the locale.", "touch locale.cfg", "plan revised"),
        ("Let me try a different approach.", ":", "plan revised"),
    ],
)
def test_what_is_said_answers(words: str, command: str, response: Response) -> None:
    assert responses((f"{CONFLICT} {words}", command), *ELSEWHERE) == {response: WEIGHTS[response]}


def test_an_inquiry_announced_and_not_made_is_no_answer() -> None:
    found = responses((f"{CONFLICT} Let me check the locale.", ":"), ("", ":"), ("", ":"), *ELSEWHERE)
    assert found == {"left unanswered": 1.0}


def test_moving_to_another_thing_is_no_answer() -> None:
    assert responses((CONFLICT, "ls docs"), *ELSEWHERE) == {"left unanswered": 1.0}


@pytest.mark.parametrize(
    ("words", "weight"),
    [
        ("I'll just assume it works.", 3),
        ("It may be a red herring.", 3),
        ("Anyway, on to the docs.", 2),
        ("I'll ignore it.", 2),
        ("I'll proceed with the docs.", 1),
        ("Good enough.", 1),
    ],
)
def test_a_dismissal_weighs_as_much_as_it_is_plain(words: str, weight: float) -> None:
    found = responses((f"{CONFLICT} {words}", "ls docs"), *ELSEWHERE)
    assert found == {"dismissed in words": weight, "left unanswered": 1.0}


def test_words_before_the_acknowledgment_or_far_behind_it_do_not_count() -> None:
    far = "The date is set. " * 100 + "Anyway, on to the docs."
    found = responses((f"Anyway, on to the docs. {CONFLICT} {far}", "ls docs"), *ELSEWHERE)
    assert found == {"left unanswered": 1.0}


def test_the_same_action_again_is_repetition() -> None:
    found = responses(("", "run it"), (CONFLICT, "run  it"), *ELSEWHERE)
    assert found == {"left unanswered": 1.0, "same action repeated": 2.0}


def test_a_new_approach_that_is_the_old_one_is_repetition() -> None:
    found = responses(("", ":"), (f"{CONFLICT} Let me try a different approach.", ":"), *ELSEWHERE)
    assert found == {"left unanswered": 1.0, "same action repeated": 2.0}


def test_a_conflict_named_again_has_been_named_before() -> None:
    found = responses((CONFLICT, "ls docs"), ("Why is parse_date so odd?", "ls docs/a"), *ELSEWHERE)
    assert found == {"left unanswered": 1.0, "named before": 1.0}


def test_another_conflict_before_is_not_the_same_one() -> None:
    found = responses(("It is weird that `tz_name` is empty.", "ls docs"), (CONFLICT, "ls a"), *ELSEWHERE)
    assert found == {"left unanswered": 1.0}


def test_the_end_of_the_run_within_the_window_counts() -> None:
    assert responses((CONFLICT, "ls docs"), ("", "submit")) == {"left unanswered": 1.0, "run finished": 0.5}


@pytest.mark.parametrize(("window", "answered"), [(1, False), (2, False), (3, True)])
def test_the_window_counts_acting_steps(window: int, answered: bool) -> None:
    steps = [(CONFLICT, ""), ("", "ls docs"), ("Hm", ""), ("", "ls docs/a"), ("", "cat parse_date.py")]
    found = responses(*steps, *ELSEWHERE, window=window)
    assert ("information gathered" in found) is answered


def test_evidence_can_be_left_out() -> None:
    steps = run(("", ":"), (f"{CONFLICT} Anyway, on.", ":"), *ELSEWHERE)
    read = agent_steps(Transcript("t", tuple(steps)), CUES)
    named = find_acknowledgments(read)
    course = Course(read, named, 3, dismissals=False, repetition=False)
    assert [item.response for item in weigh(course, named[0], course.ahead(named[0]))] == ["left unanswered"]
