"""Batches on disk: what was submitted and under which id, written before anybody waits for it.

    <root>/<name>.requests.jsonl   the requests, so that any later run can store the replies to them
    <root>/<name>.intent.json      there from before a batch is created until its id is known
    <root>/<id>.json               a batch the API has named and whose results are not yet stored; `file_name`
                                   says what stands for an id that no file should be called by
    <root>/collected/<id>.json     a batch whose results are all stored; its requests are deleted
    <root>/.lock                   held while a process picks what it submits: no request in two batches

The process that creates a batch holds a lock on its intent: an intent without one was left by a process that
died.
"""

import fcntl
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from coherence.errors import InputError
from coherence.files import digest, encode, read_json, write_bytes, write_json
from coherence.llm.request import Request
from coherence.records import Record

INTENT: Final = ".intent.json"
_NAMES_A_FILE: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")


class Asked(Record, frozen=True):
    """A request that waits for its reply; `key` is also its custom_id in a batch."""

    key: str
    sample: int
    request: Request


class Batch(Record, frozen=True):
    """A batch or the intent to create one (no `id`); `time` is when the intent was written, in UTC.

    `label` is the judge's name, `results` the number of results of each kind once they are stored.
    """

    name: str
    label: str
    time: str
    keys: tuple[str, ...]
    id: str | None = None
    results: dict[str, int] = {}


def file_name(batch_id: str | None) -> str:
    """Return the name, without its ending, of a batch's file: its id, or a digest of an id that is no name.

    A server of one's own may call its batches "../x".
    """
    named = batch_id or ""
    return named if _NAMES_A_FILE.fullmatch(named) else f"id.{digest(named)[:32]}"


class BatchFolder:
    """The batches of one reply store; several processes may use it at once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._read: dict[str, Batch] = {}
        self._owned: dict[str, int] = {}

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from picking what they submit."""
        self.root.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.root / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _wait_for_lock(handle, self.root)
            yield
        finally:
            os.close(handle)

    def open(self) -> dict[str, Batch]:
        """Return the batches and intents whose results are not yet stored, by name."""
        names = sorted(path.name for path in self.root.glob("*.json"))
        # A file never changes while it is there; one that is gone in between belongs to a settled batch.
        self._read = {name: batch for name in names if (batch := self._read.get(name) or self._batch(name))}
        named = {batch.name: batch for batch in self._read.values() if batch.id}
        return {batch.name: batch for batch in self._read.values()} | named

    def _batch(self, name: str) -> Batch | None:
        path = self.root / name
        try:
            return read_json(path, Batch)
        except InputError:
            if not path.exists():
                return None
            raise

    def known(self) -> set[str]:
        """Return the `file_name` of all batches that are or were here."""
        return {
            path.stem for folder in (self.root, self.root / "collected") for path in folder.glob("*.json")
        }

    def collected(self) -> int:
        """Return how many batches have all their results stored."""
        return sum(1 for _ in (self.root / "collected").glob("*.json"))

    def begin(self, label: str, keys: Sequence[str], lines: Sequence[bytes]) -> Batch:
        """Write down the intent to create a batch of these requests, and own it; call it when `locked`."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        batch = Batch(secrets.token_hex(8), label, now, tuple(keys))
        write_bytes(self._requests(batch), b"\n".join(lines) + b"\n")
        write_json(self._intent(batch), batch)
        self.own(batch)
        return batch

    def own(self, intent: Batch) -> bool:
        """Return whether the intent is this process's own or, its process being dead, can be made so."""
        if intent.name in self._owned:
            return True
        try:
            handle = os.open(self._intent(intent), os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            return False
        self._owned[intent.name] = handle
        if self._intent(intent).exists():
            return True
        self.release(intent)  # named or dropped by its own process in between
        return False

    def name(self, intent: Batch, batch_id: str) -> Batch:
        """Write down the id the API gave to a batch."""
        batch = msgspec.structs.replace(intent, id=batch_id)
        write_json(self.path(batch), batch)
        self._disown(intent)
        return batch

    def drop(self, intent: Batch) -> None:
        """Forget the intent to create a batch: the API has none of it."""
        self._disown(intent)
        self._requests(intent).unlink(missing_ok=True)

    def finish(self, batch: Batch, results: dict[str, int]) -> None:
        """Note that all results of a batch are stored."""
        write_json(
            self.root / "collected" / f"{file_name(batch.id)}.json",
            msgspec.structs.replace(batch, results=results),
        )
        self.path(batch).unlink(missing_ok=True)
        self._disown(batch)
        self._requests(batch).unlink(missing_ok=True)

    def requests(self, batch: Batch) -> "Requests":
        """Return the requests of a batch; raise InputError where they cannot be read."""
        return Requests(self._requests(batch))

    def path(self, batch: Batch) -> Path:
        """Return the file that says that this batch is open."""
        return self._intent(batch) if batch.id is None else self.root / f"{file_name(batch.id)}.json"

    def release(self, *intents: Batch) -> None:
        """Let other processes see to these intents, or to all of this one."""
        for name in [intent.name for intent in intents] or list(self._owned):
            os.close(self._owned.pop(name))

    def _disown(self, intent: Batch) -> None:
        self._intent(intent).unlink(missing_ok=True)
        handle = self._owned.pop(intent.name, None)
        if handle is not None:
            os.close(handle)

    def _intent(self, batch: Batch) -> Path:
        return self.root / f"{batch.name}{INTENT}"

    def _requests(self, batch: Batch) -> Path:
        return self.root / f"{batch.name}.requests.jsonl"


class Requests:
    """The requests of one batch, each read from the file when it is asked for.

    The file stays open: another process that has stored the same results may delete it meanwhile.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error}") from error
        try:
            self._places = dict(self._keys())
        except msgspec.MsgspecError as error:
            self.close()
            raise InputError(f"{path}: cannot be read: {error}") from error

    def _keys(self) -> Iterator[tuple[str, int]]:
        place = 0
        for line in self._file:
            yield msgspec.json.decode(line, type=Asked).key, place
            place += len(line)

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def __getitem__(self, key: str) -> Asked:
        self._file.seek(self._places[key])
        return msgspec.json.decode(self._file.readline(), type=Asked)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _wait_for_lock(handle: int, root: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError as error:
        raise InputError(
            f"{root}: files cannot be locked there ({error}), which batches need; put `replies` on another "
            "disk or set `mode: direct`"
        ) from error


def line_of(asked: Asked) -> bytes:
    """Return the line that holds a request."""
    return encode(asked)
