"""`coherence incoherence`: the tables of repeated outcomes, over all datasets of the config."""

import argparse
from collections.abc import Iterator

from coherence.cli.arguments import add_config_argument, config_of, say
from coherence.cli.config import Config
from coherence.cli.layout import Layout
from coherence.evaluation import outcome_groups
from coherence.evaluation.outcome_sets import OutcomeSet
from coherence.evaluation.render import Table, write_table
from coherence.files import read_json
from coherence.incoherence.storing import stored_outcomes


def tables(config: Config) -> Iterator[Table]:
    """Yield every table of the outcomes that `coherence outcomes` wrote."""
    layout = Layout(config)
    sets = read_json(layout.outcome_sets, tuple[OutcomeSet, ...])
    simulated = {one.dataset: one.simulated for one in sets}
    frame = stored_outcomes(layout.outcomes, outcome_groups.NEEDS)
    yield outcome_groups.table(tuple(outcome_groups.groups(frame, simulated)))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_config_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Write the tables."""
    config = config_of(args)
    layout = Layout(config)
    made = list(tables(config))
    for table in made:
        write_table(table, layout.tables)
    say(f"incoherence: {len(made)} tables in {layout.tables}")
    return 0
