"""Outcome files as they lie there: the columns asked for, as text or typed, with the number of each row."""

import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from coherence.errors import InputError

DELIMITERS: Final = {".csv": ",", ".tsv": "\t"}
BLOCK: Final = 1 << 24  # bytes parsed at once; a single row must fit
MOST_NAMED: Final = 20  # columns an error names
MOST_SHOWN: Final = 60  # characters of a cell or name an error shows


class RawTable(NamedTuple):
    """The columns asked for, the number of each row, and the rows that have other cells than the header.

    Rows are numbered as a spreadsheet numbers them: a CSV file's header is row 1, a Parquet file's first row
    is row 1.
    """

    columns: dict[str, Any]
    rows: np.ndarray[tuple[int], np.dtype[np.int64]]
    broken: tuple[int, ...]
    left_out: tuple[str, ...]


def short(text: str) -> str:
    """Return a text from a file, short enough for a message."""
    return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + "..."


def read_header(path: Path) -> list[str]:
    """Return the names of the columns; InputError for a file that is no such table."""
    with _readable(path):
        delimiter = _delimiter(path)
        if delimiter is None:
            return unique(path, pyarrow.parquet.ParquetFile(path).schema_arrow.names)
        _check_text(path)
        return _header(path, delimiter)


def read_raw(path: Path, wanted: Callable[[Sequence[str]], Iterable[str]]) -> RawTable:
    """Read the columns that `wanted` chooses from the header; InputError for a file that is no such table."""
    with _readable(path):
        delimiter = _delimiter(path)
        return _read_parquet(path, wanted) if delimiter is None else _read_csv(path, delimiter, wanted)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    if not path.is_file():
        what = "is a folder or device, not a file" if path.exists() else "there is no such file"
        raise InputError(f"{path}: {what}")
    try:
        yield
    except (pa.ArrowException, OSError, EOFError, zlib.error, csv.Error) as error:
        raise InputError(f"{path}: cannot be read: {short_reason(error)}") from error


def _delimiter(path: Path) -> str | None:
    """Return what separates the cells of a text file, None for Parquet; InputError for any other file."""
    kind = path.name.lower().removesuffix(".gz")
    if kind.endswith((".parquet", ".pq")):
        return None
    delimiter = next((mark for end, mark in DELIMITERS.items() if kind.endswith(end)), None)
    if delimiter is None:
        raise InputError(f"{path}: outcomes are read from .csv, .tsv (also .gz) and .parquet files")
    return delimiter


def short_reason(error: Exception) -> str:
    """Return what went wrong in one line."""
    return " ".join(str(error).split())[:200] or type(error).__name__


def unique(path: Path, names: Sequence[str]) -> list[str]:
    """Return the names of the columns; InputError where one is there twice or there is none."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"{path}: row 1: two columns are named {short(twice[0])!r}")
    if not any(names):
        raise InputError(f"{path}: row 1: there is no header")
    return list(names)


def _header(path: Path, delimiter: str) -> list[str]:
    with _opened(path) as lines:
        text = io.TextIOWrapper(lines, "utf-8-sig", newline="")
        return unique(path, next(csv.reader(text, delimiter=delimiter), []))


def _check_text(path: Path) -> None:
    """Raise InputError with the line of the first bytes that are not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    line = 1
    with _opened(path) as file:
        block = b" "
        while block:
            block = file.read(BLOCK)
            try:
                decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                line += error.object[: error.start].count(b"\n")
                raise InputError(f"{path}: line {line}: is not UTF-8; save the file as UTF-8") from error
            line += block.count(b"\n")


def _opened(path: Path) -> gzip.GzipFile | io.BufferedReader:
    return gzip.open(path) if _zipped(path) else path.open("rb")


def _zipped(path: Path) -> bool:
    return path.name.lower().endswith(".gz")


def _read_csv(path: Path, delimiter: str, wanted: Callable[[Sequence[str]], Iterable[str]]) -> RawTable:
    _check_text(path)
    header = _header(path, delimiter)
    names = list(wanted(header))
    broken: list[int] = []
    skipped: list[int] = []

    def skip(row: Any) -> str:
        skipped.append(row.number)
        if row.text:
            broken.append(row.number)
        return "skip"

    with pa.input_stream(str(path), compression="gzip" if _zipped(path) else None) as stream:
        table = pyarrow.csv.read_csv(
            stream,
            # One thread: only then are broken rows numbered.
            read_options=pyarrow.csv.ReadOptions(
                use_threads=False, block_size=BLOCK, column_names=header, skip_rows_after_names=1
            ),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=True,
                ignore_empty_lines=False,
                invalid_row_handler=skip,
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                strings_can_be_null=False,
                include_columns=names,
            ),
        )
    rows = np.arange(2, table.num_rows + len(skipped) + 2)
    rows = np.delete(rows, np.array(skipped, dtype=np.int64) - 2)
    return RawTable({name: table[name] for name in names}, rows, tuple(broken), _others(header, names))


def _read_parquet(path: Path, wanted: Callable[[Sequence[str]], Iterable[str]]) -> RawTable:
    file = pyarrow.parquet.ParquetFile(path, memory_map=True)
    header = unique(path, file.schema_arrow.names)
    names = list(wanted(header))
    table = file.read(columns=names)
    columns = {name: _plain(path, name, table[name]) for name in names}
    return RawTable(columns, np.arange(1, table.num_rows + 1), (), _others(header, names))


def _plain(path: Path, name: str, column: Any) -> Any:
    """Return a column as text, numbers or truths."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _plain(path, name, column.cast(kind.value_type))
    if pa.types.is_boolean(kind) or pa.types.is_floating(kind) or pa.types.is_integer(kind):
        return column
    if pa.types.is_decimal(kind):
        return column.cast(pa.float64())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind):
        return column.cast(pa.string())
    raise InputError(f"{path}: column {short(name)!r} holds {kind}; write text, numbers or true and false")


def _others(header: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in header if name not in names)
