"""Samples from a model behind the Messages API: each reply is stored before it is read."""

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Final

from coherence.errors import InputError
from coherence.files import digest
from coherence.incoherence.stopping import Rule, stops
from coherence.judges.hearing import refused_before
from coherence.llm.account import Account
from coherence.llm.batches import BatchClient
from coherence.llm.client import Ask, Client
from coherence.llm.request import Request, store_key
from coherence.llm.settings import connection_of
from coherence.llm.store import Reply, ReplyStore
from coherence.sampling.asking import ModelSettings, request_for
from coherence.sampling.items import Item, same_questions
from coherence.sampling.replies import sample_of, text_in
from coherence.sampling.samples import Sample

LONG: Final = 40  # characters of a reply that would hardly be given twice by chance


class ModelSampler:
    """Asks a model; the n-th sample of an item is the reply stored under that index."""

    def __init__(self, settings: ModelSettings, replies: Path, account: Account | None = None) -> None:
        self._settings = settings
        self._account = account
        self._store = ReplyStore(replies)
        self._texts: dict[str, dict[int, str]] = {}  # digests of longer replies

    @property
    def repeats_itself(self) -> bool:
        """Whether all replies to an item were word for word the same, for every item asked more than once.

        Replies of a few words are left out, for they say nothing of how they were drawn.
        """
        repeated = [texts.values() for texts in self._texts.values() if len(texts) > 1]
        return bool(repeated) and all(len(set(texts)) == 1 for texts in repeated)

    def draw(self, items: Sequence[Item], samples: int, rule: Rule | None) -> Iterator[Sample]:
        """Yield the samples of each item in order, `samples` of each, or fewer where the rule stops.

        Raises CredentialError, ServiceError or BudgetError, or offline ReplyMissingError, after all that
        could be asked; InputError for two items that would get the same replies.
        """
        for one, other in same_questions(tuple(items)):
            raise InputError(
                f"items {one!r} and {other!r} ask the same: their samples would be the same replies. Draw "
                "more `samples` of one of them."
            )
        kind = BatchClient if self._settings.mode == "batch" else Client
        client = kind(self._store, connection_of(self._settings), self._account)
        if rule is None:
            yield from client.each(product(items, range(samples)), self._sample)
            return

        async def until_stopped(item: Item, ask: Ask) -> list[Sample]:
            drawn: list[Sample] = []
            while len(drawn) < samples and stops(rule, [sample.identity for sample in drawn]) is None:
                drawn.append(await self._sample((item, len(drawn)), ask))
            return drawn

        for drawn in client.each(items, until_stopped):
            yield from drawn

    def rehearse(
        self, items: Sequence[Item], samples: int, rule: Rule | None
    ) -> Iterator[tuple[str, Request, Reply | None]]:
        """Yield what would be asked at the most, with the replies that are stored already; sends nothing."""
        for item in items:
            request = request_for(item, self._settings)
            identities: list[str | None] = []
            for number in range(samples):
                key = store_key(request, number)
                reply = self._store.get(key)
                yield key, request, reply
                if reply is not None:
                    identities.append(sample_of(item, number, reply, self._settings).identity)
                    if rule is not None and len(identities) == number + 1 and stops(rule, identities):
                        break

    async def _sample(self, pair: tuple[Item, int], ask: Ask) -> Sample:
        item, number = pair
        request = request_for(item, self._settings)
        refused = refused_before(self._store, store_key(request, number))
        if refused is not None:
            return Sample(item.id, number, "overflow", refused.detail, seed=item.seed)
        got = await ask(request, number)
        if isinstance(got, Reply) and len(text := text_in(got)) >= LONG:
            self._texts.setdefault(item.id, {})[number] = digest(text)
        return sample_of(item, number, got, self._settings)
