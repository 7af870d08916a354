"""How many calls are under way at once, and how long to wait: less after an overload, then more again."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

FIRST_WAIT: Final = 0.5  # seconds before the first new try; doubled with each further one
LONGEST_WAIT: Final = 60.0  # seconds between tries where the server names no time
LONGEST_OBEYED: Final = 120.0  # seconds of a server's retry-after that are waited; then it is tried again
RECOVERY: Final = 2  # successes that add a place: overloads now and then must not hold a run at one call
JITTER: Final = 0.25  # share of a wait that is left to chance, so that callers do not come back together


def wait_before(attempt: int, retry_after: float | None) -> float:
    """Return the seconds to wait before a request's next try, the n-th having failed (n from 0)."""
    if retry_after is not None and retry_after > 0:  # "at once" would use up all tries in no time
        return min(retry_after, LONGEST_OBEYED)
    longest = min(FIRST_WAIT * 2.0**attempt, LONGEST_WAIT)
    return longest * (1 - JITTER * random.random())  # noqa: S311 - not a secret


class Pace:
    """A bounded number of places; an overload halves them, every other success adds one."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.limit = most
        self._busy = 0
        self._successes = 0
        self._rest_until = 0.0
        self._round = 0
        self._freed = asyncio.Condition()

    @asynccontextmanager
    async def place(self) -> AsyncIterator[int]:
        """Wait for a place and hold it; the value tells `overloaded` which calls began before a slow-down."""
        await self._taken()
        try:
            yield self._round
        finally:
            self._busy -= 1
            async with self._freed:
                self._freed.notify_all()

    async def _taken(self) -> None:
        while True:
            rest = self._rest_until - asyncio.get_running_loop().time()
            if rest > 0:
                await asyncio.sleep(rest)
                continue
            async with self._freed:
                if self._busy < self.limit:
                    self._busy += 1
                    return
                await self._freed.wait()

    def overloaded(self, begun: int, retry_after: float | None) -> None:
        """Note that a call was turned away: fewer places, and none before the time the server names.

        Calls that began before the last slow-down tell nothing new.
        """
        if retry_after is not None:
            until = asyncio.get_running_loop().time() + wait_before(0, retry_after)
            self._rest_until = max(self._rest_until, until)
        if begun == self._round:
            self._round += 1
            self._successes = 0
            self.limit = max(1, self.limit // 2)

    def succeeded(self) -> None:
        """Note that a call was answered."""
        self._successes += 1
        if self.limit < self.most and self._successes >= RECOVERY:
            self._successes = 0
            self.limit += 1
