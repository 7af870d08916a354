"""`coherence figures`: each dataset's figures, from the evaluation."""

import argparse
from collections.abc import Callable
from typing import Final

from matplotlib.figure import Figure

from coherence.cli.arguments import add_config_argument, config_of, say
from coherence.cli.layout import Layout
from coherence.evaluation.evaluate import Evaluation, of_dataset
from coherence.evaluation.published_table import Beside
from coherence.figures.ablations import ablations
from coherence.figures.first_flag import first_flag
from coherence.figures.forest import forest
from coherence.figures.lead_time import lead_time
from coherence.figures.overlap import overlap
from coherence.figures.paraphrase import paraphrase
from coherence.figures.precision import precision
from coherence.figures.published import published
from coherence.figures.style import save
from coherence.figures.tertiles import tertiles
from coherence.figures.true_lead_time import true_lead_time
from coherence.files import read_json

DRAWN: Final[dict[str, Callable[[Evaluation], Figure]]] = {
    "gaps": lambda found: forest(found.failure_rates),
    "tertiles": lambda found: tertiles(found.thirds),
    "precision": lambda found: precision(found.precision),
    "overlap": lambda found: overlap(found.overlaps),
    "lead-time": lambda found: lead_time(found.lead_times, found.first_flags),
    "first-flag": lambda found: first_flag(found.flag_curves),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_config_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Draw the figures of every dataset."""
    config = config_of(args)
    layout = Layout(config)
    evaluation = read_json(layout.evaluation, Evaluation)
    for dataset in config.datasets:
        own = of_dataset(evaluation, dataset)
        for name, draw in DRAWN.items():
            save(draw(own), layout.figures, f"{dataset}.{name}")
        if config.prefixes_of(dataset):
            save(true_lead_time(own.watched), layout.figures, f"{dataset}.prefix")
    beside = read_json(layout.beside, tuple[Beside, ...])
    save(published(beside, evaluation.settings.simulated), layout.figures, "published")
    if config.evaluation.ablations:
        save(ablations(evaluation.ablations), layout.figures, "ablations")
    if config.paraphrases:
        save(paraphrase(evaluation.paraphrased), layout.figures, "paraphrase")
    say(f"figures: those of {len(config.datasets)} datasets, and of all, in {layout.figures}")
    return 0
