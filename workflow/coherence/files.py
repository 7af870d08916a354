"""Files as every stage writes them: whole or not at all, and the same bytes for the same content."""

import csv
import hashlib
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO, Self, TypeVar

import msgspec

from coherence.errors import InputError, NoFileError

T = TypeVar("T")
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_encoder = msgspec.json.Encoder(order="sorted")


def digest(*parts: bytes | str) -> str:
    """Return the SHA-256 (hex) of the parts, each framed by its length so that no two lists collide."""
    state = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "big"))
        state.update(data)
    return state.hexdigest()


def without_surrogates(text: str) -> str:
    """Return the text with each lone surrogate replaced by U+FFFD, so that it can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write under a temporary name, renamed at the end: readers never see a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name[:80]}.{secrets.token_hex(6)}.tmp")
    try:
        with temporary.open("wb") as file:
            yield file
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes(path: Path, data: bytes) -> None:
    """Write the file, whole or not at all, creating its folder."""
    with replacing(path) as file:
        file.write(data)


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8, whole or not at all; lone surrogates become U+FFFD."""
    write_bytes(path, without_surrogates(text).encode())


def encode(value: Any) -> bytes:
    """Return stable JSON (sorted keys, no white space) of a record or plain value."""
    return _encoder.encode(value)


def write_json(path: Path, value: Any) -> str:
    """Write one JSON document that a person can read (sorted keys, indented), and return its digest."""
    data = msgspec.json.format(encode(value), indent=1) + b"\n"
    write_bytes(path, data)
    return digest(data)


def write_readable(path: Path, value: T) -> str:
    """Write a record as `write_json` does, which is read again as what it was.

    Raise ValueError, naming the place, where it holds NaN or an infinite number: JSON would make it unknown.
    """
    for place, number in _numbers(msgspec.to_builtins(value), ""):
        if not isfinite(number):
            raise ValueError(f"{path}: {place} is {number}, which JSON cannot hold")
    return write_json(path, value)


def _numbers(value: Any, place: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, float):
        yield place, value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _numbers(each, f"{place}.{name}" if place else str(name))
    elif isinstance(value, list | tuple):
        for number, each in enumerate(value):
            yield from _numbers(each, f"{place}[{number}]")


def read_json(path: Path, kind: type[T]) -> T:
    """Read one JSON document as `kind`; raise InputError naming the file if it is not one, or not there."""
    try:
        return msgspec.json.decode(read_bytes(path), type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error


def read_bytes(path: Path) -> bytes:
    """Read a file; raise InputError naming it if it cannot be read, or is not there."""
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise NoFileError(path) from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error}") from error


def write_lines(path: Path, records: Iterable[Any]) -> None:
    """Write JSON Lines, a record a line, as they come; whole or not at all."""
    with replacing(path) as file:
        for record in records:
            file.write(encode(record) + b"\n")


def read_lines(path: Path, kind: type[T]) -> Iterator[T]:
    """Read JSON Lines as `kind`; raise InputError naming file and line where one does not fit."""
    for _, record in read_numbered_lines(path, kind):
        yield record


def read_numbered_lines(path: Path, kind: type[T]) -> Iterator[tuple[int, T]]:
    """Read JSON Lines as `kind`, each with the number of its line; raise InputError as `read_lines` does."""
    decoder = msgspec.json.Decoder(kind)
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    try:
                        record = decoder.decode(line)
                    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                        raise InputError(f"{path}:{number}: {error}") from error
                    yield number, record
    except FileNotFoundError as error:
        raise NoFileError(path) from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error}") from error


class Lines(list[str]):
    """Rows as the csv module writes them; each ends in one newline.

    The module quotes a lone carriage return only where the line ending holds one too.
    """

    def write(self, row: str) -> None:
        """Take one row."""
        self.append(row.removesuffix("\r\n") + "\n")


def csv_text(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Return CSV text with exactly these columns; None is an empty field."""
    lines = Lines()
    writer = csv.DictWriter(lines, columns, lineterminator="\r\n", extrasaction="raise")
    writer.writeheader()
    writer.writerows(rows)
    return "".join(lines)


def write_csv(path: Path, rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """Write CSV with exactly these columns, whole or not at all."""
    write_text(path, csv_text(rows, columns))


class Memo:
    """What a shard's job made of each item last time, so that only changed items are made again.

    Snakemake deletes a job's outputs before it reruns; this file is not one of them. An entry counts only
    under the key it was made with (a digest of the item's content, the settings and the code). Used as a
    context, it is written at the end; after an error it keeps what was made and what was not yet asked for.
    """

    def __init__(self, path: Path, kind: type[Any]) -> None:
        self._path = path
        self._kind = kind
        self._old: dict[str, tuple[str, msgspec.Raw]] = {}
        self._new: dict[str, tuple[str, Any]] = {}
        self.made = 0
        self.kept = 0
        try:
            self._old = msgspec.json.decode(path.read_bytes(), type=dict[str, tuple[str, msgspec.Raw]])
        except (OSError, msgspec.MsgspecError):
            self._old = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        write_bytes(self._path, encode(self._new if kind is None else {**self._old, **self._new}))

    def get(self, item: str, key: str, is_whole: Callable[[Any], bool] = lambda _: True) -> Any | None:
        """Return what was made of the item under this key and is still whole, or None."""
        entry = self._old.get(item)
        if entry is None or entry[0] != key:
            return None
        try:
            value = msgspec.json.decode(entry[1], type=self._kind)
        except msgspec.MsgspecError:
            return None
        if not is_whole(value):
            return None
        self._new[item] = entry
        self.kept += 1
        return value

    def put(self, item: str, key: str, value: Any) -> None:
        """Remember what was made of the item."""
        self._new[item] = (key, value)
        self.made += 1
