"""`coherence batches`: the batches whose results are not yet stored, and a way to cancel one."""

import argparse

from coherence.cli.arguments import add_config_argument, config_of, printable
from coherence.cli.config import Config, LlmJudge
from coherence.cli.layout import Layout
from coherence.errors import InputError
from coherence.judges.llm import connection_of as judge_connection
from coherence.llm.batch_folder import Batch, BatchFolder
from coherence.llm.batches import BatchClient
from coherence.llm.request import Connection
from coherence.llm.store import ReplyStore


def line_of(batch: Batch) -> str:
    """Return a batch as one line of text."""
    count = f"{len(batch.keys)} request{'s' * (len(batch.keys) != 1)}"
    state = batch.id or "being created, or cut off while it was"
    return f"{state}  {batch.time}  {batch.label}  {count}"


def connection_of(config: Config, batch: Batch) -> Connection:
    """Return how the judge that made a batch is connected; the default where the config has no such judge."""
    judge = config.judges.get(batch.label.rpartition("/")[2])
    if not isinstance(judge, LlmJudge):
        return Connection()
    return judge_connection(judge, offline=False)  # to cancel is to call, whatever the judge may do


def canceled(config: Config, store: ReplyStore, batch_id: str) -> str:
    """Cancel an open batch and return what that means."""
    batches = [batch for batch in BatchFolder(store.root / "batches").open().values() if batch.id == batch_id]
    if not batches:
        raise InputError(f"{batch_id}: no open batch of {store.root}; `coherence batches list` shows them")
    state = BatchClient(store, connection_of(config, batches[0])).cancel(batch_id)
    return (
        f"{batch_id}: {state}. Replies that are ready by then are billed; the next run stores them and asks "
        "for the others anew. A run that is waiting for this batch does so at once: stop it first."
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    add_config_argument(actions.add_parser("list", help="list the batches under way, as they are on disk"))
    cancel = actions.add_parser("cancel", help="cancel one")
    cancel.add_argument("id", help="as `list` shows it")
    add_config_argument(cancel)


def run(args: argparse.Namespace) -> int:
    """List the open batches or cancel one."""
    config = config_of(args)
    store = ReplyStore(Layout(config).replies)
    if args.action == "cancel":
        print(canceled(config, store, args.id))  # noqa: T201 - the command's answer
        return 0
    folder = BatchFolder(store.root / "batches")
    lines = [line_of(batch) for batch in folder.open().values()]
    print(printable("\n".join([*lines, f"{len(lines)} under way, {folder.collected()} collected"])))  # noqa: T201
    return 0
