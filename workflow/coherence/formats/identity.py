"""Names that are safe as file names on every system, and keys that can always be written."""

import os
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from coherence.files import digest, without_surrogates

MAX_NAME_BYTES: Final = 120  # leaves room for suffixes below the usual limit of 255 bytes
HASH_LENGTH: Final = 12  # hex digits of the unit key's digest that keep equal names apart
_UNSAFE = re.compile(r"[^\w.\-]")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # device names on Windows


def safe_id(name: str, key: str) -> str:
    """Return the id of the trial called `name`: readable, one path component, and unique by `key`."""
    text = _UNSAFE.sub("_", unicodedata.normalize("NFC", without_surrogates(name))).lstrip(".")
    if not text or _RESERVED.fullmatch(text):
        text = f"_{text}"
    short = text.encode()[:MAX_NAME_BYTES].decode("utf-8", "ignore")
    return f"{short}-{digest(key)[:HASH_LENGTH]}"


def relative_key(path: Path, base: Path) -> str:
    """Return the path below `base` with forward slashes; bytes that are not UTF-8 are escaped."""
    return os.fsencode(path.relative_to(base).as_posix()).decode("utf-8", "backslashreplace")


def existing(base: Path, keys: Iterable[str]) -> tuple[str, ...]:
    """Return the keys under which a regular file can be found, in order and each once."""
    return tuple(key for key in dict.fromkeys(keys) if (base / key).is_file())


def trial_name(base: Path, key: str) -> str:
    """Return the trial a trajectory file belongs to: its trial folder in Harbor's layout, else its stem."""
    path = base.absolute() / key
    if path.parent.name == "agent" and path.name == "trajectory.json":
        return path.parent.parent.name
    return path.stem
