"""Submitting requests in batches, watching these and storing what comes of them."""

import asyncio
import sys
from collections import Counter
from collections.abc import Collection
from contextlib import closing
from typing import TYPE_CHECKING, Final

import msgspec

from coherence.errors import InputError
from coherence.llm.batch_api import BatchApi, passing
from coherence.llm.batch_folder import Asked, Batch, BatchFolder
from coherence.llm.batch_queue import Limits, Pending
from coherence.llm.batch_results import Keep, Results, failure_of
from coherence.llm.interrupts import finished
from coherence.llm.request import Connection
from coherence.llm.store import Failure, ReplyStore

if TYPE_CHECKING:
    from anthropic import APIStatusError

ROUNDS: Final = 3  # batches that may carry one request before it counts as failed
READINGS: Final = 5  # of results that are not found, break off or lack some
LOOKS: Final = 2  # at the API's list before a batch is taken not to have been created
PATIENCE: Final = 30  # looks in a row that may fail, each tried again by the SDK: networks come back
GROWTH: Final = 1.5  # of the pause between two looks
FIRST_PAUSE: Final = 1 / 12  # as a part of the longest


class BatchDesk:
    """Takes requests, submits them in batches and knows which are still to be answered."""

    def __init__(
        self, store: ReplyStore, folder: BatchFolder, connection: Connection, keep: Keep, limits: Limits
    ) -> None:
        self.api: BatchApi | None = None
        self.label = ""
        self.stuck: dict[str, str] = {}
        self.outstanding: set[str] = set()
        self._store = store
        self._folder = folder
        self._connection = connection
        self._keep = keep
        self._pending = Pending(limits)
        self._watched: dict[str, Batch] = {}
        self._processing: dict[str, int] = {}
        self._blank: Counter[str] = Counter()
        self._troubles: Counter[str] = Counter()
        self._rounds: Counter[str] = Counter()
        self._failures: dict[str, Failure] = {}
        self._pause = connection.poll_seconds * FIRST_PAUSE
        self._told = ""

    @property
    def is_full(self) -> bool:
        """Whether enough requests wait for a batch."""
        return self._pending.is_full

    def failure(self, key: str) -> Failure | None:
        """Return the last failure of a request that is not submitted again."""
        return self._failures.get(key) if self._rounds[key] >= ROUNDS else None

    def park(self, asked: Asked) -> None:
        """Take a request, to be submitted with the next batch."""
        if asked.key not in self.outstanding:
            self.outstanding.add(asked.key)
            self._pending.add(asked)

    async def submit(self, only_full: bool = False) -> None:
        """Submit what was taken, in as many batches as it needs; `only_full` ones while more is to come."""
        for lines in self._pending.take(only_full):
            await finished(self._submit(lines))

    async def progress(self) -> None:
        """Return when a watched batch has come to its end, or none is watched."""
        while self._watched:
            settled = [name for name, batch in list(self._watched.items()) if await self._settled(batch)]
            for name in settled:
                del self._watched[name]
                self._processing.pop(name, None)
            if settled:
                return
            self._tell_progress()
            await asyncio.sleep(self._pause)
            self._pause = min(self._pause * GROWTH, self._connection.poll_seconds)

    def leave(self) -> None:
        """Say which batches are left running; the next run finds them on disk."""
        for batch in self._watched.values():
            count = f"{len(batch.keys)} requests"
            if batch.id is None:
                tell(f"a batch of {count} was being created; the next run looks for it before it asks again")
                continue
            tell(
                f"batch {batch.id} ({count}) is left running and billed; the next run collects it. To cancel "
                f"it instead: coherence batches cancel {batch.id}"
            )
        self._folder.release()

    async def _submit(self, lines: dict[str, bytes]) -> None:
        with self._folder.locked():
            self._leave_out_claimed(lines)
            if not lines:
                return
            intent = self._folder.begin(self.label, list(lines), list(lines.values()))
        self._watched[intent.name] = intent
        await self._create(intent, lines)

    async def _create(self, intent: Batch, lines: dict[str, bytes]) -> None:
        from anthropic import APIStatusError  # noqa: PLC0415 - takes 2 s, and a replay needs none of it

        asked = [msgspec.json.decode(line, type=Asked) for line in lines.values()]
        try:
            batch_id = await self._connected().create(asked)
        except APIStatusError as error:
            self._folder.drop(intent)
            del self._watched[intent.name]
            await self._refused(lines, asked, error)
            return
        self._pause = self._connection.poll_seconds * FIRST_PAUSE
        if batch_id is not None:
            self._watched[intent.name] = self._folder.name(intent, batch_id)
            tell(f"batch {batch_id}: {len(lines)} requests submitted")

    def _leave_out_claimed(self, lines: dict[str, bytes]) -> None:
        """Leave out what is stored by now or in a batch already, of an earlier run or another process."""
        for batch in self._folder.open().values():
            claimed = [key for key in batch.keys if key in lines]
            for key in claimed:
                del lines[key]
            if claimed and batch.name not in self._watched:
                self._watched[batch.name] = batch
                tell(f"batch {batch.id or batch.name}: {len(claimed)} requests are in it already; waiting")
        for key in [key for key in lines if self._store.path(key).exists() and self._store.get(key)]:
            del lines[key]
            self.outstanding.discard(key)

    async def _refused(self, lines: dict[str, bytes], asked: list[Asked], error: "APIStatusError") -> None:
        if error.status_code == 413 and len(lines) > 1:
            middle = len(lines) // 2
            for half in (list(lines.items())[:middle], list(lines.items())[middle:]):
                await self._submit(dict(half))
            return
        detail = f"HTTP {error.status_code} {error.type}: {error.api_message or error}"
        for item in asked:
            if error.status_code in (400, 413):
                self._fail(item, detail, error)
            else:
                self.stuck[item.key] = f"the API takes no batch: {detail}. What is stored is kept; run again"
        self._released(lines)

    def _fail(self, item: Asked, detail: str, error: "APIStatusError") -> None:
        failure = failure_of(item, detail, status=error.status_code, request_id=error.request_id)
        self._failures[item.key] = self._store.put_failure(failure)
        self._rounds[item.key] = ROUNDS

    async def _settled(self, batch: Batch) -> bool:
        """Do what can be done about a watched batch; return whether there is nothing left to wait for."""
        from anthropic import AnthropicError  # noqa: PLC0415 - as above
        from httpx2 import HTTPError  # noqa: PLC0415 - as above

        try:
            settled = await self._looked_at(batch)
        except (AnthropicError, HTTPError, InputError) as error:
            self._troubles[batch.name] += 1
            if passing(error) and self._troubles[batch.name] < PATIENCE:
                return False
            if batch.name in self._folder.open():
                self._stick(self._watched[batch.name], error)
            self._released(batch.keys)
            return True
        self._troubles[batch.name] = 0
        return settled

    async def _looked_at(self, batch: Batch) -> bool:
        current = self._folder.open().get(batch.name)
        if current is None:  # another process has seen to it
            self._released(batch.keys)
            return True
        self._watched[batch.name] = current
        return await (self._resolved(current) if current.id is None else self._collected(current))

    async def _resolved(self, intent: Batch) -> bool:
        with self._folder.locked():
            if not self._folder.own(intent):
                return False
        found = await self._connected().match(
            intent, self._folder.known_ids(), self._connection.timeout_seconds
        )
        if isinstance(found, str):
            self._folder.name(intent, found)
            return False
        self._blank[intent.name] += not found
        if found or self._blank[intent.name] < LOOKS:
            return False
        self._folder.drop(intent)
        self._released(intent.keys)
        return True

    async def _collected(self, batch: Batch) -> bool:
        state = await self._connected().state(batch.id or "")
        self._processing[batch.name] = state.request_counts.processing
        if state.processing_status != "ended":
            return False
        with closing(self._folder.requests(batch)) as requests:
            results = Results(batch, requests, self._keep)
            await self._read(batch, results)
            results.missing()
        self._finish(batch, results)
        return True

    def _finish(self, batch: Batch, results: Results) -> None:
        for key, failure in results.failures.items():
            self._failures[key] = failure if key in results.kept else self._store.put_failure(failure)
            self._rounds[key] = ROUNDS if key in results.permanent else self._rounds[key] + 1
        counts = results.counts()
        self._folder.finish(batch, counts)
        self._released(batch.keys)
        tell(f"batch {batch.id}: {counts['succeeded']} replies stored, {counts['failed']} requests failed")

    async def _read(self, batch: Batch, results: Results) -> None:
        """Read the results, again while some are missing: a second reading is free, a second batch is not."""
        from anthropic import AnthropicError  # noqa: PLC0415 - as above
        from httpx2 import HTTPError  # noqa: PLC0415 - as above

        for left in reversed(range(READINGS)):
            try:
                await results.read(self._connected().lines(batch.id or ""))
            except (AnthropicError, HTTPError):
                if not left:
                    raise
            if not results.left:
                return
            await asyncio.sleep(self._pause)

    def _stick(self, batch: Batch, error: Exception) -> None:
        what = f"batch {batch.id}" if batch.id else f"a batch begun at {batch.time}"
        path = self._folder.path(batch)
        reason = (
            f"{what}: {len(batch.keys)} requests are in it, and it cannot be read: {error}. Run again to try "
            f"again; if the API no longer has it, delete {path} and its requests are submitted anew"
        )
        self.stuck |= dict.fromkeys(batch.keys, reason)

    def _released(self, keys: Collection[str]) -> None:
        self.outstanding.difference_update(keys)

    def _connected(self) -> BatchApi:
        assert self.api is not None  # noqa: S101 - nothing is parked before there is a connection
        return self.api

    def _tell_progress(self) -> None:
        text = (
            f"waiting for {len(self._watched)} batches, {sum(self._processing.values())} requests processing"
        )
        if text != self._told:
            tell(text)
            self._told = text


def tell(text: str) -> None:
    """Tell the user something on stderr."""
    sys.stderr.write(f"coherence: {text}\n")
    sys.stderr.flush()
