"""`coherence figures`: each dataset's figures, from the evaluation."""

import argparse

from coherence.cli.arguments import add_config_argument, config_of, say
from coherence.cli.layout import Layout
from coherence.evaluation.evaluate import Evaluation
from coherence.figures.forest import forest
from coherence.figures.lead_time import lead_time
from coherence.figures.style import save
from coherence.files import read_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_config_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Draw the figures of every dataset."""
    config = config_of(args)
    layout = Layout(config)
    evaluation = read_json(layout.evaluation, Evaluation)
    for name in config.datasets:
        rates = [row for row in evaluation.failure_rates if row.reading.dataset == name]
        times = [row for row in evaluation.lead_times if row.dataset == name]
        save(forest(rates), layout.figures, f"{name}.gaps")
        save(lead_time(times, evaluation.first_flags), layout.figures, f"{name}.lead-time")
    say(f"figures: {2 * len(config.datasets)} figures in {layout.figures}")
    return 0
