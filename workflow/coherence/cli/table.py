"""`coherence table`: outcomes, features and judgements joined, a row a trajectory; and the spans."""

import argparse

from coherence.cli.arguments import add_dataset_arguments, config_of, each_dataset, say
from coherence.cli.loading import Loaded
from coherence.evaluation.render import write_records
from coherence.evaluation.spans import span_rows, write_spans
from coherence.evaluation.table import cells, columns


def write_table(loaded: Loaded) -> None:
    """Write table.csv, spans.csv and spans.jsonl of one dataset."""
    folder = loaded.layout.dataset(loaded.name)
    rows = loaded.rows()
    write_records(folder / "table.csv", (cells(row) for row in rows), columns(rows))
    simulated = loaded.config.datasets[loaded.name].simulated
    spans = list(span_rows(loaded.all_judgements, rows, simulated))
    write_spans(spans, folder)
    say(f"table {loaded.name}: {len(rows)} trajectories, {len(spans)} spans")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_dataset_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Write the table of one dataset or all of them."""
    config = config_of(args)
    for name in each_dataset(config, args):
        write_table(Loaded(config, name))
    return 0
