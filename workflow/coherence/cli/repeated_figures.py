"""`coherence repeated_figures`: the figures of repeated outcomes, from their analysis."""

import argparse
from collections.abc import Callable
from typing import Final

from matplotlib.figure import Figure

from coherence.cli.arguments import add_config_argument, config_of, say
from coherence.cli.layout import Layout
from coherence.cli.sections import INGESTED
from coherence.evaluation.incoherence_tables import IncoherenceEvaluation, parted
from coherence.figures.ensembling import ensembling_curves
from coherence.figures.error_composition import error_composition
from coherence.figures.incoherence_strata import incoherence_strata
from coherence.figures.meeting import meeting
from coherence.figures.style import save
from coherence.figures.variance_components import variance_components
from coherence.files import read_json

DRAWN: Final[dict[str, Callable[[IncoherenceEvaluation], Figure]]] = {
    "composition": lambda found: error_composition(found.incoherence),
    "components": lambda found: variance_components(found.nested),
    "strata": lambda found: incoherence_strata(found.strata),
    "votes": lambda found: ensembling_curves(found.votes),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_config_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Draw the figures of every outcome file, and of all else together."""
    config = config_of(args)
    layout = Layout(config)
    found = read_json(layout.incoherence, IncoherenceEvaluation)
    for name, own in parted(found, tuple(config.outcomes), INGESTED).items():
        for kind, draw in DRAWN.items():
            save(draw(own), layout.figures, f"{name}.{kind}")
    save(meeting(found.meetings), layout.figures, "meeting")
    say(f"repeated figures: {len(DRAWN) * (len(config.outcomes) + 1) + 1} figures in {layout.figures}")
    return 0
