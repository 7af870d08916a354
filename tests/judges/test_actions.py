from typing import Any

import pytest

from coherence.judges.actions import Action
from coherence.judges.cues import load_cues
from coherence.records import Call

CUES = load_cues()


def act(name: str, **arguments: Any) -> Action:
    return Action(Call(name, arguments), CUES)


@pytest.mark.parametrize(
    ("call", "kinds"),
    [
        (Call("bash", {"command": "grep -n x a.py"}), {"inspect"}),
        (Call("bash", {"command": "cd src && sed -n '1,9p' a.py"}), {"inspect"}),
        (Call("bash", {"command": "sed -i 's/a/b/' a.py && python -m pytest"}), {"edit", "run"}),
        (
            Call("bash", {"command": "cat > a.py <<'EOF'\nrm = 1\nEOF\npython a.py"}),
            {"inspect", "edit", "run"},
        ),
        (Call("bash", {"command": "python a.py 2>/dev/null"}), {"run"}),
        (Call("bash", {"command": "echo hi > /dev/null"}), {"other"}),
        (Call("bash", {"command": "rm -rf build"}), {"clean"}),
        (Call("bash", {"command": ":"}), {"other"}),
        (Call("bash", {"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}), {"finish"}),
        (Call("Read", {"file_path": "/a"}), {"inspect"}),
        (Call("functions.Write", {"file_path": "/a", "content": "x"}), {"edit"}),
        (Call("str_replace_editor", {"command": "view", "path": "/a"}), {"inspect"}),
        (Call("file_editor", {"command": "create", "path": "/a", "file_text": "x"}), {"edit"}),
        (Call("finish", {}), {"finish"}),
        (Call("unheard_of", {"x": 1}), {"other"}),
        (Call("bash", {"command": 3}), {"other"}),
    ],
    ids=lambda value: str(value.arguments)[:40] if isinstance(value, Call) else "",
)
def test_kinds(call: Call, kinds: set[str]) -> None:
    assert Action(call, CUES).kinds == kinds


@pytest.mark.parametrize(
    ("arguments", "quote"),
    [
        ({"command": "\n\n  ls -la  \nrm x"}, "ls -la"),
        ({"todos": [{"content": "write it"}]}, "write it"),
        ({"path": " ", "text": "x"}, "x"),
        ({"content": "y" * 500}, "y" * 200),
        ({"description": "list", "command": "ls"}, "ls"),
        ({}, "tool {}"),
        ({"n": 3}, 'tool {"n": 3}'),
        ({"command": ":"}, 'tool {"command": ":"}'),
    ],
    ids=["first-line", "nested", "blank-first", "long", "command-first", "empty", "no-text", "no-word"],
)
def test_quote_is_a_line_of_the_call(arguments: dict[str, Any], quote: str) -> None:
    assert act("tool", **arguments).quote == quote


def test_the_same_command_has_the_same_key_whatever_its_description() -> None:
    assert act("bash", command="ls  -l\n", description="a").key == act("bash", command="ls -l").key
    assert act("bash", command="ls -l").key != act("bash", command="ls -a").key


def test_deep_nesting_is_not_followed_without_end() -> None:
    value: Any = "deep"
    for _ in range(2000):
        value = [value]
    assert act("tool", value=value).texts == []
