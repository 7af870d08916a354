import pytest

from coherence.formats.fenced import split_reply
from coherence.formats.thoughts import Speech
from coherence.records import Call, Thought


def bash(command: str) -> Call:
    return Call("bash", {"command": command})


def thought(text: str) -> Thought:
    return Thought(text, "scaffold")


@pytest.mark.parametrize(
    ("reply", "speech"),
    [
        ("THOUGHT: Look.\n\n```bash\nls -l\n```", Speech("", (bash("ls -l"),), (thought("Look."),))),
        ("Look.\n```bash\nls\n```\n", Speech("", (bash("ls"),), (thought("Look."),))),
        ("```bash\nls\n```", Speech("", (bash("ls"),))),
        ("```mswea_bash_command\nls\n```", Speech("", (bash("ls"),))),
        ("```bash\n\n```", Speech("", (bash(""),))),
        (
            "THOUGHT: Fix `a`:\n```python\nx = 1\n```\nso\n```bash\ncat <<EOF\n  x\nEOF\n```",
            Speech("", (bash("cat <<EOF\n  x\nEOF"),), (thought("Fix `a`:\n```python\nx = 1\n```\nso"),)),
        ),
        (
            "THOUGHT: A\n```bash\none\n```\nWait.\n```bash\ntwo\n```\nEnd.",
            Speech("", (bash("one"), bash("two")), (thought("A"), thought("Wait."), thought("End."))),
        ),
        ("THOUGHT: No command.", Speech("", (), (thought("No command."),))),
        ("No label, no command.", Speech("No label, no command.")),
        ("```bash\nnever closed", Speech("```bash\nnever closed")),
        ("", Speech("")),
    ],
)
def test_a_reply_is_split_into_thoughts_and_commands(reply: str, speech: Speech) -> None:
    assert split_reply(reply) == speech


def test_hostile_openings_take_linear_time() -> None:
    hostile = "x```bash\n" * 500_000
    assert split_reply(hostile) == Speech(hostile)
