"""Input formats: one module each, and one line in `FORMATS`.

A format finds its units below a folder (`discover`) and reads one unit into readings (`read`). Reading never
raises for what a file holds: whatever is broken comes back as a trial with a status, a reason and deviations.
"""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Final, Protocol, cast

from coherence.errors import ConfigError
from coherence.records import Deviation, Judgement, Record, Trajectory, Trial, VerifierTests


class Unit(Record, frozen=True):
    """What is read at once: a trial folder, a trajectory with its segments, or a table.

    `key` is its path relative to the dataset path (identity and shard); `files`, relative too, are all that
    decide what is read, so that a workflow can watch them. `alone`: no other unit lies in its folder.
    """

    key: str
    files: tuple[str, ...]
    alone: bool = False


class Source(Record, frozen=True):
    """What the config says of the dataset a unit belongs to.

    `apart` is part of every trial's id: it keeps equal keys below several paths of one dataset apart.
    """

    dataset: str
    root: str
    apart: str = ""
    backbone: str | None = None
    scaffold: str | None = None
    pass_reward: float = 1.0
    reward_key: str | None = None
    columns: dict[str, str] = {}
    feature_columns: tuple[str, ...] = ()
    verdict_columns: dict[str, dict[str, str]] = {}


class Reading(Record, frozen=True):
    """One trial as read: its trajectory and tests where there are any, and each deviation on the way."""

    trial: Trial
    trajectory: Trajectory | None = None
    deviations: tuple[Deviation, ...] = ()
    features: dict[str, int | float | None] = {}
    judgements: tuple[Judgement, ...] = ()
    tests: VerifierTests | None = None


class Format(Protocol):
    """A module that reads one input format."""

    def discover(self, root: Path) -> Iterator[Unit]:
        """Yield the units below `root`, sorted by key; an unreadable folder is an InputError."""

    def read(self, root: Path, unit: Unit, source: Source) -> Iterator[Reading]:
        """Yield the readings of one unit; never raises for what a file holds."""


FORMATS: Final[dict[str, str]] = {
    "harbor": "coherence.formats.harbor",
    "atif": "coherence.formats.atif",
    "mini-swe-agent": "coherence.formats.mini_swe_agent",
    "tau-bench": "coherence.formats.tau_bench",
    "table": "coherence.formats.table",
}


def load(name: str) -> Format:
    """Return the module of a format, imported on first use; ConfigError names the known formats."""
    if name not in FORMATS:
        raise ConfigError(f"format: {name!r} is not known; write one of {', '.join(FORMATS)}")
    return cast(Format, import_module(FORMATS[name]))
