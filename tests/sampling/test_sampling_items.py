"""Item files: what each item asks, and errors that name the line."""

import json
from pathlib import Path
from typing import Any

import pytest

from coherence.errors import InputError
from coherence.sampling.items import Item, identity_of, read_items, same_questions

SHIPPED = Path(__file__).parents[2] / "data" / "items" / "questions.jsonl"


def read(folder: Path, *lines: Any, targets: bool = True) -> tuple[Item, ...]:
    path = folder / "items.jsonl"
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return read_items(path, targets)


def test_the_shipped_items_are_whole() -> None:
    items = read_items(SHIPPED, targets=True)

    assert len(items) == 12
    assert {item.kind for item in items} == {"choice", "number", "text"}
    assert list(same_questions(items)) == []


@pytest.mark.parametrize(
    ("fields", "kind", "target"),
    [
        ({"target": 7}, "number", "7"),
        ({"target": 1.50}, "number", "1.5"),
        ({"target": " Seven. "}, "text", "seven"),
        ({"choices": ["x", "y"], "target": "b"}, "choice", "B"),
        ({"choices": ["x", "y"], "target": "y"}, "choice", "B"),
        ({"choices": {"yes": "x", "no": "y"}, "target": "yes"}, "choice", "yes"),
        ({"choices": ["7", "8"], "target": 7}, "choice", "A"),
    ],
)
def test_what_the_target_says_of_an_item(tmp_path: Path, fields: Any, kind: str, target: str) -> None:
    (item,) = read(tmp_path, {"id": "q", "prompt": "?", **fields})

    assert (item.kind, item.target) == (kind, target)


def test_an_item_is_its_own_task_unless_it_names_one(tmp_path: Path) -> None:
    one, two = read(
        tmp_path,
        {"id": "q1", "question": "?", "target": "x"},
        {"id": "q2", "question": "??", "target": "x", "task": "q", "context": "c1", "difficulty": 0.5},
    )

    assert (one.task, one.context) == ("q1", None)
    assert (two.task, two.context, two.difficulty) == ("q", "c1", 0.5)


def test_a_number_within_the_tolerance_is_the_target(tmp_path: Path) -> None:
    (item,) = read(tmp_path, {"id": "q", "prompt": "?", "target": 0.3, "tolerance": 0.01})

    assert identity_of(item, "0.31") == ("0.3", 0.31)
    assert identity_of(item, "0.3101") == ("0.3101", 0.3101)
    assert item.target_number == 0.3


GOOD = {"id": "q", "prompt": "?", "target": "x"}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "truncated"),
        ("[1]", "Expected `object`"),
        ('{"id": "q", "prompt": "\\ud800", "target": "x"}', "surrogate"),
        ({**GOOD, "answer": 1}, "unknown field `answer`"),
        ({**GOOD, "target": True}, "target"),
        ({**GOOD, "target": None}, "no `target`"),
        ({**GOOD, "prompt": " \n"}, "`prompt` is empty"),
        ({**GOOD, "question": "?"}, "one of them"),
        ({"id": "q", "target": "x"}, "one of them"),
        ({**GOOD, "id": ""}, "id"),
        ({**GOOD, "id": "a\x1b[31m"}, "printable"),
        ({**GOOD, "id": "--rm"}, "begins with a letter"),
        ({**GOOD, "id": "a" * 201}, "id"),
        ({**GOOD, "task": "../x\n"}, "printable"),
        ({**GOOD, "choices": ["x"]}, "two or more"),
        ({**GOOD, "choices": ["x", "x"]}, "the same"),
        ({**GOOD, "choices": {"a": "x", "A": "y"}}, "labels"),
        ({**GOOD, "choices": {"\u200b": "x", "A": "y"}}, "printable"),
        ({**GOOD, "choices": [str(n) for n in range(27)]}, "26 at the most"),
        ({**GOOD, "choices": ["y", "z"]}, "`target`: 'x' is none of the choices"),
        ({**GOOD, "tolerance": 0.1}, "`tolerance`"),
        ({**GOOD, "target": 1, "tolerance": -1}, "tolerance"),
        ({**GOOD, "target": "y" * 501}, "`target`"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: Any, words: str) -> None:
    with pytest.raises(InputError, match=r"items\.jsonl:2: ") as caught:
        read(tmp_path, {**GOOD, "id": "first"}, line)
    assert words in str(caught.value)


def test_an_id_twice_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there twice"):
        read(tmp_path, GOOD, {**GOOD, "prompt": "other"})


def test_a_file_without_items_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no item"):
        read(tmp_path, "")


def test_a_command_s_item_needs_no_target(tmp_path: Path) -> None:
    (item,) = read(tmp_path, {"id": "q", "prompt": "?", "data": {"image": "x"}}, targets=False)

    assert item.target is None and item.data == {"image": "x"}


def test_items_that_ask_the_same_are_found(tmp_path: Path) -> None:
    items = read(
        tmp_path,
        {"id": "a", "prompt": "?", "choices": ["x", "y"], "target": "A"},
        {"id": "b", "prompt": "?", "choices": ["y", "x"], "target": "A"},
        {"id": "c", "prompt": "?", "choices": ["x", "y"], "target": "B"},
    )

    assert list(same_questions(items)) == [("a", "c")]
