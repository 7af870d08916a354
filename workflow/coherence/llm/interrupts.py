"""What happens to work under way when the process is told to stop."""

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any, Final, TypeVar

from coherence.records import Record

R = TypeVar("R")

SAME_WISH: Final = 1.0  # seconds: a terminal and a scheduler may both pass one wish on


class LastCalls(Record, frozen=True):
    """What became of the requests of a run that was told to stop; `seconds` is how long it waited at most."""

    stored: int
    failed: int
    given_up: int
    unsent: int
    seconds: float

    def __str__(self) -> str:
        """Say it in one sentence each."""
        under_way = self.stored + self.failed + self.given_up
        given_up = (
            f", {self.given_up} not answered within {self.seconds:g} s, which may be billed"
            if self.given_up
            else ""
        )
        return (
            f"of {under_way} requests under way {self.stored} were answered and are stored, {self.failed} "
            f"failed{given_up}. {self.unsent} more were due and not sent, nor was any later one. Run again "
            "to ask for the rest."
        )


@contextmanager
def told_to_stop(first: Callable[[], None]) -> Iterator[None]:
    """Call `first` at the first SIGINT (Ctrl-C) or SIGTERM; raise KeyboardInterrupt at a second one.

    A signal that was ignored, as SIGINT is in a shell's background jobs, goes on being ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    told: list[float] = []

    def handle(*_: Any) -> None:
        if not told:
            told.append(monotonic())
            first()
        elif monotonic() - told[0] > SAME_WISH:
            raise KeyboardInterrupt

    heeded = [n for n in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(n) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handle) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Treat SIGTERM, which Snakemake and schedulers send, as Ctrl-C: what is under way is left in order."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(*_: Any) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background jobs
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)


async def finished(step: Coroutine[Any, Any, R]) -> R:
    """Return the step's result; a first interrupt waits for its end."""
    task = asyncio.ensure_future(step)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
