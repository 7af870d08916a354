"""`coherence features`: normalised trajectories -> one row of cheap baselines each."""

import argparse

from coherence.cli.arguments import add_shard_arguments, config_of, each_shard, say
from coherence.cli.config import Config
from coherence.cli.layout import Layout
from coherence.cli.shards import each_trajectory, read_index
from coherence.features import measure
from coherence.files import Memo, write_lines
from coherence.records import Record


class Measured(Record, frozen=True):
    """The features of one trajectory."""

    id: str
    values: dict[str, int | float | None]


def features_shard(config: Config, name: str, shard: int) -> None:
    """Measure one shard; a table-only dataset brings its own features."""
    layout = Layout(config)
    with Memo(layout.memo(name, "features", shard), Measured) as memo:
        pairs = each_trajectory(
            layout, (name, shard), memo, ("features", ""), lambda t: Measured(t.id, measure(t))
        )
        rows = [row for _, row in pairs]
    rows += [Measured(e.trial.id, e.features) for e in read_index(layout, name, shard) if e.features]
    write_lines(layout.shard(name, "features", shard), rows)
    say(f"features {name} shard {shard}: {memo.made} trajectories measured, {memo.kept} unchanged")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_shard_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Measure one shard or all of them."""
    config = config_of(args)
    for name, shard in each_shard(config, args):
        features_shard(config, name, shard)
    return 0
