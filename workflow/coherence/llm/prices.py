"""What judging would cost: list prices from a dated file and a count of tokens from characters."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Final

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


@cache
def prices() -> dict[str, Any]:
    """Return the price file."""
    return tomllib.loads(files("coherence.llm").joinpath("prices.toml").read_text("utf-8"))


def estimate(model: str, requests: int, characters: int, reply_tokens: int) -> Estimate | None:
    """Return the estimated cost of `requests` over `characters` in all, or None for an unpriced model.

    `reply_tokens` is the length assumed for each reply.
    """
    price = prices()["models"].get(model)
    if price is None:
        return None

    def dollars(chars_per_token: float) -> float:
        return (
            float(characters / chars_per_token * price["input"] + requests * reply_tokens * price["output"])
            / 1e6
        )

    low, high = (dollars(bound) for bound in reversed(CHARS_PER_TOKEN_RANGE))
    return Estimate(model, prices()["date"], requests, dollars(CHARS_PER_TOKEN), low, high)
