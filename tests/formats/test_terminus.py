import pytest

from coherence.formats.terminus import parse_reply
from coherence.records import Call


def test_a_raw_reply_gives_the_text_and_calls_of_the_other_mode() -> None:
    reply = (
        'First.\n{"analysis": "It is \\ud83d empty.", "plan": "Fill it.", "commands": '
        '[{"keystrokes": "ls\\n", "duration": 0.1}, "bad"], "task_complete": true}\nLast.'
    )
    assert parse_reply(reply) == (
        "Analysis: It is \ufffd empty.\nPlan: Fill it.\nFirst.\nLast.",
        (Call("bash_command", {"keystrokes": "ls\n", "duration": 0.1}), Call("mark_task_complete")),
    )


@pytest.mark.parametrize(
    "message",
    [
        "",
        "no object",
        "} {",
        '{"analysis": "A"}',
        '{"analysis": 1, "plan": "B"}',
        '{"analysis": "A", "plan": "B"',
        "[{}]",
        "{" * 5000 + "}" * 5000,
    ],
)
def test_any_other_message_is_no_reply(message: str) -> None:
    assert parse_reply(message) is None
