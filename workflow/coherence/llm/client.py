"""Asking for replies: from the store where there is one, else from the API, each stored at once."""

import asyncio
import json
import os
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from coherence.errors import CredentialError, JudgeError, ReplyMissingError
from coherence.files import encode, without_surrogates
from coherence.llm.request import Connection, Request, body, headers, store_key
from coherence.llm.store import Failure, Reply, ReplyStore

if TYPE_CHECKING:
    from anthropic import AnthropicError, AsyncAnthropic

T = TypeVar("T")
R = TypeVar("R")
Answer = Reply | Failure
Ask = Callable[[Request, int], Awaitable[Answer]]

AHEAD: Final = 4  # items begun beyond the one waited for, as a multiple of the concurrency
LONGEST_DETAIL: Final = 300  # characters of an error's text that are kept
SDK_FIELDS: Final = frozenset({"model", "max_tokens", "messages", "system", "output_config", "thinking"})


class Client:
    """Answers the requests of one `each`; a request that fails costs no other one its reply."""

    def __init__(self, store: ReplyStore, connection: Connection) -> None:
        self._store = store
        self._connection = connection
        self._places = asyncio.Semaphore(connection.concurrency)
        self._flights: dict[str, asyncio.Task[Answer]] = {}
        self._missing: dict[str, str] = {}
        self._sdk: AsyncAnthropic | None = None

    async def ask(self, request: Request, sample: int = 0) -> Answer:
        """Return the reply, stored or new, or the failure in its place; equal requests share one call.

        Raises ReplyMissingError or CredentialError where the store has no reply and the API may not or
        cannot be asked.
        """
        key = store_key(request, sample)
        flight = self._flights.get(key)
        if flight is None:
            stored = self._store.get(key)
            if stored is not None:
                return stored
            flight = self._flights[key] = asyncio.create_task(self._fetch(key, request, sample))
            flight.add_done_callback(lambda _: self._flights.pop(key, None))
        return await flight

    def each(self, items: Iterable[T], work: Callable[[T, Ask], Coroutine[Any, Any, R]]) -> Iterator[R]:
        """Yield `work(item, ask)` in the order of the items, a bounded number of them begun at a time.

        An item for which a reply is missing yields nothing; after all others one ReplyMissingError or
        CredentialError says how many requests that leaves.
        """
        with asyncio.Runner() as runner:
            try:
                for task in self._begun(runner, items, work):
                    try:
                        result = runner.run(_result(task))
                    except (ReplyMissingError, CredentialError):
                        continue
                    yield result
            finally:
                runner.run(self._close())
        if self._missing:
            raise self._refusal()

    def _begun(
        self, runner: asyncio.Runner, items: Iterable[T], work: Callable[[T, Ask], Coroutine[Any, Any, R]]
    ) -> Iterator[asyncio.Task[R]]:
        tasks: deque[asyncio.Task[R]] = deque()
        for item in items:
            tasks.append(runner.get_loop().create_task(work(item, self.ask)))
            if len(tasks) > AHEAD * self._connection.concurrency:
                yield tasks.popleft()
        while tasks:
            yield tasks.popleft()

    async def _fetch(self, key: str, request: Request, sample: int) -> Answer:
        sdk = None if self._connection.offline or self._missing else self._connected()
        if sdk is None:
            self._missing[key] = request.model
            raise self._refusal()
        from anthropic import AnthropicError  # noqa: PLC0415 - takes 2 s, and a replay needs none of it

        try:
            async with self._places:
                data, request_id = await _sent(sdk, request)
        except AnthropicError as error:
            return self._store.put_failure(_failure(key, request, sample, error))
        return self._kept(key, request, sample, data, request_id)

    def _kept(self, key: str, request: Request, sample: int, data: bytes, request_id: str | None) -> Answer:
        message = _message(data)
        if message is None:
            detail = _clipped(f"HTTP 200 without a message: {data.decode('utf-8', 'replace')}")
            return self._store.put_failure(
                Failure(key, sample, request.model, detail, _now(), status=200, request_id=request_id)
            )
        model, stop_reason, usage = (message.get(name) for name in ("model", "stop_reason", "usage"))
        return self._store.put(
            Reply(
                key=key,
                sample=sample,
                request=request,
                message=message,
                model=model if isinstance(model, str) else request.model,
                stop_reason=stop_reason if isinstance(stop_reason, str) else None,
                usage=usage if isinstance(usage, dict) else {},
                request_id=request_id,
                time=_now(),
            )
        )

    def _connected(self) -> "AsyncAnthropic | None":
        """Return the SDK's client, or None where no key can be found."""
        if self._sdk is None:
            self._sdk = _sdk(self._connection)
        return self._sdk

    def _refusal(self) -> JudgeError:
        count, models = len(self._missing), ", ".join(sorted(set(self._missing.values())))
        what = f"{count} request{'s' * (count != 1)} to {models} without a reply in {self._store.root}"
        kept = "Every reply stored there is kept and is not paid for again."
        if self._connection.offline:
            return ReplyMissingError(f"{what}, and the run is offline. {kept} Set `offline: false` to ask.")
        return CredentialError(
            f"{what}, and there is no API key. {kept} Set the environment variable ANTHROPIC_API_KEY, or "
            "`base_url` for a server of your own, and run again."
        )

    async def _close(self) -> None:
        unfinished = asyncio.all_tasks() - {asyncio.current_task()}
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)
        if self._sdk is not None:
            await self._sdk.close()


async def _result(task: asyncio.Task[R]) -> R:
    return await task


async def _sent(sdk: "AsyncAnthropic", request: Request) -> tuple[bytes, str | None]:
    sent = body(request)
    response = await sdk.messages.with_raw_response.create(
        **{name: value for name, value in sent.items() if name in SDK_FIELDS},
        extra_body={name: value for name, value in sent.items() if name not in SDK_FIELDS},
        extra_headers=headers(request),
    )
    return await response.read(), response.request_id


def _sdk(connection: Connection) -> "AsyncAnthropic | None":
    """Return the SDK's client, or None where the SDK finds nothing to authenticate with."""
    from anthropic import AsyncAnthropic, CredentialsError  # noqa: PLC0415 - as above

    own_server = connection.base_url or os.environ.get("ANTHROPIC_BASE_URL")
    named = any(os.environ.get(name) for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"))
    try:
        sdk = AsyncAnthropic(
            api_key="none" if own_server and not named else None,
            base_url=connection.base_url,
            max_retries=connection.max_retries,
            timeout=connection.timeout_seconds,
        )
    except CredentialsError:
        return None
    return sdk if sdk.api_key or sdk.auth_token or sdk.credentials else None


def _message(data: bytes) -> dict[str, Any] | None:
    """Return the message in a response's body, fit to be stored, or None where there is none."""
    try:
        text = json.dumps(json.loads(data), ensure_ascii=False)
        message = msgspec.json.decode(without_surrogates(text), type=dict[str, Any])
        encode(message)
    except (ValueError, OverflowError, RecursionError, msgspec.MsgspecError):
        return None
    return message if isinstance(message.get("content"), list) else None


def _failure(key: str, request: Request, sample: int, error: "AnthropicError") -> Failure:
    status = getattr(error, "status_code", None)
    said = getattr(error, "api_message", None) or str(error) or type(error).__name__
    kind = getattr(error, "type", None) or type(error).__name__
    prefix = f"HTTP {status} {kind}" if status else kind
    return Failure(
        key=key,
        sample=sample,
        model=request.model,
        detail=_clipped(f"{prefix}: {said}"),
        time=_now(),
        status=status,
        request_id=getattr(error, "request_id", None),
    )


def _clipped(text: str) -> str:
    one_line = " ".join(without_surrogates(text).split())
    return one_line if len(one_line) <= LONGEST_DETAIL else f"{one_line[: LONGEST_DETAIL - 1]}…"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
