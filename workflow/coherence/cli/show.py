"""`coherence show`: the failure-rate table in the terminal, and where the report is."""

import argparse
from collections.abc import Sequence
from textwrap import fill

from coherence.cli.arguments import add_config_argument, config_of
from coherence.cli.layout import Layout
from coherence.errors import InputError
from coherence.evaluation.render import Table, one_line
from coherence.files import read_json

COLUMNS = ("Dataset", "Feature", "Reading", "Risky failed", "Safe failed", "Gap", "p")
WIDTH = 110


def plain(table: Table) -> str:
    """Return the chosen columns of a table as aligned text."""
    chosen = [number for number, name in enumerate(table.columns) if name in COLUMNS]
    return aligned([[row[number] for number in chosen] for row in (table.columns, *table.rows)])


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of cells as lines in columns; no cell can leave its line."""
    lines = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines
    ]
    return "\n".join(line.rstrip() for line in padded)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_config_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Print the failure rates and the report's path."""
    layout = Layout(config_of(args))
    if not layout.shown.is_file():
        raise InputError(f"{layout.shown}: no tables there yet; run `snakemake --cores 8` first")
    tables = {table.name: table for table in read_json(layout.shown, tuple[Table, ...])}
    rates = tables["failure_rates"]
    notes = [fill(rates.caption, WIDTH), fill(rates.note, WIDTH)]
    parts = [rates.title, plain(rates), *notes, f"Report: {layout.report}"]
    print("\n\n".join(part for part in parts if part))  # noqa: T201 - the command's answer
    return 0
