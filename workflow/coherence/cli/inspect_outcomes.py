"""A file of outcomes as `coherence inspect` tells of it: what can be seen in it, what is left out and why."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, get_args

import pandas as pd

from coherence.cli.inspect_nesting import nesting
from coherence.cli.inspect_tables import Found
from coherence.cli.inspected import listed, named, scatter, slug, spread
from coherence.errors import InputError
from coherence.evaluation.outcome_sets import OutcomeSet, describe
from coherence.incoherence.contract import COLUMNS, OutcomeField
from coherence.incoherence.outcomes import usable
from coherence.incoherence.reading import DATASET_COLUMN, read_outcomes
from coherence.incoherence.source import OutcomeSource
from coherence.incoherence.verifications import together

CELL: Final = ["group", "task"]
LIKE_ATTEMPTS: Final = re.compile(r"attempt|trial|run|rollout|sample|repeat|try", re.IGNORECASE)


def look_into(path: Path, header: Sequence[str], columns: Mapping[str, str]) -> Found:
    """Return what a file of outcomes holds; InputError for one that the workflow would not read."""
    strangers = sorted(set(columns) - set(get_args(OutcomeField)))
    if strangers:
        raise InputError(f"--columns {strangers[0]}: outcomes have no such column")
    try:
        frame, counted = read_outcomes(path, OutcomeSource(slug(path), columns))
    except InputError as error:
        raise InputError(f"{error}{_advice(header, columns)}") from error
    found = describe(slug(path), frame, counted, None, ("", ""))
    entry: dict[str, Any] = {"path": str(path)}
    return Found(_lines(found, frame, header, columns), "outcomes", entry | _mapped(columns))


def _mapped(columns: Mapping[str, str]) -> dict[str, Any]:
    return {"columns": dict(columns)} if columns else {}


def _advice(header: Sequence[str], columns: Mapping[str, str]) -> str:
    """Return how to go on where no column has the task, or the attempts that were verified."""
    there = {*header, *columns}
    if "verification" in there and "task" in there and "attempt" not in there:
        free = [name for name in header if name not in {*COLUMNS, *columns.values()}]
        likely = next((name for name in free if LIKE_ATTEMPTS.search(name)), "COLUMN")
        return f". Try it here first: `--columns attempt={likely}`"
    if "task" in there:
        return ""
    return (
        ". Try it here first: `--columns task=question answer=choice target=key`, or `--format table` for a "
        "table of verdicts"
    )


def _lines(
    found: OutcomeSet, frame: pd.DataFrame, header: Sequence[str], columns: Mapping[str, str]
) -> dict[str, str | Iterator[str]]:
    several = together(frame)
    every, frame = frame, frame if several is None else several.frame
    with_outcome = frame[usable(frame, found.kind or "passed")]
    known = with_outcome.groupby(CELL, observed=True).size()
    places = {*columns.values(), *(set(COLUMNS) - {DATASET_COLUMN, *columns})}
    return {
        "format": "outcomes",
        "attempts": f"{found.attempts:,}{'' if several is None else f', in {len(every):,} rows'}",
        "groups": f"{found.groups:,}: {listed(Counter(frame['group'].astype('str')))}",
        "attempts a task": f"{found.tasks:,} tasks; within a group, "
        f"{spread(frame.groupby(CELL, observed=True).size())}",
        "outcomes": f"passed {found.passed:,}, failed {found.failed:,}, unknown {found.unknown:,}",
        "kinds of outcome": _kinds(found),
        "scatter": scatter(known),
        **nesting(every, several, with_outcome),
        "left out or unknown": _counted(found),
        "columns read": named([name for name in header if name in places]),
        "columns not known": _unknown([name for name in header if name not in places]),
    }


def _kinds(found: OutcomeSet) -> str:
    only = " alone: error incoherence is then a function of the pass rates" if found.kind == "passed" else ""
    return f"{found.kinds_text}{only or '; the first is taken apart'}"


def _counted(found: OutcomeSet) -> Iterator[str]:
    for one in found.counted:
        yield f"{one.amount}: {one.reason}{f' (first: {one.where})' if one.where else ''}"


def _unknown(names: Sequence[str]) -> str:
    if not names:
        return "none"
    return f"{named(names)}; say what one of them is by `--columns FIELD=COLUMN` (data/outcomes/README.md)"
