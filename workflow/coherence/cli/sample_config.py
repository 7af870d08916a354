"""The settings of `coherence sample`, typed; `config/README.md` explains every key."""

import re
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import yaml
from msgspec import Meta

from coherence.cli.config_checks import NAME
from coherence.cli.config_files import line
from coherence.cli.sections import Positive, Section
from coherence.errors import ConfigError
from coherence.files import digest
from coherence.incoherence.stopping import Rule
from coherence.sampling.asking import ModelSettings
from coherence.sampling.command_settings import CommandSettings
from coherence.sampling.rows import Source

LONGEST_FOLDER: Final = 60  # characters


class SampleConfig(Section, frozen=True):
    """One set of items, sampled from a model or from a command."""

    name: str
    items: str
    samples: Positive
    model: ModelSettings | None = None
    command: CommandSettings | None = None
    stopping: Rule | None = None
    group: str | None = None
    scaffold: str | None = None
    backbone: str | None = None
    results: str = "results"
    replies: str = "results/replies"
    runs: str = "results/runs"
    budget_usd: Annotated[float, Meta(ge=0)] | None = None

    @property
    def source(self) -> Source:
        """Whose samples these are; where nothing says which group, it is the sampling's name."""
        backbone = self.backbone or (self.model.model if self.model else None)
        group = self.group or " + ".join(filter(None, (self.scaffold, backbone))) or self.name
        return Source(self.name, group, self.scaffold, backbone)

    @property
    def folder(self) -> Path:
        """Where the outcomes of all groups are, each group's own in a folder below."""
        return Path(self.results) / "samples" / self.name

    @property
    def group_folder(self) -> Path:
        """Where what this group gave is written."""
        group = self.source.group
        plain = re.sub(r"[^A-Za-z0-9.+-]+", "-", group)[:LONGEST_FOLDER].strip(".-")
        return self.folder / (plain if plain == group else f"{plain}-{digest(group)[:8]}")

    @property
    def ledger(self) -> Path:
        """The ledger of the results folder."""
        return Path(self.results) / "ledger.csv"


def schema() -> dict[str, Any]:
    """Return the JSON schema of the config."""
    made: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(msgspec.json.schema(SampleConfig)))
    return made


def explained(raw: Any, fallback: str) -> str:
    """Return the offending keys and why, one line each, as the JSON schema sees it."""
    import jsonschema  # noqa: PLC0415 - only a broken config pays for the import

    errors = sorted(jsonschema.Draft202012Validator(schema()).iter_errors(raw), key=lambda e: list(e.path))
    found = [leaf for error in errors for leaf in leaves(error)]
    told = [fallback if leaf.validator == "anyOf" else line(leaf) for leaf in found]
    return "\n  ".join(dict.fromkeys(told)) or fallback


def leaves(error: Any) -> list[Any]:
    """Return the errors inside a union's error, those left out that belong to another kind of value."""
    if error.validator != "anyOf":
        return [error]
    others = {
        inner.schema_path[0]
        for inner in error.context
        if (inner.validator == "type" and not inner.path) or list(inner.path) == ["rule"]
    }
    own = [inner for inner in error.context if inner.schema_path[0] not in others]
    return [leaf for inner in own for leaf in leaves(inner)] or [error]


def parse(raw: Any, origin: str) -> SampleConfig:
    """Return the typed config of a plain mapping; raise ConfigError naming each bad key."""
    try:
        config = msgspec.convert(raw, SampleConfig)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{origin}:\n  {explained(raw, str(error))}") from error
    if not NAME.fullmatch(config.name):
        raise ConfigError(
            f"{origin}: name: {config.name!r} must have lower-case letters, digits, '.' and '-' only"
        )
    if (config.model is None) == (config.command is None):
        raise ConfigError(f"{origin}: give `model` to ask a model or `command` to run one, one of them")
    check_names(config, origin)
    check_model(config, origin)
    return config


def check_names(config: SampleConfig, origin: str) -> None:
    """Raise ConfigError for a name that could not stand in a table."""
    for key in ("group", "scaffold", "backbone"):
        name = getattr(config, key)
        if name is not None and not (name.strip() and name.isprintable()):
            raise ConfigError(f"{origin}: {key}: {name!r} must be printable and not empty")


def check_model(config: SampleConfig, origin: str) -> None:
    """Raise ConfigError for settings that go against each other."""
    batch = config.model is not None and config.model.mode == "batch"
    if batch and config.stopping is not None:
        raise ConfigError(
            f"{origin}: model.mode: `batch` draws all samples at once; leave `stopping` or `mode: batch` out"
        )
    if config.command is not None and config.budget_usd is not None:
        raise ConfigError(
            f"{origin}: budget_usd: what a command spends is not known beforehand; limit it in the command"
        )


def read(path: Path) -> SampleConfig:
    """Read a YAML or JSON file."""
    try:
        raw = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: cannot be read as YAML: {error}") from error
    return parse(raw, str(path))
