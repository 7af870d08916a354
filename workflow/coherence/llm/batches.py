"""Asking at half price: the client that sends its requests in batches and waits for them.

The work on an item runs until it needs a reply that is not stored, is given up there, and runs again from the
start once the reply is there. Meanwhile only keys are held: memory does not limit how many batches are under
way. `batch_folder` says what is on disk and when.

Nothing is paid for twice, with one exception. A batch whose creation was cut off (kill -9, a lost answer) is
looked for in the API's list by its time and size and known by the custom_ids in its results; only where the
API lists it later than that is it paid for again.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator
from typing import Any, Generic, TypeVar

from coherence.errors import CredentialError, JudgeError
from coherence.llm import sending
from coherence.llm.account import Account
from coherence.llm.batch_api import BatchApi
from coherence.llm.batch_desk import BatchDesk
from coherence.llm.batch_folder import Asked, BatchFolder
from coherence.llm.batch_queue import Limits, Spool
from coherence.llm.batch_standing import Standing
from coherence.llm.batch_watch import FIRST_PAUSE, BatchWatch
from coherence.llm.client import STOPS, Answer, Ask, Client, failure_of, reply_of
from coherence.llm.interrupts import terminated_as_interrupted
from coherence.llm.ledger import OK
from coherence.llm.request import Connection, Request, store_key
from coherence.llm.sending import Sent
from coherence.llm.store import ReplyStore

T = TypeVar("T")
R = TypeVar("R")
Work = Callable[[T, Ask], Coroutine[Any, Any, R]]


class _Parked(BaseException):
    """The work on an item cannot go on without a reply; no `except Exception` in the work stops it."""


class _StuckError(JudgeError):
    """A batch holds the reply and does not give it."""


class BatchClient(Client):
    """Answers the requests of one `each` by batches; the account's label stands in what is kept of them."""

    def __init__(
        self,
        store: ReplyStore,
        connection: Connection,
        account: Account | None = None,
        limits: Limits | None = None,
    ) -> None:
        super().__init__(store, connection, account)
        label = "" if account is None else account.label
        self._folder = BatchFolder(store.root / "batches")
        self.standing = standing = Standing(account)
        self.watch = watch = BatchWatch(store, self._folder, connection, standing, self._keep)
        self.desk = BatchDesk(store, self._folder, watch, standing, label, limits or Limits())
        self._batch_api: BatchApi | None = None
        self.parked: list[str] = []

    async def ask(self, request: Request, sample: int = 0) -> Answer:
        """Return the stored reply or the failure in its place; else the work is given up for now."""
        key = store_key(request, sample)
        answer = self.standing.failure(key) or self._store.get(key)
        if answer is not None:
            return answer
        if key in self.standing.stuck:
            raise _StuckError(self.standing.stuck[key])
        try:
            self._connect()
            if self._account is not None and key not in self.standing.outstanding:
                self._account.reserve(request, sample, key)
        except JudgeError as error:
            self._give_up(error, key, request)
            raise
        self.desk.park(Asked(key, sample, request))
        self.parked.append(key)
        raise _Parked

    def each(self, items: Iterable[T], work: Work[T, R]) -> Iterator[R]:
        """Yield `work(item, ask)` in the order of the items; `work` may run several times for one of them.

        An item for which a reply is missing yields nothing; after all others one JudgeError says why.
        """
        spool = Spool(self._folder.root)
        with asyncio.Runner() as runner, terminated_as_interrupted():
            try:
                working = _Working(self, work, spool)
                yield from working.results(runner, items)
            finally:
                spool.close()
                self.watch.leave()
                runner.run(self._close())
        if self.standing.stuck:
            raise JudgeError("; ".join(sorted(set(self.standing.stuck.values()))))
        if self._missing:
            raise self._refusal()

    def cancel(self, batch_id: str) -> str:
        """Cancel a batch and return how far it is; raises JudgeError."""

        async def canceled() -> str:
            try:
                self._connect()
            except CredentialError as error:
                raise CredentialError(
                    "there is no API key: set the environment variable ANTHROPIC_API_KEY"
                ) from error
            from anthropic import AnthropicError  # noqa: PLC0415 - takes 2 s, and only a call needs it

            try:
                return (await self.watch.api.cancel(batch_id)).processing_status
            except AnthropicError as error:
                raise JudgeError(f"batch {batch_id}: cannot be canceled: {error}") from error
            finally:
                await self._close()

        return asyncio.run(canceled())

    def _connect(self) -> None:
        """Have a connection; raise the JudgeError that says why there is none."""
        sdk = self._connected()
        if self._batch_api is None:
            pause = self._connection.poll_seconds * FIRST_PAUSE
            self._batch_api = self.watch.api = BatchApi(sdk, self._connection.max_retries, pause)

    def _keep(self, asked: Asked, message: bytes, batch_id: str) -> Answer:
        # A result has no request id; the batch's id says where the reply came from.
        stored = self._store.get(asked.key)
        if stored is not None and stored.request_id == batch_id:
            return stored  # read before, by another process or a run that was killed: in the ledger already
        outcome = sending.read(message, batch_id)
        if self._account is not None:
            status = OK if isinstance(outcome, Sent) else outcome.detail
            self._account.settle(asked, batch_id, status, outcome.billed)
        if isinstance(outcome, Sent):
            return self._store.put(reply_of(asked.key, asked.sample, asked.request, outcome))
        return self._store.put_failure(failure_of(asked.key, asked.sample, asked.request, outcome))


class _Working(Generic[T, R]):
    """The work on the items of one `each`, given up and taken up again as replies come."""

    def __init__(self, client: BatchClient, work: Work[T, R], spool: Spool) -> None:
        self._client = client
        self._work = work
        self._spool = spool
        self._waiting: dict[int, tuple[str, ...]] = {}

    def results(self, runner: asyncio.Runner, items: Iterable[T]) -> Iterator[R]:
        """Yield the results in the order of the items."""
        for item in items:
            done = self._tried(runner, item)
            if done is not None and not len(self._spool):
                yield from done
            else:
                self._waiting[len(self._spool)] = tuple(self._client.parked)
                self._spool.add(item)
                self._submit_if_full(runner)
        for index in range(len(self._spool)):
            while (done := self._again(runner, index)) is None:
                self._progress(runner, index)
            yield from done
            del self._waiting[index]

    def _progress(self, runner: asyncio.Runner, index: int) -> None:
        runner.run(self._client.desk.submit())
        if self._waits(index):
            runner.run(self._client.watch.progress())
        for later in [later for later, keys in self._waiting.items() if keys and not self._waits(later)]:
            self._again(runner, later)
            self._submit_if_full(runner)

    def _submit_if_full(self, runner: asyncio.Runner) -> None:
        if self._client.desk.is_full:
            runner.run(self._client.desk.submit(only_full=True))

    def _waits(self, index: int) -> bool:
        return not self._client.standing.outstanding.isdisjoint(self._waiting[index])

    def _again(self, runner: asyncio.Runner, index: int) -> list[R] | None:
        if self._waits(index):
            return None
        done = self._tried(runner, self._spool[index])
        self._waiting[index] = tuple(self._client.parked)
        return done

    def _tried(self, runner: asyncio.Runner, item: T) -> list[R] | None:
        """Return the result, none where no reply will come, or None where replies are to be waited for."""
        self._client.parked.clear()
        try:
            return [runner.run(self._work(item, self._client.ask))]
        except (_Parked, BaseExceptionGroup):
            if not self._client.parked:
                raise
            return None
        except (*STOPS, _StuckError):
            self._client.parked.clear()
            return []
