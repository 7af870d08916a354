"""`coherence plan`: which units there are, and which shard each belongs to."""

import argparse
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from coherence import formats
from coherence.cli.arguments import add_dataset_arguments, config_of, each_dataset, say
from coherence.cli.config import Config, Dataset
from coherence.cli.layout import Layout
from coherence.errors import ConfigError, InputError
from coherence.files import digest, encode, read_lines, write_bytes
from coherence.formats import Source, Unit, table
from coherence.formats.folders import base_of
from coherence.records import Record


class Planned(Record, frozen=True):
    """A unit, the dataset path it lies under, and (bytes, modification time) of each file: None if gone."""

    root: str
    unit: Unit
    stamps: tuple[tuple[int, int] | None, ...] = ()

    @property
    def item(self) -> str:
        """The unit's name in its dataset."""
        return f"{self.root}/{self.unit.key}"


def stamp(path: Path) -> tuple[int, int] | None:
    """Return what tells that a file may have changed."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def shard_of(key: str, shards: int) -> int:
    """Return the shard of a unit: a hash of its relative path, so that other units do not matter."""
    return int(digest(key)[:8], 16) % shards


def source_of(dataset: Dataset, name: str, root: str) -> Source:
    """Return what a format needs to know of the dataset."""
    return Source(
        dataset=name,
        root=root,
        # A path added later must not rename the trials of the first one.
        apart="" if root == dataset.roots[0] else f"{root}/",
        backbone=dataset.backbone,
        scaffold=dataset.scaffold,
        pass_reward=dataset.pass_reward,
        reward_key=dataset.reward_key,
        columns={str(field): column for field, column in dataset.columns.items()},
        feature_columns=tuple(dataset.feature_columns),
        verdict_columns={
            judge: {str(field): column for field, column in columns.items()}
            for judge, columns in dataset.verdict_columns.items()
        },
    )


def discover(dataset: Dataset, name: str) -> Iterator[Planned]:
    """Yield the units of a dataset; raise ConfigError where a path holds none."""
    reader = formats.load(dataset.format)
    for root in dataset.roots:
        try:
            units = list(reader.discover(Path(root)))
        except InputError as error:
            mend = (
                "" if Path(root).exists() else ". Put the runs there, or write in the config where they are"
            )
            raise ConfigError(f"datasets.{name}.paths: {error}{mend}") from error
        if not units:
            raise ConfigError(
                f"datasets.{name}.paths: {root}: nothing in the format {dataset.format!r} there; "
                f"`coherence inspect {shlex.quote(root)}` says what it holds"
            )
        if dataset.format == "table" and Path(root).is_file():  # in a folder, a table may be another one
            table.check_header(Path(root), units[0], source_of(dataset, name, root))
        base = base_of(Path(root))
        for unit in units:
            yield Planned(root, unit, tuple(stamp(base / name) for name in unit.files))


def plan(config: Config, name: str) -> list[list[Planned]]:
    """Return the units of each shard of a dataset."""
    dataset = config.datasets[name]
    shards: list[list[Planned]] = [[] for _ in range(dataset.shards)]
    for planned in discover(dataset, name):
        shards[shard_of(planned.unit.key, dataset.shards)].append(planned)
    return shards


def generate(dataset: Dataset, name: str) -> None:
    """Run the script that makes a dataset's files, if it has one; raise ConfigError where it fails."""
    if not dataset.generated_by:
        return
    done = subprocess.run(
        [sys.executable, *dataset.generated_by], capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode:
        said = done.stderr.strip() or f"it ended with status {done.returncode} and said nothing"
        raise ConfigError(f"datasets.{name}.generated_by: {' '.join(dataset.generated_by)} failed:\n{said}")


def write_plan(config: Config, name: str) -> list[list[Planned]]:
    """Write the list of units of each shard where it has changed, and return the lists.

    Files that a script makes are made first: what is not there yet could not be planned.
    """
    generate(config.datasets[name], name)
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
