"""What everything that asks a model can be told: what goes into its requests, and how they travel."""

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from coherence.llm.models import Prices
from coherence.llm.request import (
    DEFAULT_MAX_TOKENS,
    MOST_TOKENS,
    SAMPLING_API_VERSION,
    STOP_SECONDS,
    Connection,
)
from coherence.records import Record

IN_KEY: Final = frozenset(
    {"model", "max_tokens", "effort", "thinking", "temperature", "api_version", "extra"}
)
NEUTRAL: Final = frozenset(
    {
        "base_url",
        "concurrency",
        "max_retries",
        "timeout_seconds",
        "stop_seconds",
        "offline",
        "mode",  # a batch carries the same request: replies serve both modes
        "poll_seconds",
        "cache",  # changes what the same request costs; switched on later, nothing is paid for again
        "prices",
    }
)
# A stream asked for as `extra` would be paid for and could not be read; the others would be passed over.
NEVER_EXTRA: Final = ("max_tokens", "messages", "model", "stream", "system")


class CallSettings(Record, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Settings of a model's calls; None is not sent. A change of what is `IN_KEY` makes new requests.

    A `temperature` also sends the last API version that takes one, unless `api_version` says otherwise.
    """

    max_tokens: Annotated[int, Meta(ge=1, le=MOST_TOKENS)] = DEFAULT_MAX_TOKENS
    effort: str | None = None
    thinking: dict[str, Any] | None = None
    temperature: float | None = None
    api_version: str | None = None
    extra: dict[str, Any] = {}
    base_url: str | None = None
    concurrency: Annotated[int, Meta(ge=1)] = 8
    max_retries: Annotated[int, Meta(ge=0)] = 8
    timeout_seconds: Annotated[float, Meta(gt=0)] = 600.0
    stop_seconds: Annotated[float, Meta(ge=0)] = STOP_SECONDS
    offline: bool = False
    mode: Literal["direct", "batch"] = "direct"
    poll_seconds: Annotated[float, Meta(gt=0)] = 60.0
    prices: Prices | None = None

    @property
    def sent_version(self) -> str | None:
        """The version of the API that is asked for, None where the SDK's own is."""
        return self.api_version or (SAMPLING_API_VERSION if self.temperature is not None else None)

    def __post_init__(self) -> None:
        named = [name for name in NEVER_EXTRA if name in self.extra]
        if named:
            raise ValueError(f"`extra` cannot set {', '.join(named)}: leave it out")


def connection_of(settings: CallSettings, **changes: Any) -> Connection:
    """Return how the requests travel."""
    return msgspec.convert({**msgspec.structs.asdict(settings), **changes}, Connection)
