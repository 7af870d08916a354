import pytest

from coherence.formats.thoughts import Speech, place
from coherence.records import Call, Thought, ThoughtSource

LS = Call("terminal", {"command": "ls -l"}, "c1")
RAW = Call("swe_agent_action", {"raw_action": "open a.py\n"}, "call_1_1")


def think(text: str) -> Call:
    return Call("think", {"thought": text}, "t1")


def thought(text: str, source: ThoughtSource) -> Thought:
    return Thought(text, source)


@pytest.mark.parametrize(
    ("message", "reasoning", "calls", "agent", "placed"),
    [
        ("", None, (think("Why?"),), "openhands-sdk", Speech("", (), (thought("Why?", "think_call"),))),
        ("", None, (Call("Think", {"thought": "W"}),), "x", Speech("", (), (thought("W", "think_call"),))),
        ("", None, (think(" "),), "x", Speech("", (think(" "),))),
        (
            "",
            None,
            (think("A"), think("B")),
            "x",
            Speech("", (), (thought("A", "think_call"), thought("B", "think_call"))),
        ),
        ("", None, (Call("finish", {"message": ""}),), "x", Speech("", (Call("finish", {"message": ""}),))),
        ("", None, (Call("think"),), "x", Speech("", (Call("think"),))),
        ("", None, (think("A"), LS), "x", Speech("", (LS,), (thought("A", "think_call"),))),
        (
            "I look.",
            "R",
            (think("A"), LS),
            "x",
            Speech("I look.", (LS,), (thought("R", "reasoning"), thought("A", "think_call"))),
        ),
        ("", "A", (think("A"),), "x", Speech("", (), (thought("A", "reasoning"),))),
        ("I look.", "R", (LS,), "x", Speech("I look.", (LS,), (thought("R", "reasoning"),))),
        ("Same.", "Same.", (LS,), "x", Speech("", (LS,), (thought("Same.", "reasoning"),))),
        (" Same.\n", "Same.", (), "x", Speech("", (), (thought("Same.", "reasoning"),))),
        ("I look.", "I", (LS,), "x", Speech("I look.", (LS,), (thought("I", "reasoning"),))),
        ("I look.", "None", (LS,), "x", Speech("", (LS,), (thought("I look.", "message"),))),
        ("I look.", "null", (), "x", Speech("I look.")),
        ("I look.", " \n", (), "x", Speech("I look.")),
        ("", None, (), "x", Speech("")),
        ("I look.", None, (LS,), "x", Speech("", (LS,), (thought("I look.", "message"),))),
        ("Done.", None, (), "x", Speech("Done.")),
        ("Executed terminal c1", "R", (LS,), "x", Speech("", (LS,), (thought("R", "reasoning"),))),
        ("Executed terminal c1", None, (LS,), "x", Speech("", (LS,))),
        ("Executed it.", None, (LS,), "x", Speech("", (LS,), (thought("Executed it.", "message"),))),
        ("Running command: ls -l", None, (LS,), "openhands", Speech("", (LS,))),
        ("Reading file: a", None, (LS,), "openhands", Speech("", (LS,))),
        ("I edited the file a.", None, (LS,), "openhands", Speech("", (LS,))),
        ("Managing 3 task items.", None, (LS,), "openhands", Speech("", (LS,))),
        ("Running command: ls", None, (), "openhands", Speech("Running command: ls")),
        (
            "Running command: ls",
            None,
            (LS,),
            "x",
            Speech("", (LS,), (thought("Running command: ls", "message"),)),
        ),
        (
            "It seems so.",
            None,
            (LS,),
            "openhands",
            Speech("", (LS,), (thought("It seems so.", "message"),)),
        ),
        (
            "I am thinking...: Why?",
            None,
            (think("Why?"),),
            "openhands",
            Speech("", (), (thought("Why?", "think_call"),)),
        ),
        (
            "I am thinking...: Why?",
            None,
            (Call("think"),),
            "openhands",
            Speech("", (Call("think"),), (thought("Why?", "scaffold"),)),
        ),
        (
            "Open it.\n```\nopen a.py\n```",
            "Open it.\n",
            (RAW,),
            "swe-agent",
            Speech("", (RAW,), (thought("Open it.\n", "reasoning"),)),
        ),
        (
            "Open it.\n<command>\nopen a.py\n</command>",
            "Open it.",
            (RAW,),
            "swe-agent",
            Speech("", (RAW,), (thought("Open it.", "reasoning"),)),
        ),
        (
            "Open it.\n```\nopen b.py\n```",
            "Open it.",
            (RAW,),
            "swe-agent",
            Speech("```\nopen b.py\n```", (RAW,), (thought("Open it.", "reasoning"),)),
        ),
        (
            "Open it.\n\n```\nopen a.py\n```",
            None,
            (RAW,),
            "swe-agent",
            Speech("", (RAW,), (thought("Open it.", "scaffold"),)),
        ),
        (
            "Analysis: A\nPlan: B",
            None,
            (LS,),
            "terminus-2",
            Speech("", (LS,), (thought("Analysis: A\nPlan: B", "scaffold"),)),
        ),
        (
            "Analysis: A\nPlan: B",
            None,
            (),
            "terminus-2",
            Speech("", (), (thought("Analysis: A\nPlan: B", "scaffold"),)),
        ),
        (
            "Analysis: A\nPlan: B",
            "R",
            (LS,),
            "terminus-2",
            Speech("Analysis: A\nPlan: B", (LS,), (thought("R", "reasoning"),)),
        ),
        ("Analysis: A", None, (), "x", Speech("Analysis: A")),
        (
            '{"analysis": "A", "plan": "B", "commands": [{"keystrokes": "ls\\n"}]}',
            None,
            (),
            "terminus-2",
            Speech(
                "",
                (Call("bash_command", {"keystrokes": "ls\n"}),),
                (thought("Analysis: A\nPlan: B", "scaffold"),),
            ),
        ),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else None,
)
def test_each_piece_of_text_has_one_place(
    message: str, reasoning: str | None, calls: tuple[Call, ...], agent: str, placed: Speech
) -> None:
    assert place(message, reasoning, calls, agent) == placed


def test_hostile_lengths_take_linear_time() -> None:
    hostile = "<command>\n```\n" * 200_000
    calls = (Call("run", {"a": "x", "b": hostile[:50]}),)
    assert place(hostile, hostile[:-1], calls, "swe-agent").calls == calls
