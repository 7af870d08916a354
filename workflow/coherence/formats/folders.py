"""Walking a dataset's folder: sorted, symbolic links followed, each real folder visited once."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from coherence.errors import InputError


class Listing(NamedTuple):
    """The names in one folder that are not hidden, sorted: its folders and everything else."""

    path: Path
    folders: tuple[str, ...]
    files: tuple[str, ...]


def base_of(root: Path) -> Path:
    """Return the folder that keys are relative to: the root, or the folder of a root that is a file."""
    return root if root.is_dir() else root.parent


def listing(path: Path) -> Listing:
    """List one folder; an unreadable one is an InputError."""
    folders: list[str] = []
    files: list[str] = []
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if not entry.name.startswith("."):
                    (folders if _is_folder(entry) else files).append(entry.name)
    except OSError as error:
        raise InputError(f"{path}: the folder cannot be read: {error.strerror}") from error
    return Listing(path, tuple(sorted(folders)), tuple(sorted(files)))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads nowhere: reading it will say why
        return False


def walk(root: Path) -> Iterator[Listing]:
    """Yield the listing of `root` and of each folder below it."""
    seen = Seen()
    stack = [root]
    while stack:
        path = stack.pop()
        if seen.first(path):
            here = listing(path)
            yield here
            stack.extend(path / name for name in reversed(here.folders))


class Seen:
    """Remembers real folders, so that a loop of symbolic links ends."""

    def __init__(self) -> None:
        self._seen: set[tuple[int, int]] = set()

    def first(self, path: Path) -> bool:
        """Whether this folder is met for the first time under any name."""
        try:
            status = path.stat()
        except OSError as error:
            raise InputError(f"{path}: the folder cannot be read: {error.strerror}") from error
        before = len(self._seen)
        self._seen.add((status.st_dev, status.st_ino))
        return len(self._seen) > before
