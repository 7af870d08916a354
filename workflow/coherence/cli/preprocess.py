"""`coherence preprocess`: normalised trajectories -> the transcripts that judges read."""

import argparse

from coherence.cli.arguments import add_shard_arguments, config_of, each_shard, say
from coherence.cli.config import Config
from coherence.cli.layout import Layout
from coherence.cli.shards import each_trajectory
from coherence.files import Memo, digest, encode, write_json, write_lines
from coherence.preprocess import Prepared, prepared, preprocess
from coherence.records import Trajectory


def preprocess_shard(config: Config, name: str, shard: int) -> None:
    """Write the transcripts of one shard and the list of them."""
    layout = Layout(config)

    def make(trajectory: Trajectory) -> Prepared:
        transcript = preprocess(trajectory, config.preprocess)
        return prepared(transcript, write_json(layout.transcript(name, transcript.id), transcript))

    def is_whole(row: Prepared) -> bool:
        return layout.transcript(name, row.id).is_file()

    stage = ("preprocess", digest(encode(config.preprocess)))
    with Memo(layout.memo(name, "preprocess", shard), Prepared) as memo:
        rows = [row for _, row in each_trajectory(layout, (name, shard), memo, stage, make, is_whole)]
    write_lines(layout.shard(name, "preprocess", shard), rows)
    say(f"preprocess {name} shard {shard}: {memo.made} transcripts written, {memo.kept} unchanged")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_shard_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Preprocess one shard or all of them."""
    config = config_of(args)
    for name, shard in each_shard(config, args):
        preprocess_shard(config, name, shard)
    return 0
