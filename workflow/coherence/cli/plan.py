"""Which units there are, which shard each belongs to, and what makes a stage's work stale."""

import argparse
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from coherence import formats
from coherence.cli.arguments import add_dataset_arguments, config_of, each_dataset, say
from coherence.cli.config import Config, Dataset
from coherence.cli.layout import Layout
from coherence.errors import ConfigError, InputError
from coherence.files import digest, encode, read_lines, write_bytes
from coherence.formats import Source, Unit
from coherence.records import Record

# What each stage's work rests on: modules and data files of the package, by path.
CODE: Final[dict[str, tuple[str, ...]]] = {
    "ingest": ("records.py", "files.py", "vocabulary.py", "formats", "cli/ingest.py"),
    "preprocess": ("records.py", "preprocess.py", "cli/preprocess.py"),
    "features": ("records.py", "features", "cli/features.py"),
    "judge": ("records.py", "vocabulary.py", "judges", "llm", "cli/judge.py"),
    "gather": ("records.py", "evaluation/attrition.py", "cli/gather.py"),
    "table": ("records.py", "features/__init__.py", "evaluation", "cli/table.py"),
    "evaluate": ("evaluation", "stats", "cli/evaluate.py"),
    "figures": ("evaluation", "stats", "figures", "cli/figures.py"),
    "report": ("report", "cli/report.py"),
}
PACKAGE: Final = Path(__file__).parents[1]


@cache
def code_digest(stage: str) -> str:
    """Return the digest of the package files a stage uses."""
    paths = [PACKAGE / name for name in CODE[stage]]
    found = sorted(
        file
        for path in paths
        for file in (path.rglob("*") if path.is_dir() else [path])
        if file.is_file() and file.suffix != ".pyc"
    )
    return digest(
        *(part for file in found for part in (file.relative_to(PACKAGE).as_posix(), file.read_bytes()))
    )


class Planned(Record, frozen=True):
    """A unit and the dataset path it lies under."""

    root: str
    unit: Unit

    @property
    def item(self) -> str:
        """The unit's name in its dataset."""
        return f"{self.root}/{self.unit.key}"


def shard_of(key: str, shards: int) -> int:
    """Return the shard of a unit: a hash of its relative path, so that other units do not matter."""
    return int(digest(key)[:8], 16) % shards


def source_of(dataset: Dataset, name: str, root: str) -> Source:
    """Return what a format needs to know of the dataset."""
    return Source(
        dataset=name,
        root=root,
        backbone=dataset.backbone,
        scaffold=dataset.scaffold,
        pass_reward=dataset.pass_reward,
        reward_key=dataset.reward_key,
        columns=dataset.columns,
        feature_columns=tuple(dataset.feature_columns),
        verdict_columns=dataset.verdict_columns,
    )


def discover(dataset: Dataset, name: str) -> Iterator[Planned]:
    """Yield the units of a dataset; raise ConfigError where a path holds none."""
    reader = formats.load(dataset.format)
    for root in dataset.roots:
        try:
            units = list(reader.discover(Path(root)))
        except InputError as error:
            raise ConfigError(f"datasets.{name}.paths: {error}") from error
        if not units:
            raise ConfigError(
                f"datasets.{name}.paths: {root}: nothing in the format {dataset.format!r} there"
            )
        yield from (Planned(root, unit) for unit in units)


def plan(config: Config, name: str) -> list[list[Planned]]:
    """Return the units of each shard of a dataset."""
    dataset = config.datasets[name]
    shards: list[list[Planned]] = [[] for _ in range(dataset.shards)]
    for planned in discover(dataset, name):
        shards[shard_of(planned.unit.key, dataset.shards)].append(planned)
    return shards


def write_plan(config: Config, name: str) -> list[list[Planned]]:
    """Write the list of units of each shard where it has changed, and return the lists."""
    layout = Layout(config)
    shards = plan(config, name)
    for number, shard in enumerate(shards):
        path = layout.shard(name, "units", number)
        data = b"".join(encode(planned) + b"\n" for planned in shard)
        if not path.is_file() or path.read_bytes() != data:
            write_bytes(path, data)
    return shards


def read_plan(config: Config, name: str, shard: int) -> list[Planned]:
    """Return the units of one shard as last planned."""
    return list(read_lines(Layout(config).shard(name, "units", shard), Planned))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_dataset_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Write the plan of one dataset or all of them."""
    config = config_of(args)
    for name in each_dataset(config, args):
        shards = write_plan(config, name)
        say(f"plan {name}: {sum(map(len, shards))} units in {len(shards)} shards")
    return 0
