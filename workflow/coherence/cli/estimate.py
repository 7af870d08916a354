"""`coherence estimate`: what the requests that are still to be sent would cost, judge by judge."""

import argparse
from collections.abc import Iterator
from typing import Any, Final

from coherence.cli.arguments import add_dataset_arguments, config_of, each_dataset
from coherence.cli.asking import Asking, askings
from coherence.cli.config import Config
from coherence.cli.layout import Layout
from coherence.errors import InputError
from coherence.judges.llm import LlmSettings, cache_of
from coherence.llm.counting import Tally, count_tokens
from coherence.llm.ledger import Ledger
from coherence.llm.models import model_file, model_of
from coherence.llm.prices import CHARS_PER_TOKEN, Tokens, price_of, tokens_in
from coherence.llm.request import Request
from coherence.llm.store import Reply
from coherence.paraphrase.llm import RewriterSettings
from coherence.records import Record
from coherence.sampling.asking import ModelSettings

Asked = LlmSettings | RewriterSettings | ModelSettings

REPLY_TOKENS: Final = 900  # a reply with one or two spans, where no stored reply tells
REPLY_FACTOR: Final = 2.0  # replies may on average be half or twice as long as assumed


class Outlook(Record, frozen=True):
    """What one judge still has to ask about one dataset; dollars are None without a price.

    `dollars` takes the replies to be of the usual length, `most` to run to `max_tokens`.
    """

    dataset: str
    judge: str
    model: str
    asked: int
    missing: int
    tokens: Tokens
    basis: str
    reply_tokens: float
    remarks: tuple[str, ...]
    dollars: Tokens | None = None
    most: float | None = None
    batch: float | None = None


class Watcher:
    """Takes in what a judge asks: how much is stored, and what is not."""

    def __init__(self) -> None:
        self.missing = Tally()
        self.stored = 0
        self._seen: set[str] = set()
        self._reply_tokens = 0

    def __call__(self, key: str, request: Request, sample: int, reply: Reply | None) -> None:
        """Take in one request; equal ones are sent once."""
        if key in self._seen:
            return
        self._seen.add(key)
        if reply is None:
            self.missing.add(key, request)
            return
        self.stored += 1
        tokens = reply.usage.get("output_tokens")
        self._reply_tokens += tokens if isinstance(tokens, int) else REPLY_TOKENS

    @property
    def reply_tokens(self) -> float:
        """The mean length of the stored replies, else the length assumed."""
        return self._reply_tokens / self.stored if self.stored else REPLY_TOKENS


def outlook(asking: Asking, offline: bool) -> Outlook:
    """Return what is still to be asked about a dataset."""
    seen, section = Watcher(), asking.section
    asking.asker.rehearse(asking.transcripts(), seen)
    connection = asking.connection(offline or section.offline)
    counts, why_not = count_tokens(seen.missing.chosen, connection)
    n = seen.missing.requests
    tokens = seen.missing.tokens(section.model, counts)
    counted = f"counted by the API ({len(counts)} of {n})"
    estimated = f"estimated from characters ({CHARS_PER_TOKEN} a token)" + (why_not and f": {why_not}")
    return Outlook(
        dataset=asking.dataset,
        judge=asking.name,
        model=section.model,
        asked=n + seen.stored,
        missing=n,
        tokens=tokens,
        basis=counted if counts else estimated,
        reply_tokens=seen.reply_tokens,
        **dollars_of(section, tokens, n, seen.reply_tokens),
        remarks=tuple(remarks(section, seen.missing.longest)),
    )


def dollars_of(section: Asked, tokens: Tokens, requests: int, reply_tokens: float) -> dict[str, Any]:
    """Return the dollars of an outlook; at the bounds both tokens and length of the replies are at theirs."""
    prices = section.prices or model_of(section.model).prices
    if prices is None:
        return {}
    received = requests * reply_tokens
    dollars = Tokens(
        price_of(prices, tokens.value, received),
        price_of(prices, tokens.low, received / REPLY_FACTOR),
        price_of(prices, tokens.high, received * REPLY_FACTOR),
    )
    most = price_of(prices, tokens.high, requests * section.max_tokens)
    return {"dollars": dollars, "most": most, "batch": dollars.value * prices.batch}


def remarks(section: Asked, longest: int) -> Iterator[str]:
    """Yield what is known to go against the settings or the model."""
    model = model_of(section.model)
    if model.lifecycle is not None:
        yield f"{section.model} is {model.lifecycle}; its successor is {model.successor or 'not known'}"
    if model.sampling is False and section.temperature is not None:
        yield f"{section.model} takes no temperature: every request will be turned away"
    if model.max_output is not None and section.max_tokens > model.max_output:
        yield f"max_tokens is above the {model.max_output:,} that {section.model} can write"
    tokens = tokens_in(longest, section.model)
    if model.context is not None and tokens.high + section.max_tokens > model.context:
        yield f"the longest request may not fit the context window of {model.context:,} tokens"
    cache = cache_of(section) if isinstance(section, LlmSettings) else section.cache
    if cache != "none":
        yield (f"with the prompt cache ({cache}) what requests share costs less: the figures are without it")


def text_of(found: Outlook) -> str:
    """Return the lines of one judge and dataset."""
    head = f"{found.dataset} / {found.judge} ({found.model})"
    lines = [f"{found.missing:,} of {found.asked:,} requests still to be sent"]
    if found.missing:
        tokens = found.tokens
        lines.append(
            f"{tokens.value:,.0f} tokens to send ({tokens.low:,.0f} to {tokens.high:,.0f}), {found.basis}; "
            f"{found.reply_tokens:,.0f} tokens a reply assumed"
        )
        lines.append(money(found))
    return "\n  ".join([head, *lines, *(f"note: {remark}" for remark in found.remarks if found.missing)])


def money(found: Outlook) -> str:
    """Return the cost of one judge and dataset as a sentence."""
    if found.dollars is None:
        return f"cost unknown: no price is listed for {found.model}; give the judge `prices`"
    value = found.dollars
    return (
        f"about ${value.value:,.2f} (${value.low:,.2f} to ${value.high:,.2f}; if every reply runs to "
        f"max_tokens ${found.most or 0:,.2f}); as a batch about ${found.batch or 0:,.2f}"
    )


def total(config: Config, found: list[Outlook]) -> str:
    """Return the sum and what has been spent so far."""
    known = [each.dollars for each in found if each.dollars is not None]
    unknown = sum(each.missing > 0 and each.dollars is None for each in found)
    ledger = Ledger(Layout(config).ledger)
    value, low, high = (sum(getattr(each, part) for each in known) for part in ("value", "low", "high"))
    budget = "none" if config.budget_usd is None else f"${config.budget_usd:,.2f}"
    left_out = f", {unknown} of unknown price left out" if unknown else ""
    return (
        f"in all about ${value:,.2f} (${low:,.2f} to ${high:,.2f}){left_out}; list prices of "
        f"{model_file().date}\nspent so far ${ledger.spent():,.2f} ({ledger.path}); budget {budget}"
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_dataset_arguments(parser)
    parser.add_argument("--offline", action="store_true", help="do not ask the API to count tokens")


def run(args: argparse.Namespace) -> int:
    """Print the outlook of each judge and paraphraser that calls a model, and each dataset."""
    config = config_of(args)
    found, later = list[Outlook](), list[str]()
    for dataset in each_dataset(config, args):
        for asking in askings(config, dataset):
            try:
                found.append(outlook(asking, args.offline or config.offline))
            except InputError as error:
                if not asking.waits:
                    raise
                later.append(f"{dataset} / {asking.name}: cannot be told yet, {error}")
    asked = [*map(text_of, found), *later]
    text = "\n".join([*asked, total(config, found)]) if asked else "no judge calls a model: $0"
    print(text)  # noqa: T201 - the command's answer
    return 0
