"""`coherence incoherence`: the analysis of repeated outcomes, over all datasets of the config."""

import argparse
from collections.abc import Iterable, Iterator

from coherence.cli.arguments import add_config_argument, config_of, say
from coherence.cli.config import Config
from coherence.cli.judges_told import rating_limits
from coherence.cli.layout import Layout
from coherence.cli.loading import Loaded
from coherence.evaluation import outcome_groups
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.incoherence_tables import evaluate_outcomes, incoherence_tables
from coherence.evaluation.meeting import Judges
from coherence.evaluation.outcome_sets import OutcomeSet
from coherence.evaluation.render import write_table
from coherence.evaluation.table import Row
from coherence.files import read_json, write_json, write_readable
from coherence.incoherence.paired import Permutations
from coherence.incoherence.storing import stored_outcomes


def settings_of(config: Config, sets: Iterable[OutcomeSet]) -> IncoherenceSettings:
    """Return what the analysis is told."""
    told = config.incoherence
    named = {name: section.kind for name, section in config.outcomes.items() if section.kind is not None}
    return IncoherenceSettings(
        estimator=told.estimator,
        permutations=Permutations(told.permutations, told.seed),
        decompositions=told.decompositions,
        kinds={name: str(kind) for name, kind in {**named, **told.kinds}.items()},
        lengths=told.lengths,
        bins=told.bins,
        pairs={name: tuple(pairs) for name, pairs in told.pairs.items()},
        weights={str(name): weight for name, weight in told.weights.items()},
        rubric_best=told.rubric_best,
        simulated={one.dataset: one.simulated for one in sets if one.simulated},
    )


def judged(config: Config, names: Iterable[str]) -> Iterator[Row]:
    """Yield the trajectories of the ingested datasets among the names."""
    for name in names:
        if name in config.datasets:
            yield from Loaded(config, name).rows()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_config_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Write the tables, and the analysis itself for the figures and the report."""
    config = config_of(args)
    layout = Layout(config)
    sets = read_json(layout.outcome_sets, tuple[OutcomeSet, ...])
    settings = settings_of(config, sets)
    frame = stored_outcomes(layout.outcomes)
    repeated = [str(name) for name in frame["dataset"].unique()]
    judges = Judges(tuple(config.judges), rating_limits(config))
    found = evaluate_outcomes(frame, settings, tuple(judged(config, repeated)), judges)
    simulated = {one.dataset: one.simulated for one in sets}
    divided = tuple(outcome_groups.groups(frame, simulated))
    made = (*incoherence_tables(found), outcome_groups.table(divided))
    for table in made:
        write_table(table, layout.tables)
    write_readable(layout.incoherence, found)
    write_json(layout.incoherence_shown, made)
    attempts = sum(row.attempts for row in divided)
    say(f"incoherence: {attempts:,} attempts, {len(made)} tables in {layout.tables}")
    return 0
