import json
import re
from typing import Any

import msgspec
import pytest

from coherence.llm.request import Connection, Request, body, custom_headers, headers, store_key

PLAIN = Request(model="m", messages=({"role": "user", "content": "hello"},), max_tokens=100)

# Every field of a request, with a value other than PLAIN's.
OTHER: dict[str, Any] = {
    "model": "n",
    "messages": ({"role": "user", "content": "hello!"},),
    "system": ({"type": "text", "text": "s"},),
    "max_tokens": 101,
    "output_schema": {"type": "object"},
    "effort": "low",
    "thinking": {"type": "adaptive"},
    "temperature": 0.0,
    "api_version": "2023-06-01",
    "extra": {"top_k": 1},
    "custom_headers": "d1",
}


def test_every_field_of_a_request_is_covered_by_the_table() -> None:
    assert set(OTHER) == set(Request.__struct_fields__)


@pytest.mark.parametrize("name", sorted(OTHER))
def test_every_field_of_a_request_is_part_of_the_key(name: str) -> None:
    assert store_key(msgspec.structs.replace(PLAIN, **{name: OTHER[name]})) != store_key(PLAIN)


def test_no_field_of_the_connection_is_a_field_of_the_request() -> None:
    assert not set(Connection.__struct_fields__) & set(Request.__struct_fields__)


def test_the_sample_is_part_of_the_key() -> None:
    assert store_key(PLAIN, 0) != store_key(PLAIN, 1)


def test_an_absent_temperature_differs_from_zero_and_zero_from_one() -> None:
    requests = [msgspec.structs.replace(PLAIN, temperature=value) for value in (None, 0.0, 1.0)]

    assert len({store_key(request) for request in requests}) == 3


def test_the_key_does_not_depend_on_the_order_of_keys_in_a_schema() -> None:
    schemas = [{"type": "object", "title": "t"}, {"title": "t", "type": "object"}]

    assert len({store_key(msgspec.structs.replace(PLAIN, output_schema=schema)) for schema in schemas}) == 1


def test_the_key_is_a_bare_sha256_that_fits_a_custom_id() -> None:
    assert re.fullmatch("[0-9a-f]{64}", store_key(PLAIN))


def test_the_key_is_stable_over_versions_of_the_code() -> None:
    """A change of this value would make users pay for all their replies again."""
    assert store_key(PLAIN) == "7d1579f85f31d7951d154edcca5403c11bd5b251b99f02620a6c64b7a7553fc1"


def test_only_what_is_configured_is_sent() -> None:
    sent = body(PLAIN)

    assert sent == {
        "model": "m",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "hello"}],
    }
    assert headers(PLAIN) == {}


def test_everything_that_is_configured_is_sent() -> None:
    request = msgspec.convert({**msgspec.to_builtins(PLAIN), **OTHER}, Request)

    assert json.loads(msgspec.json.encode(body(request))) == {
        "model": "n",
        "max_tokens": 101,
        "messages": [{"role": "user", "content": "hello!"}],
        "system": [{"type": "text", "text": "s"}],
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object"}}},
        "thinking": {"type": "adaptive"},
        "temperature": 0.0,
        "top_k": 1,
    }
    assert headers(request) == {"anthropic-version": "2023-06-01"}


@pytest.mark.parametrize(
    ("given", "like"),
    [
        ("", None),
        ("x-route: a", None),
        ("Authorization: Bearer hush\nx-api-key: hush", None),
        ("anthropic-beta without a colon", None),
        ("anthropic-beta: a", "anthropic-beta: a"),
        (" Anthropic-Beta :a \r\nx-api-key: hush", "anthropic-beta: a"),
        ("b: 1\nanthropic-beta: z\nanthropic-beta: a", "anthropic-beta: a"),
    ],
)
def test_custom_headers_of_the_api_alone_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, given: str, like: str | None
) -> None:
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", like or "")
    wanted = custom_headers(None)
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", given)
    assert custom_headers(None) == wanted
    assert (wanted is None) == (like is None)


def test_other_values_and_other_names_have_other_digests(monkeypatch: pytest.MonkeyPatch) -> None:
    found = set()
    for lines in (
        "anthropic-beta: a",
        "anthropic-beta: b",
        "anthropic-x: a",
        "anthropic-beta: a\nanthropic-x: a",
    ):
        monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", lines)
        found.add(custom_headers(None))
    assert len(found) == 4


def test_a_configured_version_stands_in_for_a_custom_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "anthropic-version: 2020-01-01")
    assert custom_headers("2023-06-01") is None
    assert custom_headers(None) is not None
