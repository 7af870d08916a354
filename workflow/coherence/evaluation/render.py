"""Tables as files: every number in CSV, the same rows to read in Markdown and LaTeX."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isinf, isnan
from pathlib import Path
from typing import Any, Final, TypeVar

from coherence.files import write_csv, write_text
from coherence.records import Record

Cell = str | bool | int | float | None
T = TypeVar("T")

_MARKDOWN: Final = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>|&~$"})
_LATEX: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    }
)


class Table(Record, frozen=True):
    """A table twice: `columns` and `rows` of ready-made text to read, `fields` and `records` in full.

    `name` is the stem of its files, `datasets` what it shows, `note` what is not real about them.
    """

    name: str
    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    fields: tuple[str, ...]
    records: tuple[dict[str, Cell], ...]
    note: str = ""
    datasets: tuple[str, ...] = ()


def look_up(record: Any, path: str) -> Any:
    """Return the value at a dotted path of attributes, None where a link is None."""
    for name in path.split("."):
        if record is None:
            return None
        record = getattr(record, name)
    return record


def records(rows: Iterable[Any], fields: Mapping[str, str]) -> tuple[dict[str, Cell], ...]:
    """Return each row as a mapping from field to the value at its dotted path."""
    return tuple({name: look_up(row, path) for name, path in fields.items()} for row in rows)


def proportion_fields(path: str, count: str, value: str) -> dict[str, str]:
    """Return the fields of the proportion at a path: count, n and value, its bounds and the exact ones."""
    return {
        count: f"{path}.count",
        f"{path}_n": f"{path}.n",
        value: f"{path}.value",
        f"{path}_low": f"{path}.interval.low",
        f"{path}_high": f"{path}.interval.high",
        f"{path}_clopper_pearson_low": f"{path}.exact.low",
        f"{path}_clopper_pearson_high": f"{path}.exact.high",
    }


def interval_fields(path: str, name: str) -> dict[str, str]:
    """Return the fields of an interval."""
    return {f"{name}_low": f"{path}.low", f"{name}_high": f"{path}.high"}


def shown(rows: Iterable[T], columns: Mapping[str, Callable[[T], str]]) -> tuple[tuple[str, ...], ...]:
    """Return the ready-made cells of each row."""
    return tuple(tuple(cell(row) for cell in columns.values()) for row in rows)


def exact(value: Cell) -> Cell:
    """Return a cell for CSV: floats with up to 12 digits and whole ones without a point, NaN as unknown."""
    if not isinstance(value, float):
        return value
    if isnan(value):
        return None
    if isinf(value):
        return str(value)
    return int(value) if value.is_integer() else f"{value:.12g}"


def write_records(path: Path, rows: Iterable[Mapping[str, Cell]], fields: Sequence[str]) -> None:
    """Write rows as CSV with these fields, unknown as an empty cell."""
    write_csv(path, ({name: exact(value) for name, value in row.items()} for row in rows), fields)


def write_table(table: Table, folder: Path) -> tuple[Path, ...]:
    """Write the table as <name>.csv, <name>.md and <name>.tex, and return the paths."""
    paths = tuple(folder / f"{table.name}.{suffix}" for suffix in ("csv", "md", "tex"))
    write_records(paths[0], table.records, table.fields)
    write_text(paths[1], markdown(table))
    write_text(paths[2], latex(table))
    return paths


def markdown(table: Table) -> str:
    """Return the table as a Markdown section: title, note, the pipe table, caption."""
    lines = [_piped(map(markdown_text, row)) for row in (table.columns, *table.rows)]
    lines.insert(1, _piped("---" for _ in table.columns))
    parts = [f"## {markdown_text(table.title)}", f"**{markdown_text(table.note)}**" if table.note else ""]
    parts += ["\n".join(lines), markdown_text(table.caption)]
    return "\n\n".join(part for part in parts if part) + "\n"


def latex(table: Table) -> str:
    """Return the table as a LaTeX float; it needs the package booktabs and T1 fonts."""
    caption = " ".join(part for part in (table.title + ".", table.note, table.caption) if part)
    head, *body = (" & ".join(map(latex_text, row)) + r" \\" for row in (table.columns, *table.rows))
    lines = [
        r"\begin{table}",
        rf"\caption{{{latex_text(caption)}}}",
        rf"\label{{tab:{table.name}}}",
        r"\centering\footnotesize",
        rf"\begin{{tabular}}{{{'l' * len(table.columns)}}}",
        r"\toprule",
        head,
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def markdown_text(text: str) -> str:
    """Return the text so that Markdown shows it as it is, on one line."""
    return one_line(text).translate(_MARKDOWN)


def latex_text(text: str) -> str:
    """Return the text so that LaTeX sets it as it is; letters it may have no font for as U+4E2D."""
    return "".join(_latex_character(character) for character in one_line(text))


def one_line(text: str) -> str:
    """Return the text with white space as spaces and whatever cannot be seen as U+FFFD."""
    characters = (" " if mark.isspace() else mark for mark in text)
    return "".join(mark if mark.isprintable() else "\N{REPLACEMENT CHARACTER}" for mark in characters)


def _latex_character(character: str) -> str:
    if character.isascii() or (ord(character) < 0x100 and character.isalpha()):
        return character.translate(_LATEX)
    return f"U+{ord(character):04X}"


def _piped(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
