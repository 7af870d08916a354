"""The ledger: a row a call that was sent, appended at once, so that what was spent is always known.

One CSV file for all jobs of a results folder. A row is one write at the end of the file under a lock, so that
rows of jobs that run at once neither mix nor get lost. A reply from the store costs nothing and has no row.

With a budget a call has a row of status `begun` before it is sent, which reserves the most it can cost
(`reserved`) for all jobs; the row of its end has the same `attempt` and takes its place. A call whose end was
never written (a killed run) may have been billed: it goes on counting at its most.

A request in a batch is reserved before the batch has an id; at its end its `attempt` goes on with a slash and
a digest of the batch's. So the results of two batches are two charges, and one result read twice, by a run
that was killed and the next one, is one.
"""

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from csv import DictReader
from pathlib import Path
from typing import Any, Final

import msgspec

from coherence.errors import InputError
from coherence.files import csv_text
from coherence.llm.models import Usage
from coherence.records import Record

BEGUN: Final = "begun"
OK: Final = "ok"


class Charge(Record, frozen=True):
    """One row: who asked (`label`), what for, how it ended, its tokens and dollars; None is unknown."""

    time: str
    label: str
    model: str
    sample: int
    key: str
    attempt: str
    status: str
    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    dollars: float | None = None
    reserved: float | None = None
    batch: bool = False

    @property
    def reservation(self) -> str:
        """The attempt of the row that reserved for this one."""
        return self.attempt.partition("/")[0]

    @property
    def counted(self) -> float:
        """The dollars that count against a budget."""
        return self.dollars if self.dollars is not None else self.reserved or 0.0


COLUMNS: Final = Charge.__struct_fields__


def usage_of(reported: Mapping[str, Any]) -> Usage:
    """Return the tokens that the API's `usage` reports; what is not a number counts as 0."""
    lifetimes = reported.get("cache_creation")
    hour = lifetimes.get("ephemeral_1h_input_tokens") if isinstance(lifetimes, dict) else 0
    return Usage(
        input=_number(reported.get("input_tokens")),
        output=_number(reported.get("output_tokens")),
        cache_read=_number(reported.get("cache_read_input_tokens")),
        cache_write=_number(reported.get("cache_creation_input_tokens")),
        cache_write_1h=_number(hour),
    )


class Ledger:
    """The file and the running total of what counts; rows of other jobs are read as they come."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offset = 0
        self._counted: dict[str, float] = {}
        self._results: dict[str, float] = {}
        self._total = 0.0

    def add(self, charge: Charge) -> None:
        """Append a row."""
        with self._locked() as file:
            _append(file, charge)

    def reserve(self, charge: Charge, budget: float) -> bool:
        """Append a row of status `begun` if what counts stays within the budget; return whether it does.

        What the same attempt has reserved before, as in a run that was killed, is not counted twice.
        """
        with self._locked() as file:
            self._read_on(file)
            if self._total - self._counted.get(charge.reservation, 0.0) + charge.counted > budget:
                return False
            _append(file, charge)
        return True

    def spent(self) -> float:
        """Return the dollars that count against a budget."""
        if self.path.exists():
            with self._locked() as file:
                self._read_on(file)
        return self._total

    @contextmanager
    def _locked(self) -> Iterator[int]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file
        finally:
            os.close(file)

    def _read_on(self, file: int) -> None:
        """Take in the rows written since the last look."""
        size = os.fstat(file).st_size
        if size < self._offset:  # somebody began the file anew
            self._offset, self._counted, self._results, self._total = 0, {}, {}, 0.0
        data = os.pread(file, size - self._offset, self._offset)
        for charge in _charges(self.path, data, header=self._offset == 0):
            self._total += charge.counted - self._counted.pop(charge.reservation, 0.0)
            if charge.status == BEGUN:
                self._counted[charge.reservation] = charge.counted
            elif charge.attempt != charge.reservation:
                self._total -= self._results.get(charge.attempt, 0.0)
                self._results[charge.attempt] = charge.counted
        self._offset = size


def read_ledger(path: Path) -> list[Charge]:
    """Return a row a call, the end of each in the place of its beginning; none where there is no file."""
    if not path.exists():
        return []
    rows: list[Charge | None] = []
    begun: dict[str, int] = {}
    ended: dict[str, int] = {}
    for charge in _charges(path, path.read_bytes(), header=True):
        place = begun.pop(charge.reservation, None)
        if charge.status != BEGUN and charge.attempt in ended:
            if place is not None:
                rows[place] = None
            place = ended[charge.attempt]
        if place is None:
            place = len(rows)
            rows.append(charge)
        rows[place] = charge
        (begun if charge.status == BEGUN else ended)[charge.attempt] = place
    return [row for row in rows if row is not None]


def _append(file: int, charge: Charge) -> None:
    row = {name: "" if value is None else value for name, value in msgspec.structs.asdict(charge).items()}
    row |= {"batch": str(charge.batch).lower()}
    header, line = csv_text([row], COLUMNS).split("\n", 1)
    size = os.fstat(file).st_size
    if size == 0:
        line = f"{header}\n{line}"
    elif os.pread(file, 1, size - 1) != b"\n":  # a row cut short by a full disk
        line = f"\n{line}"
    data = line.encode()
    if os.write(file, data) != len(data):
        raise OSError("the ledger's row was not written whole: the disk may be full")


def _charges(path: Path, data: bytes, header: bool) -> Iterator[Charge]:
    lines = data.decode("utf-8", "replace").splitlines()
    reader = DictReader(lines[header:], COLUMNS)
    for number, row in enumerate(reader, 2):
        plain = {name: value for name, value in row.items() if value != ""}
        try:
            yield msgspec.convert(plain, Charge, strict=False)
        except (msgspec.ValidationError, TypeError) as error:
            raise InputError(
                f"{path}: row {number} (of those last read) is no row of the ledger: {error}. Mend or delete "
                "it; what was spent is not known while it is there."
            ) from error


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
