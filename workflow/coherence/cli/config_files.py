"""Config files: read, merged, checked; what is wrong is told by key."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import reduce
from pathlib import Path
from typing import Any

import msgspec
import yaml

from coherence.cli.config import Config
from coherence.cli.config_checks import check
from coherence.errors import ConfigError
from coherence.files import digest

KINDS = {"judges": "llm, recorded, rules", "paraphrases": "llm, recorded, removed, rules"}


def schema() -> dict[str, Any]:
    """Return the JSON schema of the config."""
    made = msgspec.json.encode(msgspec.json.schema(Config))  # defaults as JSON has them: lists, no tuples
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.decode(made)}


def leaves(error: Any) -> list[Any]:
    """Return the errors inside a union's error that belong to the branch the value's `kind` chooses."""
    if error.validator != "anyOf" or not isinstance(error.instance, dict):
        return [error]
    wrong_kind = [inner for inner in error.context if list(inner.path) == ["kind"]]
    strangers = {inner.schema_path[0] for inner in wrong_kind}
    chosen = [inner for inner in error.context if inner.schema_path[0] not in strangers]
    return chosen or [error]


def line(error: Any) -> str:
    """Return one error as "key: what is wrong"."""
    where = ".".join(str(part) for part in error.absolute_path) or "top level"
    if error.validator == "anyOf" and isinstance(error.instance, dict):
        kinds = KINDS.get(str(error.absolute_path[0]), "those of the schema")
        return f"{where}.kind: must be one of {kinds}, not {error.instance.get('kind')!r}"
    return f"{where}: {error.message}{meant(error)}"


def meant(error: Any) -> str:
    """Return which known keys were perhaps meant by unknown ones, "" where none is near."""
    if error.validator != "additionalProperties" or not isinstance(error.instance, dict):
        return ""
    known = [*error.schema.get("properties", {})]
    strangers = [str(key) for key in error.instance if key not in known]
    near = [f"{found[0]!r}" for key in strangers if (found := get_close_matches(key, known, 1))]
    return f"; did you mean {', '.join(near)}?" if near else ""


def explain(raw: Any, fallback: str) -> str:
    """Return the offending keys and why, one line each, as the JSON schema sees it."""
    import jsonschema  # noqa: PLC0415 - only a broken config pays for the import

    errors = sorted(jsonschema.Draft202012Validator(schema()).iter_errors(raw), key=lambda e: list(e.path))
    return "\n  ".join(line(leaf) for error in errors for leaf in leaves(error)) or fallback


def parse(raw: Any, origin: str) -> Config:
    """Return the typed config of a plain mapping; raise ConfigError naming each bad key."""
    try:
        config = msgspec.convert(raw, Config)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{origin}:\n  {explain(raw, str(error))}") from error
    check(config, origin)
    return config


def read(paths: Sequence[Path], missing: Mapping[str, Any] | None = None) -> Config:
    """Read YAML or JSON files, each merged over those before it as `snakemake --configfile A B` does.

    `missing` stands for top-level keys that none of them has.
    """
    read_in = [_raw(path) for path in paths]
    origin = ", ".join(map(str, paths))
    if not all(isinstance(raw, dict) for raw in read_in):
        return parse(next(raw for raw in read_in if not isinstance(raw, dict)), origin)
    return parse({**(missing or {}), **reduce(merged, read_in)}, origin)


def _raw(path: Path) -> Any:
    try:
        return yaml.safe_load(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: there is no such config file; name one with --config") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: cannot be read as YAML: {error}") from error


def merged(below: Any, above: Any) -> Any:
    """Return two configs as one: mappings key by key, else what is above."""
    if not isinstance(below, dict) or not isinstance(above, dict):
        return above
    return below | {key: merged(below[key], value) if key in below else value for key, value in above.items()}


def config_digest(config: Config) -> str:
    """Return the digest that names a resolved config."""
    return digest(msgspec.json.encode(config))
