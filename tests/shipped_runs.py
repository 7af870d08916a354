"""The table-only datasets of the default run, read and evaluated by its own settings."""

from functools import cache
from pathlib import Path

import yaml

from coherence.cli.config import Config
from coherence.cli.config_files import parse
from coherence.cli.evaluate import settings_of
from coherence.cli.plan import source_of
from coherence.evaluation.detector_pairs import DetectorPair, detector_pairs
from coherence.evaluation.failure_rates import FailureRate, failure_rate
from coherence.evaluation.groups import splits
from coherence.evaluation.table import Row, build_rows
from coherence.formats import table
from coherence.records import Entry, Judgement

ROOT = Path(__file__).parents[1]


@cache
def config() -> Config:
    """Return the config of the default run."""
    return parse(yaml.safe_load((ROOT / "config/config.yaml").read_text()), "config.yaml")


@cache
def gathered(name: str) -> tuple[list[Entry], list[Row]]:
    """Read one table-only dataset of the default run."""
    section = config().datasets[name]
    entries, words, features = [], {judge: list[Judgement]() for judge in config().judges_of(name)}, {}
    for path in section.roots:
        root = ROOT / path
        for unit in table.discover(root):
            for reading in table.read(root, unit, source_of(section, name, path)):
                entries.append(Entry(reading.trial, features=reading.features))
                features[reading.trial.id] = reading.features
                for word in reading.judgements:
                    words[word.judge].append(word)
    return entries, list(build_rows(entries, features, words, {}))


def dataset(name: str) -> list[Row]:
    """Return its rows."""
    return gathered(name)[1]


@cache
def rates(name: str) -> dict[tuple[str, str], FailureRate]:
    """Return its failure rates by judge or feature and reading."""
    rows = dataset(name)
    settings = settings_of(config(), rows)
    made = [failure_rate(split, settings) for split in splits(rows, settings)]
    return {(row.reading.name, row.reading.label): row for row in made}


def readers_pair(rows: list[Row]) -> DetectorPair:
    """Return the agreement of both readers on the rows."""
    settings = settings_of(config(), rows)
    pairs = detector_pairs(tuple(splits(rows, settings)), settings)
    return next(pair for pair in pairs if (pair.first, pair.second) == ("reader", "reader-2"))
