"""Arguments and messages the commands share."""

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from coherence.cli.config import Config
from coherence.cli.config_files import read
from coherence.errors import ConfigError

DEFAULT_CONFIG = "config/config.yaml"
CONFIG_VARIABLE = "COHERENCE_CONFIG"


def printable(text: str) -> str:
    """Return the text with control characters as escapes: what it quotes may be hostile."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


def say(text: str) -> None:
    """Tell the user something on stderr."""
    print(printable(text), file=sys.stderr, flush=True)  # noqa: T201 - the command line's own voice


def print_safely(text: str) -> None:
    """Print to a terminal of any encoding."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding))  # noqa: T201 - the command's answer


def default_config() -> Path:
    """Return the config that is read where none is named."""
    return Path(os.environ.get(CONFIG_VARIABLE, DEFAULT_CONFIG))


def add_config_argument(parser: argparse.ArgumentParser) -> None:
    """Declare `--config`."""
    told = f"again: a file merged over the one before; default: ${CONFIG_VARIABLE}, else {DEFAULT_CONFIG}"
    parser.add_argument("--config", type=Path, action="append", help=told)
    parser.set_defaults(is_of_workflow=True)  # what it reads, stages of the workflow make


def add_dataset_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare `--config` and `--dataset`."""
    add_config_argument(parser)
    parser.add_argument("--dataset", help="one dataset of the config (default: all)")


def add_shard_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare `--config`, `--dataset` and `--shard`."""
    add_dataset_arguments(parser)
    parser.add_argument("--shard", type=int, help="one shard of the dataset (default: all)")


def config_of(args: argparse.Namespace) -> Config:
    """Read the config the command was given."""
    config: Config = read(args.config or [default_config()])
    return config


def whole_run(args: argparse.Namespace) -> str:
    """Return the line of a shell that runs the whole workflow with the config the command was given."""
    told = shlex.join(map(str, args.config or ()))
    return f"snakemake --cores 8{f' --configfile {told}' if told else ''}"


def each_dataset(config: Config, args: argparse.Namespace) -> Iterator[str]:
    """Yield the datasets the command was asked for."""
    if args.dataset is not None and args.dataset not in config.datasets:
        raise ConfigError(f"--dataset {args.dataset}: not in the config; known: {', '.join(config.datasets)}")
    yield from [args.dataset] if args.dataset is not None else config.datasets


def each_shard(
    config: Config, args: argparse.Namespace, prepare: Callable[[Config, str], Any] | None = None
) -> Iterator[tuple[str, int]]:
    """Yield the (dataset, shard) pairs the command was asked for; `prepare` runs first where all are."""
    for name in each_dataset(config, args):
        shards = config.datasets[name].shards
        if args.shard is not None and not 0 <= args.shard < shards:
            raise ConfigError(f"--shard {args.shard}: dataset {name} has shards 0 to {shards - 1}")
        if args.shard is None and prepare is not None:
            prepare(config, name)
        yield from ((name, shard) for shard in (range(shards) if args.shard is None else [args.shard]))


def each_judge(config: Config, dataset: str, judge: str | None) -> list[str]:
    """Return the judge the command was asked for, or all of the dataset's."""
    known = config.judges_of(dataset)
    if judge is not None and judge not in known:
        raise ConfigError(f"--judge {judge}: the judges of dataset {dataset} are {', '.join(known)}")
    return known if judge is None else [judge]


def each_prefixed(config: Config, dataset: str, judge: str | None) -> list[str]:
    """Return the judge the command was asked for, or all that judge prefixes of the dataset."""
    known = config.prefixes_of(dataset)
    if judge is not None and judge not in known:
        told = ", ".join(known) or "none; name it under `prefixes`"
        raise ConfigError(f"--judge {judge}: the judges of prefixes of dataset {dataset} are {told}")
    return known if judge is None else [judge]
