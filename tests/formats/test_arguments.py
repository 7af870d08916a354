from typing import Any

import pytest

from coherence.formats.arguments import read_arguments
from coherence.formats.deviations import Deviations


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("raw", "arguments", "codes"),
    [
        (None, {}, []),
        ({}, {}, []),
        ({"raw": "ls"}, {"raw": "ls"}, []),
        ("ls", {"raw": "ls"}, ["arguments_not_object"]),
        ([1], {"raw": [1]}, ["arguments_not_object"]),
        ({"deep": nested(99)}, {"deep": nested(99)}, []),
        ({"deep": nested(100)}, {}, ["arguments_too_deep"]),
    ],
    ids=["null", "empty", "raw", "string", "list", "nested", "too deep"],
)
def test_arguments_are_always_an_object(raw: Any, arguments: dict[str, Any], codes: list[str]) -> None:
    notes = Deviations("a.json")
    assert read_arguments(raw, notes) == arguments
    assert [record.code for record in notes.records()] == codes
