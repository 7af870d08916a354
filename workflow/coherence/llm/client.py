"""Asking for replies: from the store where there is one, else from the API, each stored at once."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Final, TypeVar

from coherence.errors import BudgetError, CredentialError, JudgeError, ReplyMissingError, ServiceError
from coherence.llm import sending
from coherence.llm.account import ABANDONED, NOT_SENT, Account, now
from coherence.llm.breaker import Breaker
from coherence.llm.claims import Claims
from coherence.llm.interrupts import LastCalls, told_to_stop
from coherence.llm.ledger import OK
from coherence.llm.pacing import Pace, wait_before
from coherence.llm.request import Connection, Request, shared_prefix, store_key
from coherence.llm.sending import Fault, Sent, usage_in
from coherence.llm.store import Failure, Reply, ReplyStore
from coherence.llm.warming import Warming

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

T = TypeVar("T")
R = TypeVar("R")
Answer = Reply | Failure
Ask = Callable[[Request, int], Awaitable[Answer]]
Watch = Callable[[str, Request, int, Reply | None], None]

STOPS: Final = (ReplyMissingError, CredentialError, ServiceError, BudgetError)
LOOK: Final = 0.2  # seconds between two looks at a request that another job has under way
AHEAD: Final = 4  # items begun beyond the one waited for, as a multiple of the concurrency


class Client:
    """Answers the requests of one `each`; a request that fails costs no other one its reply.

    Each call is written to the account, if there is one. `watch` is told of every request asked: its key,
    the request, the sample and the stored reply or None.
    """

    def __init__(
        self,
        store: ReplyStore,
        connection: Connection,
        account: Account | None = None,
        watch: Watch | None = None,
    ) -> None:
        self._store = store
        self._connection = connection
        self._account = account
        self._watch = watch
        self._pace = Pace(connection.concurrency)
        self._breaker = Breaker()
        self._warming = Warming()
        self._claims = Claims(store.root)
        self._flights: dict[str, asyncio.Task[Answer]] = {}
        self._sent: set[str] = set()  # the flights whose request is out and whose reply is not stored
        self._told = False
        self._awaiting: asyncio.Task[Any] | None = None
        self._last_calls: LastCalls | None = None
        self._missing: dict[str, str] = {}
        self._stopped: JudgeError | None = None
        self._stop = asyncio.Event()
        self._sdk: AsyncAnthropic | None = None

    async def ask(self, request: Request, sample: int = 0) -> Answer:
        """Return the reply, stored or new, or the failure in its place; equal requests share one call.

        Raises a JudgeError where the store has no reply and the API may not, cannot or should no longer be
        asked.
        """
        key = store_key(request, sample)
        flight = self._flights.get(key)
        if flight is None:
            stored = self._store.get(key)
            if self._watch is not None:
                self._watch(key, request, sample, stored)
            if stored is not None:
                return stored
            flight = self._flights[key] = asyncio.create_task(self._fetch(key, request, sample))
            flight.add_done_callback(lambda _: self._flights.pop(key, None))
        return await flight

    def each(self, items: Iterable[T], work: Callable[[T, Ask], Coroutine[Any, Any, R]]) -> Iterator[R]:
        """Yield `work(item, ask)` in the order of the items, a bounded number of them begun at a time.

        An item for which a reply is missing yields nothing; after all others one JudgeError says why and
        how many requests that leaves: ReplyMissingError, CredentialError, ServiceError or BudgetError.
        However it ends, the replies under way are waited for and stored first. Told to stop (SIGTERM,
        Ctrl-C) it raises KeyboardInterrupt, which says what became of them; told again it waits no longer.
        """
        with asyncio.Runner() as runner, told_to_stop(partial(self._be_told, runner.get_loop())):
            try:
                yield from self._results(runner, items, work)
            finally:
                try:
                    runner.run(self._landed())
                finally:
                    runner.run(self._close())
        if self._told:
            raise KeyboardInterrupt(str(self._last_calls))
        if self._missing:
            raise self._refusal()

    def _results(
        self, runner: asyncio.Runner, items: Iterable[T], work: Callable[[T, Ask], Coroutine[Any, Any, R]]
    ) -> Iterator[R]:
        for task in self._begun(runner, items, work):
            try:
                result = runner.run(self._result(task))
            except STOPS:
                continue
            except asyncio.CancelledError:
                if self._told:
                    return
                raise
            yield result

    async def _result(self, task: asyncio.Task[R]) -> R:
        """Return the task's result; CancelledError once the run is told to stop, which ends no task."""
        self._awaiting = asyncio.current_task()
        if self._told:
            raise asyncio.CancelledError
        await asyncio.wait([task])
        return await task

    def _be_told(self, loop: asyncio.AbstractEventLoop) -> None:
        """Have the run stop; called by a signal's handler, whatever runs just then."""
        self._told = True
        loop.call_soon_threadsafe(self._let_go)  # wakes a loop that waits for the network

    def _let_go(self) -> None:
        self._ask_no_more(JudgeError("told to stop"))
        if self._awaiting is not None:
            self._awaiting.cancel()

    def _ask_no_more(self, error: JudgeError) -> None:
        self._stopped = self._stopped or error
        self._stop.set()

    def _begun(
        self, runner: asyncio.Runner, items: Iterable[T], work: Callable[[T, Ask], Coroutine[Any, Any, R]]
    ) -> Iterator[asyncio.Task[R]]:
        tasks: deque[asyncio.Task[R]] = deque()
        for item in items:
            tasks.append(runner.get_loop().create_task(work(item, self.ask)))
            tasks[-1].add_done_callback(_seen)
            if len(tasks) > AHEAD * self._connection.concurrency:
                yield tasks.popleft()
        while tasks:
            yield tasks.popleft()

    async def _fetch(self, key: str, request: Request, sample: int) -> Answer:
        try:
            return await self._answered(self._connected(), key, request, sample)
        except JudgeError as error:
            self._give_up(error, key, request)
            raise

    def _give_up(self, error: JudgeError, key: str, request: Request) -> None:
        """Stop asking, for this reason, and note that a reply is missing."""
        self._ask_no_more(error)
        self._missing[key] = request.model

    async def _answered(self, sdk: "AsyncAnthropic", key: str, request: Request, sample: int) -> Answer:
        cached = self._connection.cache != "none"
        prefix = shared_prefix(request) if cached else None
        async with self._warming.first(prefix), self._claimed(key):
            stored = self._store.get(key)
            if stored is not None:  # another job has asked meanwhile
                return stored
            outcome = await self._tried(sdk, key, request, sample)
            if isinstance(outcome, Reply):
                self._warming.warmed(prefix)
                return outcome
        failure = self._store.put_failure(failure_of(key, sample, request, outcome))
        self._breaker.given_up(outcome)
        if self._breaker.error is not None:
            raise self._breaker.error
        return failure

    @asynccontextmanager
    async def _claimed(self, key: str) -> AsyncIterator[None]:
        """Wait while another job asks the same."""
        while not self._claims.take(key):
            self._go_on()
            await asyncio.sleep(LOOK)
        try:
            yield
        finally:
            self._claims.release(key)

    async def _tried(self, sdk: "AsyncAnthropic", key: str, request: Request, sample: int) -> Reply | Fault:
        """Return the reply, or the fault that no further try is made after."""
        for attempt in count():
            self._go_on()  # first: a place may be long in coming
            async with self._pace.place() as begun:
                self._go_on()
                outcome = await self._called(sdk, key, request, sample)
                if isinstance(outcome, Reply):
                    self._pace.succeeded()
                    self._breaker.answered()
                    return outcome
                if outcome.overload:
                    self._pace.overloaded(begun, outcome.retry_after)
            if not outcome.passing or attempt >= self._connection.max_retries:
                return outcome
            with suppress(TimeoutError):  # the end of the wait; a stop ends it sooner
                await asyncio.wait_for(self._stop.wait(), wait_before(attempt, outcome.retry_after))
        raise AssertionError  # `count` does not end

    async def _called(self, sdk: "AsyncAnthropic", key: str, request: Request, sample: int) -> Reply | Fault:
        """Make one call, store its reply and enter it in the ledger, however it ends."""
        if self._account is None:
            with self._out(key):
                outcome = await sending.send(sdk, request, self._connection.cache)
                return self._stored(key, sample, request, outcome)
        call = await self._account.begin(request, sample, key, self._connection.cache)
        if self._stopped is not None:  # meanwhile: waiting for the budget takes as long as a call
            await self._account.end(call, NOT_SENT)
        self._go_on()
        with self._out(key):
            try:
                outcome = await sending.send(sdk, request, self._connection.cache)
            except BaseException:
                self._account.write(call, ABANDONED, None)
                raise
            # First: no trouble with the ledger may lose it.
            answer = self._stored(key, sample, request, outcome)
        await self._account.end(call, OK if isinstance(outcome, Sent) else outcome.detail, outcome.billed)
        return answer

    @contextmanager
    def _out(self, key: str) -> Iterator[None]:
        """Know that a request is out until its reply is stored."""
        self._sent.add(key)
        try:
            yield
        finally:
            self._sent.discard(key)

    def _stored(self, key: str, sample: int, request: Request, outcome: Sent | Fault) -> Reply | Fault:
        if isinstance(outcome, Fault):
            return outcome
        return self._store.put(reply_of(key, sample, request, outcome))

    def _go_on(self) -> None:
        """Raise what another request has found to stop the run."""
        if self._stopped is not None:
            raise type(self._stopped)(str(self._stopped))

    def _connected(self) -> "AsyncAnthropic":
        """Return the SDK's client; raise the JudgeError that says why none is to be used."""
        self._go_on()
        if self._connection.offline:
            raise ReplyMissingError
        self._sdk = self._sdk or sending.connect(self._connection)
        if self._sdk is None:
            raise CredentialError
        return self._sdk

    def _refusal(self) -> JudgeError:
        n, models = len(self._missing), ", ".join(sorted(set(self._missing.values())))
        what = f"{n} request{'s' * (n != 1)} to {models} without a reply in {self._store.root}"
        kept = "Every reply stored there is kept and is not paid for again."
        if isinstance(self._stopped, ReplyMissingError):
            return ReplyMissingError(f"{what}, and the run is offline. {kept} Set `offline: false` to ask.")
        if isinstance(self._stopped, CredentialError):
            return CredentialError(
                f"{what}, and there is no API key. {kept} Set the environment variable ANTHROPIC_API_KEY, or "
                "`base_url` for a server of your own, and run again."
            )
        stopped = self._stopped or JudgeError("no reply")
        return type(stopped)(f"{stopped} Stopped: {what}. {kept} Run again to ask for the rest.")

    async def _landed(self) -> None:
        """Send nothing more, and wait for the replies to what was sent, as long as the connection says."""
        self._ask_no_more(JudgeError("told to stop"))
        seconds = self._connection.stop_seconds
        flights = {key: self._flights[key] for key in self._sent}
        if flights:
            await asyncio.wait(flights.values(), timeout=seconds)
        ended = [flight for flight in flights.values() if flight.done()]
        stored = sum(map(_brought_a_reply, ended))
        self._last_calls = LastCalls(
            stored=stored,
            failed=len(ended) - stored,
            given_up=len(flights) - len(ended),
            unsent=len((self._missing.keys() | self._flights.keys()) - flights.keys()),
            seconds=seconds,
        )

    async def _close(self) -> None:
        unfinished = asyncio.all_tasks() - {asyncio.current_task()}
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)
        self._claims.close()
        if self._sdk is not None:
            await self._sdk.close()


def _seen(task: asyncio.Task[Any]) -> None:
    """Take note of how a task ended that nobody may come to wait for."""
    if not task.cancelled():
        task.exception()


def _brought_a_reply(flight: asyncio.Task[Answer]) -> bool:
    return not flight.cancelled() and flight.exception() is None and isinstance(flight.result(), Reply)


def reply_of(key: str, sample: int, request: Request, sent: Sent) -> Reply:
    """Return what was sent as it is stored."""
    model, stop_reason = (sent.message.get(name) for name in ("model", "stop_reason"))
    return Reply(
        key=key,
        sample=sample,
        request=request,
        message=sent.message,
        model=model if isinstance(model, str) else request.model,
        stop_reason=stop_reason if isinstance(stop_reason, str) else None,
        usage=usage_in(sent.message),
        request_id=sent.request_id,
        time=now(),
    )


def failure_of(key: str, sample: int, request: Request, fault: Fault) -> Failure:
    """Return a fault as it is kept beside the replies."""
    return Failure(
        key=key,
        sample=sample,
        model=request.model,
        detail=fault.detail,
        time=now(),
        status=fault.status,
        request_id=fault.request_id,
        usage=fault.usage,
    )
