"""What was run: each run of a command in a file of its own, named by the digest of all that determines it.

    <root>/<2 hex>/<key>.json             how the run ended and what it wrote
    <root>/<2 hex>/<key>.replaced-<n>.json  a run that was asked for again
    <root>/<2 hex>/<key>.begun            there while it runs, locked by the command and its children

A file `.begun` without a lock was left by a run that was killed.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Final

from coherence.errors import InputError
from coherence.files import read_json, write_json
from coherence.records import Record
from coherence.sampling.samples import Reason

RUN_SCHEMA: Final = "coherence/run/1"


class Run(Record, frozen=True):
    """One run; with a `reason` it has no result. `output` is what it wrote, `errors` the end of stderr."""

    key: str
    item: str
    sample: int
    seed: str
    command: tuple[str, ...]
    time: str
    seconds: float
    code: int | None
    output: str
    errors: str
    reason: Reason | None = None
    detail: str = ""
    schema: str = RUN_SCHEMA


class Claim:
    """The right to make a run; `left_over` says that an earlier process began it and was killed."""

    def __init__(self, held: int, left_over: bool) -> None:
        self.held = held
        self.left_over = left_over

    def begin(self) -> None:
        """Note that the command is about to start."""
        os.pwrite(self.held, b"begun\n", 0)


class RunStore:
    """Runs by key; several processes may write to one store at once."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, key: str) -> Path:
        """Return where the run with this key is or would be."""
        return self.root / key[:2] / f"{key}.json"

    def get(self, key: str) -> Run | None:
        """Return the run with this key; raise InputError for a file that is not one, lest it is run twice."""
        path = self.path(key)
        if not path.exists():
            return None
        run = read_json(path, Run)
        if run.key != key:
            raise InputError(
                f"{path}: holds another run, {run.key}; delete the file or put it back in its place"
            )
        return run

    def begun(self, key: str) -> bool:
        """Return whether the run was begun and has not ended."""
        return self._begun(key).exists()

    @contextmanager
    def claimed(self, key: str) -> Iterator[Claim | None]:
        """Give the right to make a run, or None while another process makes it."""
        path = self._begun(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        held = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            yield Claim(held, os.fstat(held).st_size > 0) if _locked(held, self.root) else None
        finally:
            os.close(held)

    def put(self, run: Run) -> None:
        """Keep a run; the claim on it is over."""
        path = self.path(run.key)
        if path.exists():
            kept = (path.with_name(f"{run.key}.replaced-{n}.json") for n in count(1))
            path.rename(next(place for place in kept if not place.exists()))
        write_json(path, run)
        self.forget(run.key)

    def forget(self, key: str) -> None:
        """Take the note away that a run was begun."""
        self._begun(key).unlink(missing_ok=True)

    def _begun(self, key: str) -> Path:
        return self.path(key).with_suffix(".begun")


def _locked(held: int, root: Path) -> bool:
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise InputError(
            f"{root}: files cannot be locked there ({error}), which running commands needs; put `results` on "
            "another disk"
        ) from error
    return True
