import pytest

from coherence.judges.acknowledgment import agent_steps, find_acknowledgments, find_referent
from coherence.judges.cues import load_cues
from coherence.records import Call, Step, Thought, Transcript

CUES = load_cues()


@pytest.mark.parametrize(
    ("text", "identifiers"),
    [
        ("The test in tests/test_a.py fails", {"tests/test_a.py"}),
        ("`add_field` and parseValue, see HTML", {"add_field", "parsevalue"}),
        ("Nothing of the kind here", set()),
        ("version 3.12 of x9y", {"x9y"}),
    ],
)
def test_identifiers(text: str, identifiers: set[str]) -> None:
    assert find_referent(text).identifiers == identifiers


@pytest.mark.parametrize(
    ("text", "touched", "is_in"),
    [
        ("`add_field` is odd", "grep add_field .", True),
        ("`add_field` is odd", "grep remove_field .", False),
        ("The server refuses the connection", "curl the server, connection test", True),
        ("The server refuses the connection", "restart server", False),
    ],
    ids=["identifier", "other-identifier", "two-words", "one-word"],
)
def test_a_referent_is_found_in_text(text: str, touched: str, is_in: bool) -> None:
    assert find_referent(text).is_in(touched) is is_in


def test_two_conflicts_share_an_identifier_or_two_words() -> None:
    first = find_referent("`add_field` should crash")
    assert first.shares(find_referent("why did add_field not crash"))
    assert not first.shares(find_referent("why did it not crash"))


def test_only_the_agents_words_count_and_each_place_is_told() -> None:
    thought = Thought("All well. This is very strange.", "reasoning")
    steps = (
        Step(1, "user", message="This is very strange."),
        Step(2, "agent", message="I am confused.", thoughts=(thought,), calls=(Call("ls"),)),
    )
    found = find_acknowledgments(agent_steps(Transcript("t", steps), CUES))
    assert [(named.at, named.prose, named.match.cue.name) for named in found] == [
        (0, 0, "strange"),
        (0, 1, "baffled"),
    ]
