"""Submitting requests in batches."""

from typing import TYPE_CHECKING

import msgspec

from coherence.llm.batch_folder import Asked, Batch, BatchFolder
from coherence.llm.batch_queue import Limits, Pending
from coherence.llm.batch_results import failure_of
from coherence.llm.batch_standing import Standing
from coherence.llm.batch_watch import BatchWatch, tell
from coherence.llm.interrupts import finished
from coherence.llm.sending import words_of
from coherence.llm.store import ReplyStore

if TYPE_CHECKING:
    from anthropic import APIStatusError


class BatchDesk:
    """Takes requests and submits them in batches, no request in two of them; `label` is the judge's name."""

    def __init__(
        self,
        store: ReplyStore,
        folder: BatchFolder,
        watch: BatchWatch,
        standing: Standing,
        label: str,
        limits: Limits,
    ) -> None:
        self._store = store
        self._folder = folder
        self._watch = watch
        self._standing = standing
        self._label = label
        self._pending = Pending(limits)

    @property
    def is_full(self) -> bool:
        """Whether enough requests wait for a batch."""
        return self._pending.is_full

    def park(self, asked: Asked) -> None:
        """Take a request, to be submitted with the next batch."""
        if asked.key not in self._standing.outstanding:
            self._standing.outstanding.add(asked.key)
            self._pending.add(asked)

    async def submit(self, only_full: bool = False) -> None:
        """Submit what was taken, in as many batches as it needs; `only_full` ones while more is to come."""
        for lines in self._pending.take(only_full):
            await finished(self._submit(lines))

    async def _submit(self, lines: dict[str, bytes]) -> None:
        with self._folder.locked():
            self._leave_out_claimed(lines)
            if not lines:
                return
            intent = self._folder.begin(self._label, list(lines), list(lines.values()))
        self._watch.add(intent)
        await self._create(intent, lines)

    async def _create(self, intent: Batch, lines: dict[str, bytes]) -> None:
        from anthropic import APIStatusError  # noqa: PLC0415 - takes 2 s, and a replay needs none of it

        asked = [msgspec.json.decode(line, type=Asked) for line in lines.values()]
        try:
            batch_id = await self._watch.api.create(asked)
        except APIStatusError as error:
            self._folder.drop(intent)
            self._watch.remove(intent)
            await self._refused(lines, asked, error)
            return
        if batch_id is not None:
            self._watch.add(self._folder.name(intent, batch_id))
            tell(f"batch {batch_id}: {len(lines)} requests submitted")

    def _leave_out_claimed(self, lines: dict[str, bytes]) -> None:
        """Leave out what is stored by now or in a batch already, of an earlier run or another process."""
        for batch in self._folder.open().values():
            claimed = [key for key in batch.keys if key in lines]
            for key in claimed:
                del lines[key]
            if claimed and self._watch.add(batch):
                tell(f"batch {batch.id or batch.name}: {len(claimed)} requests are in it already; waiting")
        for key in [key for key in lines if self._store.path(key).exists() and self._store.get(key)]:
            del lines[key]
            self._standing.outstanding.discard(key)

    async def _refused(self, lines: dict[str, bytes], asked: list[Asked], error: "APIStatusError") -> None:
        if error.status_code == 413 and len(lines) > 1:
            middle = len(lines) // 2
            for half in (list(lines.items())[:middle], list(lines.items())[middle:]):
                await self._submit(dict(half))
            return
        detail = words_of(error)
        for item in asked:
            if error.status_code in (400, 413):
                self._fail(item, detail, error)
            else:
                self._standing.unbilled(item.request.model, item.sample, item.key, detail)
                self._standing.stuck[item.key] = (
                    f"the API takes no batch: {detail}. What is stored is kept; run again"
                )
        self._standing.release(lines)

    def _fail(self, item: Asked, detail: str, error: "APIStatusError") -> None:
        failure = failure_of(item, detail, status=error.status_code, request_id=error.request_id)
        self._standing.fail(self._store.put_failure(failure), for_good=True)
