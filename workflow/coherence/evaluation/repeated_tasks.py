"""Attempts at one task are no independent draws: which datasets have several, which tables count them so."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from coherence.evaluation.render import Table
from coherence.evaluation.table import Row, by_dataset

COMPARING: Final = frozenset(
    (
        *("failure_rates", "tests", "adjusted", "tertiles", "regression", "paired", "scores", "calibration"),
        *("landmark", "matched", "precision", "overlap", "ensembles", "complementary", "ablations"),
        *("selectivity", "proxy_goal", "monitor"),
    )
)  # tables that compare outcomes run by run


def repeats(rows: Iterable[Row]) -> bool:
    """Whether two of the rows are attempts at one task."""
    return max(Counter(row.task for row in rows).values(), default=0) > 1


def repeating(rows: Iterable[Row]) -> tuple[str, ...]:
    """Return the datasets with two comparable attempts at one task, in order of appearance."""
    compared = [row for row in rows if row.excluded is None and row.outcome != "unknown"]
    return tuple(name for name, members in by_dataset(compared).items() if repeats(members))


def independence(shown: Iterable[str], repeated: Sequence[str]) -> str:
    """Return what a table says of the datasets it shows of which tasks repeat, "" where none does."""
    names = [name for name in dict.fromkeys(shown) if name in repeated]
    if not names:
        return ""
    return (
        f"Attempts at one task count as independent ({', '.join(names)}): the table tests has intervals with "
        "tasks resampled."
    )


def with_independence(tables: Iterable[Table], rows: Iterable[Row]) -> Iterator[Table]:
    """Yield the tables; captions of those that compare outcomes begin with what they count as independent."""
    repeated = repeating(rows)
    for table in tables:
        said = independence(table.datasets, repeated) if table.name in COMPARING else ""
        yield replace(table, caption=f"{said} {table.caption}") if said else table
