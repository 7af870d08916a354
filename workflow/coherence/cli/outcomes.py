"""`coherence outcomes`: repeated attempts and judge samples, from wherever they come, in one table."""

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from coherence.cli.arguments import add_config_argument, config_of, say
from coherence.cli.config import Config
from coherence.cli.layout import Layout
from coherence.cli.loading import Loaded
from coherence.cli.sections import OutcomeSet
from coherence.evaluation.outcome_sets import OutcomeSet as Described
from coherence.evaluation.outcome_sets import counted_table, describe, table
from coherence.evaluation.render import write_table
from coherence.files import write_json
from coherence.incoherence.contract import Kind
from coherence.incoherence.from_runs import first_samples, from_entries, from_judgements
from coherence.incoherence.outcomes import Outcomes
from coherence.incoherence.reading import read_outcomes
from coherence.incoherence.source import OutcomeSource
from coherence.incoherence.storing import write_outcomes


class Part(NamedTuple):
    """The outcomes of one dataset, the kind asked for, and what its config says of it."""

    name: str
    outcomes: Outcomes
    kind: Kind | None = None
    simulated: str = ""
    notes: str = ""


def source_of(name: str, section: OutcomeSet) -> OutcomeSource:
    """Return how a file of the config is read."""
    return OutcomeSource(
        name=name,
        columns={str(field): column for field, column in section.columns.items()},
        groups=None if section.groups is None else tuple(section.groups),
        kind=section.kind,
        null_as=section.null_as,
        pass_reward=section.pass_reward,
        scaffold=section.scaffold,
        backbone=section.backbone,
    )


def parts(config: Config) -> Iterator[Part]:
    """Yield the outcomes of each file of the config, of each dataset, and of each judge asked repeatedly."""
    for name, section in config.outcomes.items():
        outcomes = read_outcomes(Path(section.path), source_of(name, section))
        yield Part(name, outcomes, section.kind, section.simulated, section.notes)
    for name, dataset in config.datasets.items():
        loaded = Loaded(config, name)
        told = (dataset.simulated, dataset.notes)
        found = from_entries(name, loaded.entries, loaded.exclusions, loaded.tests)
        yield Part(name, found, config.incoherence.kinds.get(name), *told)
        for judge, outcomes in samples(loaded):
            yield Part(f"{name} judged by {judge}", outcomes, None, *told)


def samples(loaded: Loaded) -> Iterator[tuple[str, Outcomes]]:
    """Yield the samples of each judge that was asked more than once."""
    reference = loaded.config.incoherence.reference
    labels = first_samples(loaded.all_judgements.get(reference, ())) if reference else None
    for judge, words in loaded.all_judgements.items():
        if any(word.sample for word in words) and judge != reference:
            yield judge, from_judgements(loaded.name, judge, words, labels)


def described(found: Iterable[Part], rows: list[Described]) -> Iterator[pd.DataFrame]:
    """Yield the table of each part, and add to the rows what it is."""
    for part in found:
        frame, counted = part.outcomes
        rows.append(describe(part.name, frame, counted, part.kind, (part.simulated, part.notes)))
        yield frame


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_config_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Write the outcomes, what they are, and what was left out of them."""
    config = config_of(args)
    layout = Layout(config)
    rows: list[Described] = []
    write_outcomes(layout.outcomes, described(parts(config), rows))
    write_json(layout.outcome_sets, rows)
    made = (table(rows), counted_table(rows))
    for one in made:
        write_table(one, layout.tables)
    write_json(layout.outcomes_shown, made)
    repeated = [row.attempts for row in rows if row.attempts]
    say(f"outcomes: {sum(repeated):,} attempts of {len(repeated)} datasets in {layout.outcomes}")
    return 0
