"""`coherence sample --dry-run`: what would be asked or run, without doing it."""

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from coherence.cli.estimate import Outlook, Watcher, dollars_of, remarks
from coherence.cli.estimate import text_of as outlook_text
from coherence.cli.judge_file import one_line
from coherence.cli.sample_config import SampleConfig
from coherence.errors import ConfigError
from coherence.llm.ledger import Ledger
from coherence.llm.models import model_file
from coherence.llm.prices import CHARS_PER_TOKEN
from coherence.sampling.asking import ModelSettings
from coherence.sampling.command import CommandSampler
from coherence.sampling.command_settings import CommandSettings, check_allowed
from coherence.sampling.items import Item
from coherence.sampling.model import ModelSampler

SHOWN: Final = 20  # commands
LONGEST: Final = 200  # characters of a command


def rehearsal(config: SampleConfig, items: Sequence[Item], sampler: ModelSampler | CommandSampler) -> str:
    """Return what drawing would do, as text."""
    most = " at the most, for the rule may stop sooner" if config.stopping else ""
    head = f"{config.name}: {len(items)} items x {config.samples} samples{most}; nothing was sent or run"
    if isinstance(sampler, ModelSampler):
        assert config.model is not None  # noqa: S101 - it made the sampler
        lines = asked(config, config.model, items, sampler)
    else:
        assert config.command is not None  # noqa: S101 - as above
        lines = would_run(config, config.command, items, sampler)
    return "\n".join([head, *lines])


def asked(
    config: SampleConfig, model: ModelSettings, items: Sequence[Item], sampler: ModelSampler
) -> Iterator[str]:
    """Yield the lines on the requests: how many are stored, how many not, and what those would cost."""
    seen = Watcher()
    for key, request, reply in sampler.rehearse(items, config.samples, config.stopping):
        seen(key, request, 0, reply)
    n = seen.missing.requests
    tokens = seen.missing.tokens(model.model, [])
    found = Outlook(
        dataset=config.name,
        judge="sample",
        model=model.model,
        asked=n + seen.stored,
        missing=n,
        tokens=tokens,
        basis=f"estimated from characters ({CHARS_PER_TOKEN} a token)",
        reply_tokens=seen.reply_tokens,
        remarks=tuple(remarks(model, seen.missing.longest)),
        **dollars_of(model, tokens, n, seen.reply_tokens),
    )
    budget = "none" if config.budget_usd is None else f"${config.budget_usd:,.2f}"
    yield f"{seen.stored:,} replies are in {config.replies} already and are replayed"
    yield outlook_text(found)
    spent = f"spent so far ${Ledger(config.ledger).spent():,.2f} ({config.ledger})"
    yield f"list prices of {model_file().date}; {spent}; budget {budget}"


def would_run(
    config: SampleConfig, command: CommandSettings, items: Sequence[Item], sampler: CommandSampler
) -> Iterator[str]:
    """Yield the lines on the commands: how many runs are kept, and those that would be made."""
    found = list(sampler.rehearse(items, config.samples, config.stopping))
    missing = [(item, arguments) for item, arguments, standing in found if standing == "missing"]
    counts = Counter(standing for *_, standing in found)
    yield f"{counts['kept']:,} runs are in {config.runs} already and are not made again"
    if counts["interrupted"]:
        n = counts["interrupted"]
        yield f"{n:,} were begun and killed and may have acted: only `--again interrupted` makes them again"
    at_once, longest = command.concurrency, command.timeout_seconds
    yield f"{len(missing):,} commands would run, {at_once} at once, each for {longest:g} s at the most:"
    for item, arguments in missing[:SHOWN]:
        shown = one_line(f"{item}: {shlex.join(arguments)}")
        yield f"  {shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + '…'}"
    if len(missing) > SHOWN:
        yield f"  ... and {len(missing) - SHOWN:,} more"
    try:
        check_allowed(command)
    except ConfigError as error:
        yield f"none of them will run as the config is: {error}"
