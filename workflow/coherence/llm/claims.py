"""Claims on requests under way: jobs that run at once and ask the same thing pay for it once.

A claim is a lock on one byte of a file, chosen by the request's key: the system gives it up with its process.
Within a process requests of one key share a call anyway.
"""

import fcntl
import os
from pathlib import Path
from typing import Final

DIGITS: Final = 15  # hexadecimal, of the key: 60 bits, as much as an offset can hold
ELSEWHERE: Final = (BlockingIOError, PermissionError)  # what a lock that another process holds raises


class Claims:
    """The claims of one process on the requests of a store."""

    def __init__(self, root: Path) -> None:
        self._path = root / ".claims"
        self._file: int | None = None

    def take(self, key: str) -> bool:
        """Return whether the request is this process's to send; where files cannot be locked, it is."""
        try:
            if self._file is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, int(key[:DIGITS], 16))
        except ELSEWHERE:
            return self._file is None
        except OSError:
            return True
        return True

    def release(self, key: str) -> None:
        """Give a claim up."""
        if self._file is not None:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, int(key[:DIGITS], 16))

    def close(self) -> None:
        """Give all claims up."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
