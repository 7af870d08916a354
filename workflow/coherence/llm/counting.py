"""How many tokens requests hold: counted by the API where it can be asked, else estimated from characters."""

import asyncio
from collections.abc import Sequence
from heapq import heappush, heapreplace
from typing import TYPE_CHECKING, Final

from coherence.llm import sending
from coherence.llm.prices import Tokens, characters_of, tokens_in
from coherence.llm.request import Connection, Request, body, headers

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

COUNTED: Final = 20  # requests of a judge that are counted; the rest follow their characters


class Tally:
    """Requests as they come: their number, their characters, and a few of them chosen by their keys alone."""

    def __init__(self, most: int = COUNTED) -> None:
        self.requests = 0
        self.characters = 0
        self.longest = 0
        self._most = most
        self._chosen: list[tuple[str, Request]] = []

    def add(self, key: str, request: Request) -> None:
        """Take in one request."""
        size = characters_of(request)
        self.requests += 1
        self.characters += size
        self.longest = max(self.longest, size)
        backwards = "".join(chr(0x10FFFF - ord(digit)) for digit in key)  # the heap gives up its largest key
        if len(self._chosen) < self._most:
            heappush(self._chosen, (backwards, request))
        elif self._chosen and backwards > self._chosen[0][0]:
            heapreplace(self._chosen, (backwards, request))

    @property
    def chosen(self) -> list[Request]:
        """The requests to count: all, or those with the lowest keys, which is a fair draw."""
        return [request for _, request in sorted(self._chosen, key=lambda pair: pair[0], reverse=True)]

    def tokens(self, model: str, counts: Sequence[int]) -> Tokens:
        """Return the tokens of all requests, given those of the chosen ones or none at all."""
        if not counts:
            return tokens_in(self.characters, model)
        if len(counts) == self.requests:
            total = float(sum(counts))
            return Tokens(total, total, total)
        sizes = [characters_of(request) for request in self.chosen]
        rates = [count / max(1, size) for count, size in zip(counts, sizes, strict=True)]
        mean = sum(counts) / max(1, sum(sizes))
        return Tokens(*(self.characters * rate for rate in (mean, min(rates), max(rates))))


def count_tokens(requests: Sequence[Request], connection: Connection) -> tuple[list[int], str]:
    """Return the tokens of each request as the API counts them, or none and why it could not be asked."""
    if not requests or connection.offline:
        return [], "offline" if requests else ""
    return asyncio.run(_counted(requests, connection))


async def _counted(requests: Sequence[Request], connection: Connection) -> tuple[list[int], str]:
    sdk = sending.connect(connection)
    if sdk is None:
        return [], "no API key"
    from anthropic import AnthropicError  # noqa: PLC0415 - takes 2 s, an offline estimate needs none of it

    async with sdk.with_options(max_retries=2) as client:
        try:
            return [await _count(client, request) for request in requests], ""
        except AnthropicError as error:
            return [], sending.words_of(error)


async def _count(sdk: "AsyncAnthropic", request: Request) -> int:
    fields = sending.arguments({name: value for name, value in body(request).items() if name != "max_tokens"})
    unknown = fields.pop("extra_body")  # sampling parameters: not counted
    assert "messages" not in unknown  # noqa: S101 - it would not be counted at all
    counted = await sdk.messages.count_tokens(**fields, extra_headers=headers(request))
    return counted.input_tokens
