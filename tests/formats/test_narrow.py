from typing import Any

import pytest

from coherence.formats import narrow
from coherence.formats.deviations import Deviations


@pytest.mark.parametrize(
    ("function", "value", "narrowed", "noted"),
    [
        (narrow.text, "a", "a", False),
        (narrow.text, None, None, False),
        (narrow.text, 5, None, True),
        (narrow.text, ["a"], None, True),
        (narrow.mapping, {"a": 1}, {"a": 1}, False),
        (narrow.mapping, None, {}, False),
        (narrow.mapping, "a", {}, True),
        (narrow.items, [1], [1], False),
        (narrow.items, {"a": 1}, [], True),
        (narrow.objects, [{"a": 1}, "b", None], [{"a": 1}], True),
        (narrow.number, 0.5, 0.5, False),
        (narrow.number, 1, 1.0, False),
        (narrow.number, None, None, False),
        (narrow.number, True, None, True),
        (narrow.number, "1", None, True),
        (narrow.number, float("nan"), None, True),
        (narrow.number, 10**400, None, True),
    ],
    ids=lambda value: getattr(value, "__name__", repr(value)[:20]),
)
def test_a_wrong_type_is_unknown_and_noted(function: Any, value: Any, narrowed: Any, noted: bool) -> None:
    notes = Deviations("a.json")
    assert function(value, "field", notes) == narrowed
    assert [record.code for record in notes.records()] == ["wrong_type"] * noted
