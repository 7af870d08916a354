"""One call of the Messages API through the SDK: a message as it came, or a fault and what can be done."""

import json
import os
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from math import isnan
from time import time
from typing import TYPE_CHECKING, Any, Final

import msgspec

from coherence.files import encode, without_surrogates
from coherence.llm.pacing import LONGEST_OBEYED
from coherence.llm.request import STREAMED_ABOVE, Cache, Connection, Request, headers, wire
from coherence.records import Record

if TYPE_CHECKING:
    from anthropic import AnthropicError, APIConnectionError, AsyncAnthropic
    from httpx2 import Response

LONGEST_DETAIL: Final = 300  # characters of an error's text that are kept
SDK_FIELDS: Final = frozenset({"model", "max_tokens", "messages", "system", "output_config", "thinking"})
OVERLOADS: Final = frozenset({429, 503, 529})
PASSING: Final = frozenset({408, 409})
HOPELESS: Final = frozenset({401, 402, 404})
PASSING_KINDS: Final = frozenset({"api_error", "timeout_error"})
OVERLOAD_KINDS: Final = frozenset({"overloaded_error", "rate_limit_error"})
TOO_LONG: Final = "too long"  # of a prompt, in the API's words


class Sent(Record, frozen=True):
    """A message as the API sent it."""

    message: dict[str, Any]
    request_id: str | None

    @property
    def billed(self) -> dict[str, Any] | None:
        """The usage the API reports, None where it reports none."""
        return usage_in(self.message) or None


class Fault(Record, frozen=True):
    """A call that brought no message.

    `overload` asks for fewer calls, `passing` (an overload too) may be gone at the next try; `retry_after`
    is the seconds the server names. `usage` is what the API says it billed nevertheless; `unsure` tells that
    it may have billed more: the connection was lost after the request had gone out.
    """

    detail: str
    status: int | None = None
    overload: bool = False
    passing: bool = False
    retry_after: float | None = None
    request_id: str | None = None
    usage: dict[str, Any] = {}
    unsure: bool = False

    @property
    def billed(self) -> dict[str, Any] | None:
        """The usage that was billed, None where that is not known."""
        return None if self.unsure else self.usage

    @property
    def hopeless(self) -> bool:
        """Whether no other request can fare better: the key, the model or the credit is at fault."""
        no_credit = self.status == 400 and "credit balance" in self.detail
        return self.status in HOPELESS or no_credit

    @property
    def about_the_item(self) -> bool:
        """Whether the text that was sent is at fault and another may do."""
        too_long = self.status == 400 and TOO_LONG in self.detail
        return self.status in {200, 413} or too_long


def connect(connection: Connection) -> "AsyncAnthropic | None":
    """Return the SDK's client, or None where the SDK finds nothing to authenticate with."""
    # Takes 2 s, and no replay needs it.
    from anthropic import AsyncAnthropic, CredentialsError, DefaultAsyncHttpxClient  # noqa: PLC0415

    own_server = connection.base_url or os.environ.get("ANTHROPIC_BASE_URL")
    named = any(os.environ.get(name) for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"))
    try:
        sdk = AsyncAnthropic(
            api_key="none" if own_server and not named else None,
            base_url=connection.base_url,
            max_retries=0,  # `client` tries messages again, and knows when to stop
            timeout=connection.timeout_seconds,
            http_client=DefaultAsyncHttpxClient(event_hooks={"response": [_with_a_wait_in_reason]}),
        )
    except CredentialsError:
        return None
    return sdk if sdk.api_key or sdk.auth_token or sdk.credentials else None


async def send(sdk: "AsyncAnthropic", request: Request, cache: Cache = "none") -> Sent | Fault:
    """Make one call, once; long replies are streamed."""
    from anthropic import AnthropicError  # noqa: PLC0415 - as above

    usage: dict[str, Any] = {}
    try:
        if request.max_tokens > STREAMED_ABOVE:
            return await _streamed(sdk, request, cache, usage)
        response = await sdk.messages.with_raw_response.create(**_arguments(request, cache))
        return read(await response.read(), response.request_id)
    except AnthropicError as error:
        return _fault(error, usage)


def read(data: bytes, request_id: str | None) -> Sent | Fault:
    """Return the message in the body of a response of status 200, or the fault in its place."""
    message = object_in(data)
    if message is not None and isinstance(message.get("content"), list):
        return Sent(message, request_id)
    said = (message or {}).get("error")
    kind = said.get("type") if isinstance(said, dict) and (message or {}).get("type") == "error" else None
    return Fault(
        detail=clipped(f"HTTP 200 without a message: {data.decode('utf-8', 'replace')}"),
        status=200,
        overload=kind in OVERLOAD_KINDS,
        passing=kind in OVERLOAD_KINDS | PASSING_KINDS,
        request_id=request_id,
        usage=usage_in(message or {}),
        unsure=kind is None and not usage_in(message or {}),
    )


def arguments(sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body as the SDK's keyword arguments; fields it does not know go along as they are."""
    known = {name: value for name, value in sent.items() if name in SDK_FIELDS}
    return {**known, "extra_body": {name: value for name, value in sent.items() if name not in SDK_FIELDS}}


def clipped(text: str) -> str:
    """Return a text on one line and not too long."""
    one_line = " ".join(without_surrogates(text).split())
    return one_line if len(one_line) <= LONGEST_DETAIL else f"{one_line[: LONGEST_DETAIL - 1]}…"


def words_of(error: "AnthropicError") -> str:
    """Return what went wrong, on one line: the HTTP status, the kind and the API's own words."""
    status = getattr(error, "status_code", None)
    kind = getattr(error, "type", None) or type(error).__name__
    said = getattr(error, "api_message", None) or str(error) or type(error).__name__
    return clipped(f"HTTP {status} {kind}: {said}" if status else f"{kind}: {said}")


def _arguments(request: Request, cache: Cache) -> dict[str, Any]:
    return {**arguments(wire(request, cache)), "extra_headers": headers(request)}


async def _streamed(
    sdk: "AsyncAnthropic", request: Request, cache: Cache, usage: dict[str, Any]
) -> Sent | Fault:
    """Return the message put together from its events; `usage` is filled as far as the stream got."""
    import httpx2  # noqa: PLC0415 - comes with the SDK, whose streams pass its errors on

    try:
        async with sdk.messages.stream(**_arguments(request, cache)) as stream:
            async for event in stream:
                if event.type in {"message_start", "message_delta"}:
                    usage.update(stream.current_message_snapshot.usage.to_dict(mode="json"))
            message = (await stream.get_final_message()).to_dict(mode="json")
            request_id = stream.request_id
    except httpx2.TransportError as error:
        return Fault(clipped(f"{type(error).__name__}: {error}"), passing=True, usage=usage, unsure=True)
    if message.get("stop_reason") is None:
        return Fault("the stream ended before the message did", 200, passing=True, usage=usage, unsure=True)
    return read(json.dumps(message).encode(), request_id)


def _fault(error: "AnthropicError", usage: dict[str, Any]) -> Fault:
    from anthropic import APIConnectionError  # noqa: PLC0415 - as above

    status = getattr(error, "status_code", None)
    kind = getattr(error, "type", None) or type(error).__name__
    overload = status in OVERLOADS or kind in OVERLOAD_KINDS
    server_side = (status or 0) >= 500 or status in PASSING or kind in PASSING_KINDS
    body = getattr(error, "body", None)
    return Fault(
        detail=words_of(error),
        status=status,
        overload=overload,
        passing=overload or server_side or isinstance(error, APIConnectionError),
        retry_after=retry_after(getattr(getattr(error, "response", None), "headers", {})),
        request_id=getattr(error, "request_id", None),
        usage=usage_in(body if isinstance(body, dict) else {}) or usage,
        unsure=bool(usage) or (isinstance(error, APIConnectionError) and not _unsent(error)),
    )


def _unsent(error: "APIConnectionError") -> bool:
    """Whether there was no connection at all, so that nothing can have been billed."""
    import httpx2  # noqa: PLC0415 - as above

    return isinstance(error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout)


async def _with_a_wait_in_reason(response: "Response") -> None:
    """Cap the wait a response asks for: where the SDK itself tries again, it would obey were it weeks."""
    if (retry_after(response.headers) or 0.0) > LONGEST_OBEYED:
        response.headers.pop("retry-after-ms", None)
        response.headers["retry-after"] = str(LONGEST_OBEYED)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds a server asks to wait, given in milliseconds, seconds or as a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "")
        try:
            seconds = float(value) * unit
        except ValueError:
            continue
        return None if isnan(seconds) else seconds
    try:
        return max(0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time())
    except (TypeError, ValueError):
        return None


def usage_in(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the usage a message reports, empty where it reports none."""
    usage = body.get("usage")
    return usage if isinstance(usage, dict) else {}


def object_in(data: bytes | str) -> dict[str, Any] | None:
    """Return the JSON object that data are, fit to be stored, or None where they are none."""
    try:
        text = json.dumps(json.loads(data), ensure_ascii=False)
        decoded = msgspec.json.decode(without_surrogates(text), type=dict[str, Any])
        encode(decoded)
    except (ValueError, OverflowError, RecursionError, msgspec.MsgspecError):
        return None
    return decoded
