"""Reading what became of a batch: each reply is stored as its line arrives, whatever the other lines hold."""

import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any, Final

from coherence.files import without_surrogates
from coherence.llm.batch_api import Result, parsed
from coherence.llm.batch_folder import Asked, Batch, Requests
from coherence.llm.sending import LONGEST_DETAIL
from coherence.llm.store import Failure, Reply

PERMANENT: Final = frozenset(
    {
        "authentication_error",
        "billing_error",
        "invalid_request_error",
        "not_found_error",
        "permission_error",
        "request_too_large",
    }
)
Keep = Callable[[Asked, bytes, str], Reply | Failure]
log = logging.getLogger(__name__)


class Results:
    """The results of one batch, matched by custom_id; `keep` stores a message as it came.

    `left` are the requests without a result so far, `permanent` those not worth another try, and `kept` those
    whose failure `keep` has stored.
    """

    def __init__(self, batch: Batch, requests: Requests, keep: Keep) -> None:
        self._batch = batch
        self._requests = requests
        self._keep = keep
        self.left = set(batch.keys)
        self.failures: dict[str, Failure] = {}
        self.permanent: set[str] = set()
        self.kept: set[str] = set()

    async def read(self, lines: AsyncIterator[bytes]) -> None:
        """Take each result once, however often this is called."""
        seen: Counter[str] = Counter()
        async for line in lines:
            if not line.strip():
                continue
            read = parsed(line)
            seen[self._taken(read.custom_id, read.result, seen) if read else "unreadable"] += 1
        for kind in ("duplicated", "unknown", "unreadable"):
            if seen[kind]:
                log.warning("batch %s: %d results are %s", self._batch.id, seen[kind], kind)

    def missing(self) -> None:
        """Count requests without a result as failed."""
        for key in self.left:
            self.failures[key] = self._failure(key, "batch ended without a result")

    def counts(self) -> dict[str, int]:
        """Return how many requests were answered and how many were not."""
        failed = len(self.failures)
        return {"failed": failed, "missing": len(self.left), "succeeded": len(self._batch.keys) - failed}

    def _taken(self, key: str, result: Result, seen: Counter[str]) -> str:
        if key not in self._requests:
            return "unknown"
        seen[key] += 1
        if key in self.left or (key in self.failures and result.type == "succeeded"):
            self.left.discard(key)
            self._take(key, result)
        return "duplicated" if seen[key] > 1 else "read"

    def _take(self, key: str, result: Result) -> None:
        if result.type == "succeeded":
            answer = self._keep(self._requests[key], bytes(result.message), self._batch.id or "")
            self.failures.pop(key, None)
            if isinstance(answer, Failure):  # paid for and without a message: kept by `keep`
                self.failures[key] = answer
                self.kept.add(key)
                self.permanent.add(key)
            return
        self.failures[key] = self._failure(key, result.detail)
        if result.error_type in PERMANENT:
            self.permanent.add(key)

    def _failure(self, key: str, detail: str) -> Failure:
        return failure_of(self._requests[key], detail, request_id=self._batch.id)


def failure_of(asked: Asked, detail: str, **fields: Any) -> Failure:
    """Return the record of a request that got no reply."""
    time = datetime.now(UTC).isoformat(timespec="seconds")
    said = " ".join(without_surrogates(detail).split())[:LONGEST_DETAIL]
    return Failure(asked.key, asked.sample, asked.request.model, said, time, **fields)
