"""A request to the Messages API and the key its reply is stored under."""

import os
from typing import Any, Final, Literal

from coherence.files import digest, encode
from coherence.records import Record

SAMPLING_API_VERSION: Final = "2023-06-01"  # the last version of the API that takes a temperature
DEFAULT_MAX_TOKENS: Final = 16_000
STREAMED_ABOVE: Final = 21_333  # tokens: the SDK wants longer replies streamed
STOP_SECONDS: Final = 25.0  # for replies under way when told to stop: Slurm kills after 30
MOST_TOKENS: Final = 128_000  # the longest reply of any listed model

CUSTOM_HEADERS: Final = "ANTHROPIC_CUSTOM_HEADERS"  # of the environment: "name: value" lines the SDK sends
OF_THE_API: Final = "anthropic-"  # how the names of headers begin that can change an answer

Cache = Literal["none", "5m", "1h"]


class Request(Record, frozen=True):
    """One call of the Messages API; what is None or empty is not sent. All of it is part of the key.

    `system` and `messages` are as the API takes them, `extra` further fields of the body. `api_version`
    is the `anthropic-version` header; None leaves it to the SDK. `custom_headers` is what the function of
    that name returned when the request was made: the headers themselves are added by the SDK.
    """

    model: str
    messages: tuple[dict[str, Any], ...]
    system: tuple[dict[str, Any], ...] = ()
    max_tokens: int = DEFAULT_MAX_TOKENS
    output_schema: dict[str, Any] | None = None
    effort: str | None = None
    thinking: dict[str, Any] | None = None
    temperature: float | None = None
    api_version: str | None = None
    extra: dict[str, Any] = {}
    custom_headers: str | None = None


class Connection(Record, frozen=True):
    """How requests travel: what changes no answer, so that none of it is part of the key."""

    base_url: str | None = None
    concurrency: int = 8
    max_retries: int = 8
    timeout_seconds: float = 600.0
    offline: bool = False
    cache: Cache = "none"
    stop_seconds: float = STOP_SECONDS
    poll_seconds: float = 60.0  # longest pause between two looks at a batch


def body(request: Request) -> dict[str, Any]:
    """Return the JSON body that is sent: only what is configured."""
    output_format = request.output_schema and {"type": "json_schema", "schema": request.output_schema}
    output_config = {"effort": request.effort, "format": output_format}
    configured = {
        "system": list(request.system) or None,
        "output_config": {name: value for name, value in output_config.items() if value is not None} or None,
        "thinking": request.thinking,
        "temperature": request.temperature,
    }
    return {
        **request.extra,
        **{name: value for name, value in configured.items() if value is not None},
        "model": request.model,
        "max_tokens": request.max_tokens,
        "messages": list(request.messages),
    }


def wire(request: Request, cache: Cache) -> dict[str, Any]:
    """Return the body with a cache breakpoint after the first block of the first message.

    It is no part of the key: it changes what a request costs, never what is answered.
    """
    sent = body(request)
    prefix = shared_prefix(request)
    if cache == "none" or prefix is None:
        return sent
    first, *later = sent["messages"]
    block, *blocks = first["content"]
    marked = {**block, "cache_control": {"type": "ephemeral", "ttl": cache}}
    return {**sent, "messages": [{**first, "content": [marked, *blocks]}, *later]}


def shared_prefix(request: Request) -> str | None:
    """Return the digest of what comes up to the end of the first block, None where there is but one block."""
    content = request.messages[0]["content"]
    if not isinstance(content, list | tuple) or len(content) < 2:
        return None
    before = {name: value for name, value in body(request).items() if name not in {"messages", "max_tokens"}}
    return digest(encode({"before": before, "block": content[0]}))


def headers(request: Request) -> dict[str, str]:
    """Return the headers that are sent beyond the SDK's own."""
    return {} if request.api_version is None else {"anthropic-version": request.api_version}


def custom_headers(api_version: str | None) -> str | None:
    """Return the digest of the headers in ANTHROPIC_CUSTOM_HEADERS that can change an answer, or None.

    These are the API's own (`anthropic-beta` and the like), less a version that `api_version` stands in for.
    Others carry credentials or choose a route, as `base_url` does, and are no part of a reply's key.
    """
    lines = (line.partition(":") for line in os.environ.get(CUSTOM_HEADERS, "").split("\n"))
    sent = {name.strip().lower(): value.strip() for name, colon, value in lines if colon}
    if api_version is not None:
        sent.pop("anthropic-version", None)
    telling = {name: value for name, value in sent.items() if name.startswith(OF_THE_API)}
    return digest(encode(telling)) if telling else None


def store_key(request: Request, sample: int = 0) -> str:
    """Return the SHA-256 (hex) of all that is sent and the sample's index: absent differs from 0."""
    sent = {"body": body(request), "headers": headers(request), "sample": sample}
    if request.custom_headers is not None:  # else the key is what it was before there was the field
        sent["custom_headers"] = request.custom_headers
    return digest(encode(sent))
