"""What requests would cost before they are sent: from their characters, with the error that leaves."""

from collections.abc import Iterator
from typing import Any, Final

from coherence.files import encode
from coherence.llm.models import Prices, Usage, dollars, model_file, model_of
from coherence.llm.request import Request
from coherence.records import Record

CHARS_PER_TOKEN: Final = 3.5  # English prose and code mixed; real texts lie between about 2.8 and 4.5
CHARS_PER_TOKEN_RANGE: Final = (2.8, 4.5)


class Estimate(Record, frozen=True):
    """Dollars for a number of requests: a value, and the bounds that the character count leaves open."""

    model: str
    prices_of: str
    requests: int
    dollars: float
    low: float
    high: float


class Tokens(Record, frozen=True):
    """A number of tokens and the bounds it lies between."""

    value: float
    low: float
    high: float


def characters_of(request: Request) -> int:
    """Return the characters of a request that become tokens: its texts and its output schema."""
    schema = encode(request.output_schema) if request.output_schema else b""
    return sum(map(len, _texts([*request.system, *request.messages]))) + len(schema)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts([inner for name, inner in value.items() if name not in {"type", "role"}])
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def tokens_in(characters: int, model: str) -> Tokens:
    """Return the tokens that so many characters probably are."""
    factor = model_of(model).token_factor
    low, high = (characters / bound * factor for bound in reversed(CHARS_PER_TOKEN_RANGE))
    return Tokens(characters / CHARS_PER_TOKEN * factor, low, high)


def price_of(prices: Prices, tokens: float, reply_tokens: float) -> float:
    """Return the dollars of so many tokens sent and received."""
    return dollars(Usage(input=round(tokens), output=round(reply_tokens)), prices)


def estimate(model: str, requests: int, characters: int, reply_tokens: int) -> Estimate | None:
    """Return the estimated cost of `requests` over `characters` in all, or None for an unpriced model.

    `reply_tokens` is the length assumed for each reply.
    """
    prices = model_of(model).prices
    if prices is None:
        return None
    tokens, replies = tokens_in(characters, model), requests * reply_tokens
    value, low, high = (price_of(prices, n, replies) for n in (tokens.value, tokens.low, tokens.high))
    return Estimate(model, model_file().date, requests, value, low, high)
