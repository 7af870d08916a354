"""Raw files as read once: their bytes' digest, and their JSON as tolerant as can be."""

import hashlib
import json
import stat
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from coherence.files import without_surrogates
from coherence.formats.deviations import Deviations
from coherence.records import SourceFile

_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_UTF8_MARK: Final = b"\xef\xbb\xbf"
_SURROGATES: Final = ("\\ud", "\\uD")


class Document(NamedTuple):
    """A JSON file: its value, or the problem that keeps it from being read."""

    key: str
    value: Any
    problem: str | None
    source: SourceFile | None
    notes: Deviations


def read_bytes(base: Path, key: str) -> tuple[bytes, SourceFile]:
    """Read a regular file below `base`; OSError where it cannot be."""
    path = base / key
    if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for ever
        raise OSError(0, "not a regular file")
    data = path.read_bytes()
    return data, SourceFile(key, hashlib.sha256(data).hexdigest())


def load(base: Path, key: str) -> Document:
    """Read one JSON file; never raises for what it holds or for its absence."""
    notes = Deviations(key)
    try:
        data, source = read_bytes(base, key)
    except (OSError, ValueError) as error:
        return Document(key, None, f"cannot be opened: {getattr(error, 'strerror', error)}", None, notes)
    if not data.strip():
        return Document(key, None, "the file is empty", source, notes)
    try:
        return Document(key, decode(data, notes), None, source, notes)
    except ValueError as error:
        return Document(key, None, f"not JSON: {error}", source, notes)
    except RecursionError:
        return Document(key, None, "not JSON: nested too deeply", source, notes)


def decode(data: bytes, notes: Deviations) -> Any:
    """Decode JSON with lone surrogates, invalid UTF-8, NaN and the like; ValueError where it is not JSON."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _decode_leniently(data, notes)


def _decode_leniently(data: bytes, notes: Deviations) -> Any:
    text = decode_text(data, notes)
    value = json.loads(text, strict=False)
    if any(escape in text for escape in _SURROGATES):
        value = _without_surrogates(value, notes)
    if not notes.records():
        notes.add("json_not_strict")
    return value


def decode_text(data: bytes, notes: Deviations) -> str:
    """Decode UTF-8, or UTF-16 with a byte order mark; what is neither becomes U+FFFD."""
    encoding = "utf-16" if data.startswith(_UTF16) else "utf-8-sig"
    if data.startswith((_UTF8_MARK, *_UTF16)):
        notes.add("byte_order_mark")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        notes.add("invalid_utf8", f"first at byte {error.start}")
        return data.decode(encoding, "replace")


def _without_surrogates(value: Any, notes: Deviations) -> Any:
    if isinstance(value, dict):
        return {
            _without_surrogates(key, notes): _without_surrogates(item, notes) for key, item in value.items()
        }
    if isinstance(value, list):
        return [_without_surrogates(item, notes) for item in value]
    if not isinstance(value, str):
        return value
    text = without_surrogates(value)
    if text is not value:
        notes.add("lone_surrogate")
    return text
