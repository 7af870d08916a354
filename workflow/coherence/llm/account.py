"""What one job spends: each call on the ledger, and none that could go over the budget."""

import asyncio
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from coherence.errors import BudgetError
from coherence.files import digest, encode
from coherence.llm.batch_folder import Asked
from coherence.llm.ledger import BEGUN, Charge, Ledger, usage_of
from coherence.llm.models import Prices, Usage, dollars, model_of
from coherence.llm.request import Cache, Request, body
from coherence.records import Record

ABANDONED: Final = "abandoned"  # interrupted while under way: whether it was billed is not known
NOT_SENT: Final = "not sent"  # reserved, then another call stopped the run
BYTES_PER_TOKEN: Final = 2.0  # fewer than in any text met so far: hexadecimal dumps come closest
NO_TOKENS: Final[Mapping[str, Any]] = {}


class Call(Record, frozen=True):
    """A call under way."""

    model: str
    sample: int
    key: str
    attempt: str
    reserved: float | None


class Account:
    """A ledger, the label of its rows, the budget of the whole ledger, prices in place of the listed."""

    def __init__(
        self, path: Path, label: str, budget: float | None = None, prices: Prices | None = None
    ) -> None:
        self.label = label
        self.ledger = Ledger(path)
        self._budget = budget
        self._prices = prices
        self._under_way = 0
        self._loop: asyncio.AbstractEventLoop | None = None

    async def begin(self, request: Request, sample: int, key: str, cache: Cache = "none") -> Call:
        """Return the call, its most reserved where there is a budget.

        Waits while calls of this job are under way that may turn out cheaper. Raises BudgetError before a
        call that could exceed the budget.
        """
        reserved = None if self._budget is None else self.most(request, cache)
        call = Call(request.model, sample, key, secrets.token_hex(8), reserved)
        self._enter_loop()
        async with self._ended:
            while not self._fits(call):
                if not self._under_way:
                    raise self._exceeded(call)
                await self._ended.wait()
            self._under_way += 1
        return call

    async def end(self, call: Call, status: str, usage: Mapping[str, Any] | None = NO_TOKENS) -> None:
        """Write the row of a call that was answered (`ok`) or failed.

        `usage` is what the API reports, None where it is not known what was billed: the call then goes on
        counting at its most.
        """
        self.write(call, status, usage)
        async with self._ended:
            self._under_way -= 1
            self._ended.notify_all()

    def write(
        self, call: Call, status: str, usage: Mapping[str, Any] | None = NO_TOKENS, batch: bool = False
    ) -> None:
        """Write the row of a call's end; `usage` as above."""
        tokens = None if usage is None else usage_of(usage)
        self.ledger.add(self._row(call, status, tokens, batch))

    def reserve(self, request: Request, sample: int, key: str) -> None:
        """Reserve what a request in a batch can cost at the most; raises BudgetError where it does not fit.

        Its row is known by the request's key, so that whoever reads the result settles it.
        """
        if self._budget is not None:
            call = self._batched(request, sample, key)
            if not self._fits(call):
                raise self._exceeded(call)

    def settle(self, asked: Asked, batch_id: str, status: str, usage: Mapping[str, Any] | None) -> None:
        """Write the row of a request that a batch has answered, and billed."""
        call = self._batched(asked.request, asked.sample, asked.key)
        ended = msgspec.structs.replace(call, attempt=_batch_attempt(asked.key, batch_id))
        self.write(ended, status, usage, batch=True)

    def release(self, model: str, sample: int, key: str, status: str, batch_id: str | None = None) -> None:
        """Write the row of a request that a batch has brought no reply and no bill: it reserves no more.

        Without a batch's id there was no batch: it was refused.
        """
        self.write(Call(model, sample, key, _batch_attempt(key, batch_id), None), status, batch=True)

    def most(self, request: Request, cache: Cache = "none") -> float:
        """Return the most a request can cost: as many tokens as its bytes can be, the longest reply."""
        prices = self.prices(request.model)
        if prices is None:
            raise BudgetError(
                f"`budget_usd` is set, but no price is known for {request.model}. Give the judge `prices` "
                "(dollars per million tokens: `{input: 3, output: 15}`, or 0 for a server of your own), or "
                "leave `budget_usd` out."
            )
        factor = model_of(request.model).token_factor
        sent = round(len(encode(body(request))) / BYTES_PER_TOKEN * factor)
        usage = {
            "none": Usage(input=sent, output=request.max_tokens),
            "5m": Usage(cache_write=sent, output=request.max_tokens),
            "1h": Usage(cache_write=sent, cache_write_1h=sent, output=request.max_tokens),
        }
        return dollars(usage[cache], prices)

    def prices(self, model: str) -> Prices | None:
        """Return the prices of a model, or None where they are not known."""
        return self._prices or model_of(model).prices

    def _batched(self, request: Request, sample: int, key: str) -> Call:
        prices = self.prices(request.model)
        factor = 1.0 if prices is None else prices.batch
        most = None if self._budget is None else self.most(request) * factor
        return Call(request.model, sample, key, _batch_attempt(key), most)

    def _enter_loop(self) -> None:
        """Forget the calls of an earlier event loop: none of them is under way any more."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._ended, self._under_way = loop, asyncio.Condition(), 0

    def _fits(self, call: Call) -> bool:
        if self._budget is None:
            return True
        return self.ledger.reserve(self._row(call, BEGUN, None, False), self._budget)

    def _row(self, call: Call, status: str, tokens: Usage | None, batch: bool) -> Charge:
        return Charge(
            time=now(),
            label=self.label,
            model=call.model,
            sample=call.sample,
            key=call.key,
            attempt=call.attempt,
            status=status,
            reserved=call.reserved,
            batch=batch,
            **(self._costs(tokens, call.model, batch) if tokens else {}),
        )

    def _costs(self, tokens: Usage, model: str, batch: bool) -> dict[str, Any]:
        prices = self.prices(model)
        unpriced = 0.0 if tokens == Usage() else None
        return {
            "input": tokens.input,
            "output": tokens.output,
            "cache_read": tokens.cache_read,
            "cache_write": tokens.cache_write,
            "dollars": unpriced if prices is None else dollars(tokens, prices, batch),
        }

    def _exceeded(self, call: Call) -> BudgetError:
        return BudgetError(
            f"the next call could cost ${call.reserved or 0:.4f} and {self.ledger.path} counts "
            f"${self.ledger.spent():.4f} already, which is more than `budget_usd: {self._budget}` together. "
            "Raise `budget_usd` or lower `max_tokens`."
        )


def _batch_attempt(key: str, batch_id: str | None = None) -> str:
    reservation = f"batch-{key[:24]}"
    return reservation if batch_id is None else f"{reservation}/{digest(batch_id)[:12]}"


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
