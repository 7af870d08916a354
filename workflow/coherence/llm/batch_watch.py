"""Watching batches: waiting for their end and storing what comes of them."""

import asyncio
import sys
from collections import Counter
from contextlib import closing
from typing import Final

from coherence.errors import InputError
from coherence.files import REPLACEMENT
from coherence.llm.batch_api import BatchApi, passing
from coherence.llm.batch_folder import Batch, BatchFolder
from coherence.llm.batch_results import Keep, Results
from coherence.llm.batch_standing import Standing
from coherence.llm.request import Connection
from coherence.llm.store import ReplyStore

READINGS: Final = 5  # of results that are not found, break off or lack some
LOOKS: Final = 2  # at the API's list before a batch is taken not to have been created
PATIENCE: Final = 30  # looks in a row that may fail, each tried again by the SDK: networks come back
GROWTH: Final = 1.5  # of the pause between two looks
FIRST_PAUSE: Final = 1 / 12  # as a part of the longest


class BatchWatch:
    """The batches that hold requests of this run, its own and those it found on disk."""

    def __init__(
        self, store: ReplyStore, folder: BatchFolder, connection: Connection, standing: Standing, keep: Keep
    ) -> None:
        self._store = store
        self._folder = folder
        self._connection = connection
        self._standing = standing
        self._keep = keep
        self._api: BatchApi | None = None
        self._watched: dict[str, Batch] = {}
        self._processing: dict[str, int] = {}
        self._blank: Counter[str] = Counter()
        self._troubles: Counter[str] = Counter()
        self._pause = connection.poll_seconds * FIRST_PAUSE
        self._told = ""

    @property
    def api(self) -> BatchApi:
        """The API; there from the first request on that is not stored."""
        assert self._api is not None  # noqa: S101 - nothing is parked before there is a connection
        return self._api

    @api.setter
    def api(self, api: BatchApi) -> None:
        self._api = api

    def add(self, batch: Batch) -> bool:
        """Watch a batch, soon at first; return whether it is a new one."""
        new = batch.name not in self._watched
        self._watched[batch.name] = batch
        self._pause = self._connection.poll_seconds * FIRST_PAUSE
        return new

    def remove(self, batch: Batch) -> None:
        """Watch a batch no longer."""
        del self._watched[batch.name]
        self._processing.pop(batch.name, None)

    async def progress(self) -> None:
        """Return when a watched batch has come to its end, or none is watched."""
        while self._watched:
            settled = [batch for batch in list(self._watched.values()) if await self._settled(batch)]
            for batch in settled:
                self.remove(batch)
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

    async def _settled(self, batch: Batch) -> bool:
        """Do what can be done about a watched batch; return whether there is nothing left to wait for."""
        from anthropic import AnthropicError  # noqa: PLC0415 - there by now
        from httpx2 import HTTPError  # noqa: PLC0415 - as above

        try:
            settled = await self._looked_at(batch)
        except (AnthropicError, HTTPError, InputError) as error:
            self._troubles[batch.name] += 1
            if passing(error) and self._troubles[batch.name] < PATIENCE:
                return False
            if batch.name in self._folder.open():
                self._stick(self._watched[batch.name], error)
            self._standing.release(batch.keys)
            return True
        self._troubles[batch.name] = 0
        return settled

    async def _looked_at(self, batch: Batch) -> bool:
        current = self._folder.open().get(batch.name)
        if current is None:  # another process has seen to it
            self._standing.release(batch.keys)
            return True
        self._watched[batch.name] = current
        return await (self._resolved(current) if current.id is None else self._collected(current))

    async def _resolved(self, intent: Batch) -> bool:
        with self._folder.locked():
            if not self._folder.own(intent):  # a process that is alive is creating it
                return False
        found = await self.api.match(intent, self._folder.known(), self._connection.timeout_seconds)
        if isinstance(found, str):
            self._folder.name(intent, found)
            return False
        self._blank[intent.name] += not found
        if found or self._blank[intent.name] < LOOKS:
            return False
        self._folder.drop(intent)
        self._standing.release(intent.keys)
        return True

    async def _collected(self, batch: Batch) -> bool:
        state = await self.api.state(batch.id or "")
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
            if key not in results.kept:
                self._store.put_failure(failure)
            billed = key in results.kept or key in results.left  # the latter is not known
            self._standing.fail(failure, key in results.permanent, billed)
        counts = results.counts()
        self._folder.finish(batch, counts)
        self._standing.release(batch.keys)
        tell(f"batch {batch.id}: {counts['succeeded']} replies stored, {counts['failed']} requests failed")

    async def _read(self, batch: Batch, results: Results) -> None:
        """Read the results, again while some are missing: a second reading is free, a second batch is not."""
        from anthropic import AnthropicError  # noqa: PLC0415 - as above
        from httpx2 import HTTPError  # noqa: PLC0415 - as above

        for left in reversed(range(READINGS)):
            try:
                await results.read(self.api.lines(batch.id or ""))
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
        self._standing.stuck |= dict.fromkeys(batch.keys, reason)

    def _tell_progress(self) -> None:
        text = (
            f"waiting for {len(self._watched)} batches, {sum(self._processing.values())} requests processing"
        )
        if text != self._told:
            tell(text)
            self._told = text


def tell(text: str) -> None:
    """Tell the user something on stderr."""
    shown = "".join(c if c.isprintable() else REPLACEMENT for c in text)  # servers name batches as they like
    sys.stderr.write(f"coherence: {shown}\n")
    sys.stderr.flush()
