"""What is known of models, from a dated file: prices, limits and what each accepts; unknown is None."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Final

import msgspec

from coherence.records import Record

MILLION: Final = 1e6


class Prices(Record, frozen=True, forbid_unknown_fields=True):
    """Dollars per million tokens, and the factors on them for the prompt cache and for batches."""

    input: float
    output: float
    cache_write_5m: float = 1.25
    cache_write_1h: float = 2.0
    cache_read: float = 0.1
    batch: float = 0.5


class Model(Record, frozen=True, forbid_unknown_fields=True):
    """What is known of one model; the fields are explained in `models.toml`."""

    lifecycle: str | None = None
    successor: str | None = None
    input: float | None = None
    output: float | None = None
    cache_write_5m: float | None = None
    cache_write_1h: float | None = None
    cache_read: float | None = None
    batch: float | None = None
    context: int | None = None
    max_output: int | None = None
    min_cacheable: int | None = None
    sampling: bool | None = None
    token_factor: float = 1.0

    @property
    def prices(self) -> Prices | None:
        """The model's prices, or None where they are not known."""
        if self.input is None or self.output is None:
            return None
        known = {name: getattr(self, name) for name in Prices.__struct_fields__}
        return Prices(**{name: value for name, value in known.items() if value is not None})


class ModelFile(Record, frozen=True, forbid_unknown_fields=True):
    """The whole file and the date it was right."""

    date: str
    models: dict[str, Model]


class Usage(Record, frozen=True):
    """The tokens of one call, as the API reports them; `input` leaves out what the cache served or took.

    `cache_write_1h` is the part of `cache_write` that lives for an hour.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0


@cache
def model_file() -> ModelFile:
    """Return the file of models."""
    text = files("coherence.llm").joinpath("models.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), ModelFile)


def model_of(name: str) -> Model:
    """Return what is known of a model; of one that is not listed, nothing is."""
    return model_file().models.get(name, Model())


def dollars(usage: Usage, prices: Prices, batch: bool = False) -> float:
    """Return what the tokens cost."""
    written = usage.cache_write - usage.cache_write_1h
    read_in = (
        usage.input
        + usage.cache_read * prices.cache_read
        + written * prices.cache_write_5m
        + usage.cache_write_1h * prices.cache_write_1h
    )
    cost = (read_in * prices.input + usage.output * prices.output) / MILLION
    return cost * prices.batch if batch else cost
