"""What happens to work under way when the process is told to stop."""

import asyncio
import signal
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

R = TypeVar("R")


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
