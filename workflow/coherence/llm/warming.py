"""Warming the prompt cache: of requests with one prefix, one goes first and the others follow its reply."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

REMEMBERED: Final = 1000  # prefixes; far more than are under way at once


class Warming:
    """Knows which prefixes have been sent and answered in this run."""

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self._warm: OrderedDict[str, None] = OrderedDict()

    @asynccontextmanager
    async def first(self, prefix: str | None) -> AsyncIterator[None]:
        """Hold back while another request with the same prefix is the first; None never waits.

        Where the first one fails, the next one takes its place.
        """
        if prefix is None or self._is_warm(prefix):
            yield
            return
        lock = self._locks.setdefault(prefix, asyncio.Lock())
        await lock.acquire()
        if self._is_warm(prefix):
            lock.release()
            yield
            return
        try:
            yield
        finally:
            lock.release()

    def warmed(self, prefix: str | None) -> None:
        """Note that a request with the prefix was answered."""
        if prefix is None:
            return
        self._warm[prefix] = None
        self._locks.pop(prefix, None)
        while len(self._warm) > REMEMBERED:
            self._warm.popitem(last=False)

    def _is_warm(self, prefix: str) -> bool:
        if prefix in self._warm:
            self._warm.move_to_end(prefix)
            return True
        return False
