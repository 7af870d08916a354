"""`coherence show`: the main tables in the terminal, and where the report is."""

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from textwrap import fill
from typing import Final

from coherence.cli.arguments import add_config_argument, config_of, whole_run
from coherence.cli.layout import Layout
from coherence.cli.screen import WIDTH, aligned
from coherence.errors import InputError
from coherence.evaluation.render import Table
from coherence.files import read_json
from coherence.incoherence.aggregates import JACKKNIFE_T
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.proportions import BOOTSTRAP
from coherence.stats.tables import FISHER, NEWCOMBE

MOST: Final = 40  # rows of a table on the screen
FEWEST: Final = 3  # of each dataset in a longer one
# What is shown of each table that has rows, in this order; the report has the rest.
SHOWN: Final[dict[str, tuple[str, ...]]] = {
    "failure_rates": ("Dataset", "Judge or feature", "Reading", "Risky failed", "Safe failed", "Gap", "p"),
    "ablations": ("Dataset", "Judge", "Changed", "Flagged", "Gap", "Holm p"),
    "paraphrase": ("Dataset", "Paraphrase", "Judge", "Reading", "Flag kept", "Spans", "All types same"),
    "monitor": ("Dataset", "Judge", "Failures stopped", "Passes lost", "Steps saved"),
    "incoherence": (
        *("Dataset", "Group", "Outcome", "Decomposition", "Tasks", "Error", "Bias", "Variance"),
        "Incoherence",
    ),
}
NOTES: Final = {
    "failure_rates": (
        f"Failed/n (rate in %; {LEVEL_TEXT} {BOOTSTRAP} interval). Gap: risky less safe in percentage points "
        f"({LEVEL_TEXT} {NEWCOMBE} interval). p: {FISHER}."
    ),
    "incoherence": (
        f"Error = bias + variance; incoherence: variance over error ({LEVEL_TEXT} {JACKKNIFE_T} interval)."
    ),
}


def plain(table: Table, columns: Sequence[str]) -> str:
    """Return the chosen columns of a table as aligned text; of a long one the first rows of each dataset."""
    chosen = [table.columns.index(name) for name in columns if name in table.columns]
    rows = table.rows if len(table.rows) <= MOST else first_rows(table.rows)
    text = aligned([[row[number] for number in chosen] for row in (table.columns, *rows)])
    more = len(table.rows) - len(rows)
    return text + (f"\n{more:,} more rows in {table.name}.md" if more else "")


def first_rows(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return some rows of each dataset, which the first cell names."""
    datasets = Counter(row[0] for row in rows)
    each = max(FEWEST, MOST // len(datasets))
    place = Counter[str]()
    kept = []
    for row in rows:
        place[row[0]] += 1
        if place[row[0]] <= each:
            kept.append(row)
    return kept


def parts(tables: Mapping[str, Table]) -> Iterator[str]:
    """Yield what is printed: of each table title, rows and how to read them; once what is not real."""
    notes = dict[str, None]()
    for name, columns in SHOWN.items():
        table = tables.get(name)
        if table is not None and table.rows:
            yield table.title
            yield plain(table, columns)
            if name in NOTES:
                yield fill(NOTES[name], WIDTH)
            notes[table.note] = None
    yield from (fill(note, WIDTH) for note in notes if note)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_config_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Print the main tables and the report's path."""
    layout = Layout(config_of(args))
    if not layout.shown.is_file():
        raise InputError(f"{layout.shown}: no tables there yet; run `{whole_run(args)}` first")
    files = (path for path in (layout.shown, layout.incoherence_shown) if path.is_file())
    tables = {table.name: table for path in files for table in read_json(path, tuple[Table, ...])}
    print("\n\n".join([*parts(tables), f"Report: {layout.report}"]))  # noqa: T201 - the command's answer
    return 0
