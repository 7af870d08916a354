"""The test server itself, through the real SDK: what the other tests and the benches rest on."""

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import pytest

from messages_faults import KINDS, ODD, ONCE_ASKED, PASSING, Chance, at, containing
from messages_process import server_process, stats
from messages_server import MessagesServer, Received, Response, failure, message, only_this_key, serving

HELLO: dict[str, Any] = {
    "model": "claude-sonnet-4-6",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "case-00001: hello"}],
}
STATUS = {name: int(name.split()[0]) for name in KINDS if name[:3].isdigit() and not name.startswith("200")}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    only_this_key("test-key", monkeypatch, tmp_path)


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with serving() as running:
        yield running


@pytest.fixture
def sdk(server: MessagesServer) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=server.url, max_retries=0, timeout=0.5) as client:
        yield client


def said(reply: Any) -> str:
    return "".join(getattr(block, "text", "") for block in reply.content)


def met(kind: str, server: MessagesServer, sdk: anthropic.Anthropic) -> Any:
    server.dealers.append(Chance(1.0, kinds=[kind]))
    return sdk.messages.create(**HELLO)


@pytest.mark.parametrize("kind", sorted(STATUS))
def test_an_error_has_its_status_and_costs_nothing(
    server: MessagesServer, sdk: anthropic.Anthropic, kind: str
) -> None:
    with pytest.raises(anthropic.APIStatusError) as caught:
        met(kind, server, sdk)

    assert caught.value.status_code == STATUS[kind]
    assert caught.value.request_id == "req_1"
    assert ("retry-after" in caught.value.response.headers) == kind.endswith("retry-after")
    assert server.stats()["billed"] == 0


@pytest.mark.parametrize(("kind", "billed"), [("reset before", 0), ("reset within", 1), ("hang", 0)])
def test_a_connection_breaks_off(
    server: MessagesServer, sdk: anthropic.Anthropic, kind: str, billed: int
) -> None:
    with pytest.raises(anthropic.APIConnectionError):
        met(kind, server, sdk)

    assert server.stats()["billed"] == server.stats()["billed_and_broken_off"] == billed


@pytest.mark.parametrize("kind", ["200 overloaded", "200 cut short"])
def test_a_200_can_hold_no_message(server: MessagesServer, sdk: anthropic.Anthropic, kind: str) -> None:
    server.dealers.append(Chance(1.0, kinds=[kind]))
    response = sdk.messages.with_raw_response.create(**HELLO)

    assert response.status_code == 200
    assert b"stop_reason" not in response.read()


@pytest.mark.parametrize("kind", sorted(ODD))
def test_an_odd_reply_is_billed_and_comes_every_time(
    server: MessagesServer, sdk: anthropic.Anthropic, kind: str
) -> None:
    plain = sdk.messages.create(**HELLO)
    odd = met(kind, server, sdk)

    assert (odd.content, odd.stop_reason) != (plain.content, plain.stop_reason)
    assert sdk.messages.create(**HELLO) == odd
    assert server.stats()["billed"] == 3


@pytest.mark.parametrize("kind", sorted(ONCE_ASKED))
def test_asked_again_the_model_gives_the_plain_answer(
    server: MessagesServer, sdk: anthropic.Anthropic, kind: str
) -> None:
    plain = sdk.messages.create(**HELLO)
    met(kind, server, sdk)
    more = [{"role": "assistant", "content": "?"}, {"role": "user", "content": "JSON, please."}]

    assert sdk.messages.create(**{**HELLO, "messages": HELLO["messages"] + more}).content == plain.content


@pytest.mark.parametrize("kind", sorted(PASSING))
def test_a_passing_fault_passes(server: MessagesServer, kind: str) -> None:
    deal = Chance(1.0, kinds=[kind])
    received = Received("/v1/messages", {}, json.dumps(HELLO).encode())

    dealt = [deal(number, received) is not None for number in range(4)]
    assert dealt[0]
    assert dealt == sorted(dealt, reverse=True)
    assert not any(dealt[2:])


def test_chance_depends_on_the_seed_and_the_case_alone() -> None:
    cases = [f"case-{number:05d}" for number in range(500)]
    kinds = [Chance(0.2, 1).kind(case) for case in cases]

    assert kinds == [Chance(0.2, 1).kind(case) for case in cases]
    assert kinds != [Chance(0.2, 2).kind(case) for case in cases]
    assert 70 <= sum(kind is not None for kind in kinds) <= 130


def test_faults_by_index_and_by_text(server: MessagesServer, sdk: anthropic.Anthropic) -> None:
    busy = failure(529, "overloaded_error", "busy")
    server.dealers += [at(1, message("second")), containing("hello", busy)]

    with pytest.raises(anthropic.OverloadedError):
        sdk.messages.create(**HELLO)
    assert said(sdk.messages.create(**HELLO)) == "second"


def test_streamed_and_whole_replies_agree(server: MessagesServer, sdk: anthropic.Anthropic) -> None:
    whole = sdk.messages.create(**HELLO)
    with sdk.messages.stream(**HELLO) as stream:
        streamed = stream.get_final_message()

    assert said(streamed) == said(whole)
    assert (streamed.stop_reason, streamed.usage.output_tokens) == ("end_turn", whole.usage.output_tokens)


def test_tokens_are_counted_and_limits_told(server: MessagesServer, sdk: anthropic.Anthropic) -> None:
    asked = {"model": HELLO["model"], "messages": HELLO["messages"]}
    counted = sdk.messages.with_raw_response.count_tokens(**asked)

    assert counted.parse().input_tokens == sdk.messages.create(**HELLO).usage.input_tokens
    assert "anthropic-ratelimit-requests-remaining" in counted.headers
    assert server.stats()["requests"] == 1


@pytest.mark.parametrize(("version", "status"), [("2026-10-21", 400), ("2023-06-01", 200)])
def test_sampling_parameters_end_with_an_api_version(
    server: MessagesServer, sdk: anthropic.Anthropic, version: str, status: int
) -> None:
    sent: dict[str, Any] = {
        "extra_body": {"temperature": 1.0},
        "extra_headers": {"anthropic-version": version},
    }
    try:
        sdk.messages.create(**HELLO, **sent)
    except anthropic.BadRequestError as error:
        assert status == error.status_code
    else:
        assert status == 200


def test_schemas_can_be_ignored(server: MessagesServer, sdk: anthropic.Anthropic) -> None:
    server.ignores_schemas = True

    assert "```json" in said(sdk.messages.create(**HELLO))


def test_another_module_can_add_routes(server: MessagesServer) -> None:
    server.routes["GET /v1/messages/batches/[^/]+"] = lambda _, received: Response({"asked": received.path})
    with urllib.request.urlopen(f"{server.url}/v1/messages/batches/b1") as response:
        assert json.load(response) == {"asked": "/v1/messages/batches/b1"}


def test_as_a_process_it_prints_its_url_and_counts() -> None:
    with server_process("--faults", "1", "--seed", "1", "--kinds", "refusal") as url:
        with anthropic.Anthropic(base_url=url, max_retries=0) as sdk:
            assert sdk.messages.create(**HELLO).stop_reason == "refusal"
        assert stats(url) == {"requests": 1, "billed": 1, "billed_and_broken_off": 0, "busiest": 1}
