"""Where each request of a run in batches stands: asked, failed for good, or stuck in a batch."""

from collections import Counter
from collections.abc import Collection
from typing import Final

from coherence.llm.account import Account
from coherence.llm.store import Failure

ROUNDS: Final = 3  # batches that may carry one request before it counts as failed


class Standing:
    """`outstanding` requests wait for a batch or in one; `stuck` ones are in one that gives nothing."""

    def __init__(self, account: Account | None = None) -> None:
        self._account = account
        self.outstanding: set[str] = set()
        self.stuck: dict[str, str] = {}
        self._rounds: Counter[str] = Counter()
        self._failures: dict[str, Failure] = {}

    def failure(self, key: str) -> Failure | None:
        """Return the last failure of a request that is not submitted again."""
        return self._failures.get(key) if self._rounds[key] >= ROUNDS else None

    def fail(self, failure: Failure, for_good: bool, billed: bool = False) -> None:
        """Note that a request got no reply; `billed` where it may have been: its row stays."""
        if not billed:
            self.unbilled(failure.model, failure.sample, failure.key, failure.detail, failure.request_id)
        self._failures[failure.key] = failure
        self._rounds[failure.key] = ROUNDS if for_good else self._rounds[failure.key] + 1

    def unbilled(self, model: str, sample: int, key: str, status: str, request_id: str | None = None) -> None:
        """Note that a request costs nothing, so that it reserves no part of the budget.

        `request_id` is the batch it was in, or the refusal of one.
        """
        if self._account is not None:
            self._account.release(model, sample, key, status, request_id)

    def release(self, keys: Collection[str]) -> None:
        """Note that these are in no batch any more: they are answered, or to be asked again."""
        self.outstanding.difference_update(keys)
