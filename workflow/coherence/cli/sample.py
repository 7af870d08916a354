"""`coherence sample`: items answered repeatedly, as a table of outcomes."""

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from coherence.cli.arguments import print_safely, printable, say
from coherence.cli.sample_config import SampleConfig, read
from coherence.cli.sample_rehearsal import rehearsal
from coherence.cli.sample_shown import text_of
from coherence.errors import ConfigError, InputError
from coherence.evaluation.render import write_records
from coherence.files import write_bytes, write_lines
from coherence.incoherence.contract import COLUMNS
from coherence.llm.account import Account
from coherence.sampling.command import CommandSampler
from coherence.sampling.items import Item, read_items
from coherence.sampling.model import ModelSampler
from coherence.sampling.rows import SampledItem, by_item, marked, outcome_row, sampled, used_of
from coherence.sampling.samples import REASONS, Reason, Sample

OUTCOMES: Final = "outcomes.csv"
REPEATS: Final = (
    "the replies to each item are word for word the same, as from a fixed seed or a temperature of 0: their "
    "agreement says nothing of the model's own scatter. Look at the settings of the server."
)


def sampler_of(config: SampleConfig, again: Sequence[Reason]) -> ModelSampler | CommandSampler:
    """Return the sampler that the config describes."""
    if config.model is not None:
        account = Account(config.ledger, f"{config.name}/sample", config.budget_usd, config.model.prices)
        return ModelSampler(config.model, Path(config.replies), account)
    assert config.command is not None  # noqa: S101 - `parse` has seen to it
    return CommandSampler(config.command, Path(config.runs), again)


def write(config: SampleConfig, items: Sequence[Item], samples: Sequence[Sample]) -> list[SampledItem]:
    """Write the group's outcomes and the detail of its items and samples, and return the items'."""
    known = {item.id: item for item in items}
    used = used_of(config.samples, config.stopping)
    for_estimates = [sample for sample in samples if sample.sample < used]
    rows = (outcome_row(sample, known[sample.item], config.source) for sample in for_estimates)
    summed = [sampled(known[name], own, used, config.stopping) for name, own in by_item(samples)]
    write_records(config.group_folder / OUTCOMES, rows, COLUMNS)
    write_lines(config.group_folder / "items.jsonl", summed)
    write_lines(config.group_folder / "samples.jsonl", marked(samples, used))
    return summed


def join_groups(folder: Path) -> dict[str, int]:
    """Write the outcomes of all groups into one file, and return the number of rows in each group's folder.

    Raises InputError for a file among them that is no table of outcomes.
    """
    head = f"{','.join(COLUMNS)}\n".encode()
    bodies: dict[str, bytes] = {}
    for path in sorted(folder.glob(f"*/{OUTCOMES}")):
        data = path.read_bytes()
        if not data.startswith(head):
            what = "is no table of outcomes; delete its folder, or sample that group again"
            raise InputError(f"{path}: {what}")
        bodies[path.parent.name] = data.removeprefix(head)
    write_bytes(folder / OUTCOMES, head + b"".join(bodies.values()))
    return {name: body.count(b"\n") for name, body in bodies.items()}  # no cell holds a line break


def tell_unanswered(config: SampleConfig, samples: Sequence[Sample]) -> None:
    """Say how many samples have no outcome, and why."""
    reasons = Counter(sample.reason for sample in samples if sample.reason is not None)
    whole = len(samples) - reasons.total()
    say(f"sample {config.name}: {len(samples)} samples, {whole} answered, {reasons.total()} not")
    for reason, n in sorted(reasons.items()):
        first = next(sample for sample in samples if sample.reason == reason)
        detail = f"; first {first.item} sample {first.sample}: {first.detail}" if first.detail else ""
        say(f"  {n} {reason}: {REASONS[reason]}{detail}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--config", type=Path, required=True, help="the sampling's own YAML file")
    parser.add_argument(
        "--dry-run", action="store_true", help="list what would be asked or run, and do nothing"
    )
    parser.add_argument(
        "--again",
        nargs="+",
        default=[],
        metavar="REASON",
        help="run commands again whose run ended for one of these reasons (timeout, exit, ...)",
    )


def again_of(config: SampleConfig, names: Sequence[str]) -> list[Reason]:
    """Return the reasons whose runs are to be made again; raise ConfigError for one that is none."""
    known: list[Reason] = [reason for reason in REASONS if reason in names]
    strangers = sorted(set(names) - set(known))
    if strangers:
        raise ConfigError(f"--again {strangers[0]}: the reasons are {', '.join(REASONS)}")
    if names and config.command is None:
        raise ConfigError("--again is for commands; requests that failed are asked again anyway")
    return known


def run(args: argparse.Namespace) -> int:
    """Draw the samples; return 1 where none has an outcome."""
    config = read(args.config)
    sampler = sampler_of(config, again_of(config, args.again))
    items = read_items(Path(config.items), targets=config.model is not None)
    if args.dry_run:
        print_safely(printable(rehearsal(config, items, sampler)))
        return 0
    samples = list(sampler.draw(items, config.samples, config.stopping))
    summed = write(config, items, samples)
    tell_unanswered(config, samples)
    if isinstance(sampler, ModelSampler) and sampler.repeats_itself:
        say(f"sample {config.name}: {REPEATS}")
    print_safely(printable(text_of(config, summed, join_groups(config.folder))))
    return int(all(sample.reason is not None for sample in samples))
