"""The endpoints of the Message Batches API as batches need them, behind the official SDK."""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import msgspec

from coherence.errors import InputError
from coherence.llm.batch_folder import Asked, Batch, file_name
from coherence.llm.request import body, headers
from coherence.llm.sending import retry_after

if TYPE_CHECKING:
    from anthropic import APIStatusError, AsyncAnthropic
    from anthropic.types.messages import MessageBatch

NOT_DONE: Final = frozenset({429, 503, 529})  # statuses that say that nothing was created
UNSURE: Final = frozenset({408, 409})  # and every other 5xx: a batch may have been created
SLACK: Final = timedelta(hours=1)  # by which the clocks here and there may differ
PER_PAGE: Final = 100
LONGEST_PAUSE: Final = 60.0  # seconds


class Result(msgspec.Struct, frozen=True):
    """What became of one request; `message` is the API's JSON as it came."""

    type: str
    message: msgspec.Raw = msgspec.Raw(b"null")
    error: Any = None

    @property
    def error_type(self) -> str | None:
        """The type of the error, which is wrapped as the body of an HTTP error is."""
        kind = self._said.get("type")
        return kind if isinstance(kind, str) else None

    @property
    def detail(self) -> str:
        """What became of the request, in words."""
        told = (f"{self.error_type}: {self._said.get('message')}",) if self.error else ()
        return " ".join((f"batch result {self.type}", *told))

    @property
    def _said(self) -> dict[str, Any]:
        error = self.error if isinstance(self.error, dict) else {}
        inner = error.get("error")
        return inner if isinstance(inner, dict) else error


class Line(msgspec.Struct, frozen=True):
    """One line of a batch's results."""

    custom_id: str
    result: Result


class BatchApi:
    """Creates, watches, reads and cancels batches."""

    def __init__(self, sdk: "AsyncAnthropic", max_retries: int, first_pause: float) -> None:
        # Creating apart, every call can be repeated; the client's own tries are for messages.
        self._sdk = sdk.with_options(max_retries=max_retries)
        self._tries = max_retries + 1
        self._first_pause = first_pause

    async def create(self, asked: Sequence[Asked]) -> str | None:
        """Return the new batch's id, or None where it cannot be known whether there is a new batch.

        Raises APIStatusError where the API refuses. The SDK's own retries would create a second batch
        after an answer that was lost, so here only an answer that says "not now" is tried again.
        """
        from anthropic import APIConnectionError, APIStatusError  # noqa: PLC0415 - takes 2 s

        entries: Any = [{"custom_id": item.key, "params": body(item.request)} for item in asked]
        once = self._sdk.with_options(max_retries=0).messages.batches
        for left in reversed(range(self._tries)):
            try:
                extra = headers(asked[0].request)
                named: Any = (await once.create(requests=entries, extra_headers=extra)).id
                return named if isinstance(named, str) and named else None
            except APIConnectionError:
                return None
            except APIStatusError as error:
                if error.status_code not in NOT_DONE and _unsure(error.status_code):
                    return None
                if error.status_code not in NOT_DONE or not left:
                    raise
                await asyncio.sleep(self._pause(self._tries - left, error))
        raise AssertionError  # pragma: no cover - the last try returns or raises

    async def state(self, batch_id: str) -> "MessageBatch":
        """Return how far a batch is; raises AnthropicError, or InputError for an id that fits no URL."""
        with _refusing_odd_ids(batch_id):
            return await self._sdk.messages.batches.retrieve(batch_id)

    async def cancel(self, batch_id: str) -> "MessageBatch":
        """Ask for a batch to be canceled; raises as `state` does."""
        with _refusing_odd_ids(batch_id):
            return await self._sdk.messages.batches.cancel(batch_id)

    async def lines(self, batch_id: str) -> AsyncIterator[bytes]:
        """Yield the lines of an ended batch's results as they arrive; raises AnthropicError, HTTPError."""
        batches = self._sdk.messages.batches.with_streaming_response
        async with batches.results(batch_id) as response:
            rest = b""
            async for chunk in response.iter_bytes():
                *whole, rest = (rest + chunk).split(b"\n")  # not splitlines: JSON may hold U+2028
                for line in whole:
                    yield line
            yield rest

    async def match(self, intent: Batch, known: Collection[str], wait: float) -> str | bool:
        """Return the id of the batch that an intent led to, False for none, True where that is still open.

        The API's list shows neither custom_ids nor anything of one's own, and results are there only at
        the end: batches of the right size and time count as possible until their results tell.
        """
        possible = False
        started = datetime.fromisoformat(intent.time)
        async for batch in self._sdk.messages.batches.list(limit=PER_PAGE):
            if batch.created_at < started - SLACK:
                break
            late = batch.created_at > started + SLACK + timedelta(seconds=wait)
            if file_name(batch.id) in known or late or _size(batch) != len(intent.keys):
                continue
            if batch.processing_status != "ended":
                possible = True
            elif await self._holds(batch.id, set(intent.keys)):
                return batch.id
        return possible

    async def _holds(self, batch_id: str, keys: set[str]) -> bool:
        async for line in self.lines(batch_id):
            read = parsed(line)
            if read is not None:
                return read.custom_id in keys
        return False

    def _pause(self, number: int, error: "APIStatusError") -> float:
        asked = retry_after(error.response.headers)
        return min(self._first_pause * 2**number if asked is None else asked, LONGEST_PAUSE)


@contextmanager
def _refusing_odd_ids(batch_id: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:  # of the SDK, for an id such as ".."
        raise InputError(f"the id {batch_id!r} fits no URL: {error}") from error


def parsed(line: bytes) -> Line | None:
    """Return one line of results, or None where it cannot be read."""
    try:
        return msgspec.json.decode(line, type=Line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _size(batch: "MessageBatch") -> int:
    counts = batch.request_counts
    return counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired


def passing(error: Exception) -> bool:
    """Return whether the same call may succeed later."""
    from anthropic import APIConnectionError, APIStatusError  # noqa: PLC0415 - there by now
    from httpx2 import HTTPError  # noqa: PLC0415 - as above

    if isinstance(error, APIStatusError):
        return error.status_code in NOT_DONE or _unsure(error.status_code)
    return isinstance(error, APIConnectionError | HTTPError)


def _unsure(status: int) -> bool:
    return status >= 500 or status in UNSURE
