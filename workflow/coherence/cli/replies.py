"""`coherence replies`: what the store of paid replies holds, whether it is sound, and what nobody needs."""

import argparse
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from coherence.cli.arguments import add_config_argument, config_of, printable, say
from coherence.cli.asking import askings
from coherence.cli.config import Config
from coherence.cli.layout import Layout
from coherence.errors import ConfigError, InputError
from coherence.files import read_json
from coherence.judges.hearing import is_overflow
from coherence.llm.request import Request, store_key
from coherence.llm.store import Failure, Reply, ReplyStore, key_of
from coherence.sampling.asking import asks_an_item

OLD_FAILURE_DAYS = 30


class Group(msgspec.Struct):
    """The replies of one model."""

    replies: int = 0
    size: int = 0
    first: str = "9999"
    last: str = ""

    def add(self, reply: Reply, size: int) -> None:
        """Count one reply."""
        self.replies += 1
        self.size += size
        self.first, self.last = min(self.first, reply.time), max(self.last, reply.time)


def show(text: str) -> None:
    """Print a line of the command's answer."""
    print(printable(text))  # noqa: T201 - the command's answer; a server names its model as it likes


def list_replies(store: ReplyStore) -> int:
    """Print how many replies of which models there are, from when, and how large."""
    groups: dict[str, Group] = {}
    unreadable = 0
    for path in store.replies():
        try:
            reply = read_json(path, Reply)
        except InputError:
            unreadable += 1
            continue
        groups.setdefault(reply.model, Group()).add(reply, path.stat().st_size)
    for model, group in sorted(groups.items()):
        show(
            f"{model}: {group.replies:,} replies, {group.size:,} bytes, "
            f"{group.first[:10]} to {group.last[:10]}"
        )
    failures = sum(1 for _ in store.failures())
    show(f"{store.root}: {failures:,} failed attempts, {unreadable:,} unreadable files")
    return 0


def fault_of(path: Path) -> str | None:
    """Return what is wrong with a reply's file, or None."""
    try:
        reply = read_json(path, Reply)
    except InputError as error:
        return str(error)
    key = store_key(reply.request, reply.sample)
    if not key == reply.key == key_of(path):
        return f"{path}: is not the reply to the request it holds, whose key is {key}"
    return None if path.parent.name == key[:2] else f"{path}: lies in the wrong folder"


def verify(store: ReplyStore) -> int:
    """Print every file that is not what its name says; return 1 if there is one."""
    checked, bad = 0, 0
    for path in store.replies():
        checked += 1
        fault = fault_of(path)
        if fault is not None:
            bad += 1
            show(fault)
    show(f"{store.root}: {checked:,} replies, {bad:,} of them bad")
    return 1 if bad else 0


def needed(config: Config) -> set[str]:
    """Return the keys of all requests of the config; raise InputError where they cannot be told."""
    keys: set[str] = set()

    def watch(key: str, request: Request, sample: int, reply: Reply | None) -> None:
        keys.add(key)

    for dataset in config.datasets:
        for asking in askings(config, dataset):
            asking.asker.rehearse(asking.transcripts(), watch)
    return keys


def unneeded(store: ReplyStore, keys: set[str], before: str) -> Iterator[Path]:
    """Yield the judges' replies that are not needed, and failures: those too that are answered by now or old.

    A refusal as too long stays: a replay learns from it, and from nothing else, that there are parts.
    Replies that `coherence sample` has paid for are left alone: no workflow's config tells of them.
    """
    for path in store.replies():
        if key_of(path) not in keys and not is_a_sample(path):
            yield path
    for path in store.failures():
        key = key_of(path)
        if store.path(key).exists() or ((key not in keys or is_older(path, before)) and not is_refusal(path)):
            yield path


def is_a_sample(path: Path) -> bool:
    """Return whether a reply is a sample of an item; one that cannot be read is not."""
    try:
        return asks_an_item(read_json(path, Reply).request)
    except InputError:
        return False


def is_older(path: Path, before: str) -> bool:
    """Return whether a failure is from before a time; one that cannot be read is kept."""
    try:
        return read_json(path, Failure).time < before
    except InputError:
        return False


def is_refusal(path: Path) -> bool:
    """Return whether a failure says that a request was too long."""
    try:
        return is_overflow(read_json(path, Failure))
    except InputError:
        return False


def prune(config: Config, store: ReplyStore, days: int, delete: bool) -> int:
    """Print, or with `delete` remove, what the config's judges do not need."""
    keys = needed(config)
    if not keys:
        raise ConfigError("replies prune: no judge of this config asks a model, so every reply would go")
    before = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")
    paths = list(unneeded(store, keys, before))
    size = sum(path.stat().st_size for path in paths)
    for path in paths:
        if delete:
            path.unlink(missing_ok=True)
        else:
            show(str(path))
    what = f"{len(paths):,} files, {size:,} bytes, that this config does not need"
    say(f"removed {what}" if delete else f"{what}; other configs may need them. `--yes` removes them")
    return 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("action", choices=("list", "verify", "prune"))
    add_config_argument(parser)
    parser.add_argument("--yes", action="store_true", help="prune: remove the files instead of naming them")
    parser.add_argument(
        "--failure-days",
        type=int,
        default=OLD_FAILURE_DAYS,
        help="prune: failed attempts older than this go too (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> int:
    """List, verify or prune the store."""
    config = config_of(args)
    store = ReplyStore(Layout(config).replies)
    if args.action == "prune":
        return prune(config, store, args.failure_days, args.yes)
    return list_replies(store) if args.action == "list" else verify(store)
