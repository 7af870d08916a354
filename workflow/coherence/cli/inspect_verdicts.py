"""A table of verdicts as `coherence inspect` tells of it: which columns are known, and what others may be."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args

from coherence.cli.config import TrialField, VerdictField
from coherence.cli.inspect_tables import JUDGE, Found
from coherence.cli.inspected import Tally, attempts, listed, named, power, power_of, repeated, tally
from coherence.errors import InputError
from coherence.formats import Source
from coherence.formats.cells import UNKNOWN
from coherence.incoherence.cells import NO, YES
from coherence.incoherence.raw_table import read_raw

OUTCOMES: Final = ("reward", "outcome", "passed", "failed")


class Columns(NamedTuple):
    """The columns of a table: those of a trial and of a verdict by field, and which others could be what."""

    trial: dict[str, str]
    verdict: dict[str, str]
    others: tuple[str, ...]
    telling: tuple[str, ...] = ()  # columns of two words, one of which may be the outcome


def look_into(path: Path, header: Sequence[str], columns: Mapping[str, str]) -> Found:
    """Return what a table of verdicts holds; InputError for one that the workflow would not read."""
    if path.suffix.lower() not in (".csv", ".tsv"):
        raise InputError(f"{path}: a table of verdicts is read from .csv and .tsv files")
    known = {*get_args(TrialField), *get_args(VerdictField)}
    strangers = sorted(set(columns) - known)
    if strangers:
        raise InputError(f"--columns {strangers[0]}: a table of verdicts has no such column")
    places = _places(path, [name.strip() for name in header], columns)
    mapped = {field: column for field, column in places.trial.items() if field != column}
    source = Source(
        "inspected",
        str(path),
        columns=mapped,
        verdict_columns={JUDGE: places.verdict} if places.verdict else {},
    )
    found = tally(path, "table", source)
    entry: dict[str, Any] = {"paths": str(path), "format": "table"}
    entry |= {"columns": mapped} if mapped else {}
    entry |= {"verdict_columns": {JUDGE: places.verdict}} if places.verdict else {}
    return Found(_lines(found, places), "datasets", entry, bool(places.verdict))


def _places(path: Path, header: Sequence[str], columns: Mapping[str, str]) -> Columns:
    fields = {**{name: name for name in header}, **columns}
    trial = {field: fields[field] for field in get_args(TrialField) if field in fields}
    verdict = {field: fields[field] for field in get_args(VerdictField) if field in fields}
    missing = [column for column in columns.values() if column not in header]
    if missing:
        raise InputError(f"{path}: there is no column {missing[0]!r} among: {named(header)}")
    unlike, telling = _seen(path)
    free = [name for name in unlike if name not in (*trial.values(), *verdict.values())]
    if "id" not in trial and free:
        trial = {"id": free[0], **trial}
    used = {*trial.values(), *verdict.values()}
    others = tuple(name for name in header if name not in used)
    return Columns(trial, verdict, others, tuple(name for name in telling if name in others))


def _seen(path: Path) -> tuple[list[str], list[str]]:
    """Return the columns with another text in every row, and those of the words for true and false."""
    try:
        raw = read_raw(path, lambda header: header)
    except InputError:
        return [], []  # the reader of tables bears more, and says what it cannot
    distinct = {name.strip(): set(column.unique().to_pylist()) for name, column in raw.columns.items()}
    unlike = [name for name, texts in distinct.items() if len(texts) == len(raw.rows) and "" not in texts]
    words = {name: {text.strip().lower() for text in texts} - UNKNOWN for name, texts in distinct.items()}
    return unlike, [name for name, texts in words.items() if texts and texts <= YES | NO]


def _lines(found: Tally, places: Columns) -> dict[str, str]:
    identity = places.trial["id"]
    outcome = next((places.trial[field] for field in OUTCOMES if field in places.trial), None)
    return {
        "format": "table",
        "rows": f"{found.trials:,}, one a trajectory, without text",
        "id": identity if identity == "id" else f"{identity}, which differs in every row",
        "outcomes": f"{listed(found.outcomes)}{_advice(places) if outcome is None else f' (by {outcome})'}",
        "attempts": attempts(found.tasks),
        "repeated outcomes": repeated(found),
        "verdicts": listed(found.verdicts[JUDGE]) if JUDGE in found.verdicts else "no column `flagged`",
        "columns read": named([*places.trial.values(), *places.verdict.values()]),
        "columns not known": _others(places),
        "ingest deviations": listed(found.codes),
        "power": power_of(found.joined[JUDGE]) if JUDGE in found.joined else power(found.outcomes),
    }


def _advice(places: Columns) -> str:
    if not places.telling:
        return ": no column is called reward, outcome, passed or failed"
    return f": what says it? True or false are {named(places.telling)}: `--columns passed=COLUMN`"


def _others(places: Columns) -> str:
    if not places.others:
        return "none"
    return (
        f"{named(places.others)}; numbers may be `feature_columns`; say by `--columns FIELD=COLUMN` which is "
        f"{', '.join([*get_args(TrialField), *get_args(VerdictField)])}"
    )
