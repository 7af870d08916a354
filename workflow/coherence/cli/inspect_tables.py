"""Tables that `coherence inspect` meets: of outcomes or of verdicts, and the config that reads them."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args

import yaml

from coherence.cli.arguments import say
from coherence.cli.config import TrialField, VerdictField
from coherence.cli.inspected import ENDINGS, body, slug
from coherence.errors import InputError
from coherence.formats.folders import walk
from coherence.incoherence.contract import OutcomeField

FORMATS: Final = ("outcomes", "table")
MOST_SHOWN: Final = 20  # tables of a folder that are looked into
PASTE: Final = "To use it, save this as a config file, or add its entries to one:"
JUDGE: Final = "recorded"  # the judge whose verdicts a table holds
_VERDICTS: Final = frozenset({"flagged", "rating"})
_FIELDS: Final = frozenset(
    name for fields in (OutcomeField, TrialField, VerdictField) for name in get_args(fields)
)


class Found(NamedTuple):
    """What is said of one table, its section of the config and its entry, and if it has verdicts."""

    lines: Mapping[str, str | Iterable[str]]
    section: str
    entry: dict[str, Any]
    is_judged: bool = False


def is_table(path: Path) -> bool:
    """Return whether a file's name is that of a table."""
    return ENDINGS.search(path.name) is not None


def files(root: Path) -> list[Path]:
    """Return the tables at or below a path."""
    if not root.is_dir():
        return [root] if root.exists() else []
    return [here.path / name for here in walk(root) for name in here.files if is_table(here.path / name)]


def mapping(pairs: Sequence[str]) -> dict[str, str]:
    """Return columns by field from "field=column"; InputError for what is no such pair or field."""
    found: dict[str, str] = {}
    for pair in pairs:
        field, mark, column = pair.partition("=")
        if not mark or field not in _FIELDS:
            known = ", ".join(sorted(_FIELDS))
            raise InputError(f"--columns {pair}: write FIELD=COLUMN, the field one of {known}")
        if found.setdefault(field, column) != column:
            raise InputError(f"--columns {pair}: {field} is said to be {found[field]} already")
    return found


def describe(root: Path, asked: str | None, columns: Mapping[str, str]) -> str:
    """Return what the tables at a path hold, and a config that reads them.

    A table that cannot be read is told on stderr; InputError where none can be.
    """
    paths = files(root)
    if not paths:
        raise InputError(f"{root}: there is no table there (.csv, .tsv, also .gz, or .parquet)")
    found: dict[Path, Found] = {}
    wrong: list[InputError] = []
    for path in paths[:MOST_SHOWN]:
        try:
            found[path] = _look_into(path, asked, columns)
        except InputError as error:
            wrong.append(error)
    if not found:
        raise wrong[0]
    for fault in wrong:
        say(f"left out: {fault}")
    if len(paths) > MOST_SHOWN:
        say(f"left out: {len(paths) - MOST_SHOWN:,} more tables below {root}; inspect them one by one")
    facts = "\n\n".join(body({"file": str(path), **one.lines}) for path, one in found.items())
    return f"{facts}\n\n{PASTE}\n\n{config(root, found)}"


def config(root: Path, found: Mapping[Path, Found]) -> str:
    """Return a whole config that reads the tables, named after the path they are at."""
    made: dict[str, dict[str, Any]] = {"outcomes": {}, "datasets": {}, "judges": {}}
    judged = []
    for path, one in found.items():
        name = slug(path, {*made["outcomes"], *made["datasets"]})
        made[one.section][name] = one.entry
        judged += [name] if one.is_judged else []
    if judged:
        made["judges"][JUDGE] = {"kind": "recorded", "datasets": judged}
    if not made["outcomes"]:
        del made["outcomes"]
    return yaml.safe_dump({"name": slug(root), **made}, sort_keys=False, allow_unicode=True)


def _look_into(path: Path, asked: str | None, columns: Mapping[str, str]) -> Found:
    from coherence.cli import inspect_outcomes, inspect_verdicts  # noqa: PLC0415 - pandas is slow to import
    from coherence.incoherence.raw_table import read_header  # noqa: PLC0415

    if not is_table(path):
        raise InputError(f"{path}: tables are read from .csv, .tsv (also .gz) and .parquet files")
    header = read_header(path)
    kind = asked or _kind(path, {*header, *columns})
    found: Found = (inspect_outcomes if kind == "outcomes" else inspect_verdicts).look_into(
        path, header, columns
    )
    return found


def _kind(path: Path, names: set[str]) -> str:
    """Return what a table is by its columns: one with verdicts, or with an id and no task, is no outcomes."""
    if path.suffix.lower() not in (".csv", ".tsv"):
        return "outcomes"
    return "table" if names & _VERDICTS or ("id" in names and "task" not in names) else "outcomes"
