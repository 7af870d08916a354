"""One process run to its end or to its limits: without a shell, and nothing of its session is left."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from tempfile import TemporaryFile
from threading import Event
from typing import IO, Final, Literal

from coherence.records import Record

LOOK: Final = 0.1  # seconds between two looks at the clock
CHUNK: Final = 65_536
ERRORS_KEPT: Final = 4_000  # bytes of the end of stderr
AFTER_END: Final = 1.0  # seconds that output may come from children that outlive the command


class Limits(Record, frozen=True):
    """How long a process may take and how much it may write to stdout."""

    timeout_seconds: float
    max_output_bytes: int


class Ended(Record, frozen=True):
    """How a process ended: its code (negative: the signal), or the limit that it was ended at."""

    code: int | None
    limit: Literal["timeout", "oversized", "stopped"] | None
    output: bytes
    errors: bytes
    seconds: float


class NotStartedError(Exception):
    """The operating system could not start a command: nothing was run."""


def run(
    arguments: Sequence[str],
    given: bytes,
    environment: Mapping[str, str],
    limits: Limits,
    stop: Event,
    held: int,
) -> Ended:
    """Run a command with `given` on stdin; raise NotStartedError where it cannot be started.

    The process and its children keep the file descriptor `held` open, so that its lock lasts as long as one
    of them. Once `stop` is set or a limit is met, all of its session is killed.
    """
    began = time.monotonic()
    with TemporaryFile() as stdin:
        stdin.write(given)
        stdin.seek(0)
        try:
            process = subprocess.Popen(
                list(arguments),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(environment),
                pass_fds=(held,),
                start_new_session=True,
            )
        except OSError as error:
            raise NotStartedError(str(error)) from error
    listener = _Listener(process, limits, began)
    try:
        limit = listener.listen(stop)
    finally:
        _kill(process)
    code = process.wait()
    return Ended(
        code=None if limit else code,
        limit=limit,
        output=bytes(listener.output[: limits.max_output_bytes]),
        errors=bytes(listener.errors),
        seconds=round(time.monotonic() - began, 3),
    )


class _Listener:
    """Takes in what a process writes, within its limits."""

    def __init__(self, process: subprocess.Popen[bytes], limits: Limits, began: float) -> None:
        self.output = bytearray()
        self.errors = bytearray()
        self._process = process
        self._limits = limits
        self._deadline = began + limits.timeout_seconds
        self._ended: float | None = None

    def listen(self, stop: Event) -> Literal["timeout", "oversized", "stopped"] | None:
        """Return once the process has ended, or the limit that it has met."""
        assert self._process.stdout and self._process.stderr  # noqa: S101 - both are pipes
        with selectors.DefaultSelector() as selector, self._process.stdout, self._process.stderr:
            selector.register(self._process.stdout, selectors.EVENT_READ, self.output)
            selector.register(self._process.stderr, selectors.EVENT_READ, self.errors)
            while not self._is_over(selector):
                for key, _ in selector.select(LOOK):
                    self._take(selector, key.fileobj, key.data)  # type: ignore[arg-type]
                if len(self.output) > self._limits.max_output_bytes:
                    return "oversized"
                if stop.is_set():
                    return "stopped"
                if self._ended is None and time.monotonic() > self._deadline:
                    return "timeout"
        return None

    def _take(self, selector: selectors.BaseSelector, pipe: IO[bytes], into: bytearray) -> None:
        data = os.read(pipe.fileno(), CHUNK)
        if not data:
            selector.unregister(pipe)
        into += data
        if into is self.errors:
            del self.errors[:-ERRORS_KEPT]

    def _is_over(self, selector: selectors.BaseSelector) -> bool:
        """Whether the process has ended, and its pipes too or the time left to its children."""
        if self._process.poll() is None:
            if not selector.get_map():
                time.sleep(LOOK / 2)
            return False
        self._ended = self._ended or time.monotonic()
        return not selector.get_map() or time.monotonic() > self._ended + AFTER_END


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the process and what is left of its group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
