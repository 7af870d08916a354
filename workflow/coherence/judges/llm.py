"""The llm judge: a prompt file and a model behind the Messages API, each reply stored before it is read."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from msgspec import Meta
from msgspec.structs import replace

from coherence.errors import PromptError, ReplyMissingError
from coherence.judges import quotes
from coherence.judges.flagging import AbsentQuote, verified
from coherence.judges.frame import FRAME_NOTE, framed
from coherence.judges.hearing import NO_REPLY, NOT_RUN, Heard, hear, refused_before
from coherence.judges.masking import Masked, masked
from coherence.judges.parts import merged, notes_for
from coherence.judges.prompts import Prompt, read_prompt
from coherence.judges.schema import PLACES, Answer, output_schema
from coherence.judges.shown import without_thoughts
from coherence.judges.windows import Window, room_for_transcript, smaller_room, tokens_in, windows
from coherence.llm import settings as settings_of_calls
from coherence.llm.account import Account
from coherence.llm.batches import BatchClient
from coherence.llm.client import Ask, Client, Watch
from coherence.llm.request import (
    Cache,
    Connection,
    Request,
    custom_headers,
    store_key,
)
from coherence.llm.settings import CallSettings
from coherence.llm.store import Failure, Reply, ReplyStore
from coherence.records import Judgement, JudgementState, Transcript
from coherence.vocabulary import MAX_CONFIDENCE, MIN_CONFIDENCE

DEFAULT_RATING_AT_MOST: Final = 3  # the middle of the scale; the paper states no threshold

IN_KEY: Final = frozenset(
    {
        *settings_of_calls.IN_KEY,
        "prompt",  # its text; a renamed file changes nothing
        "drop",  # parts of that text
        "replace",
        "show_thoughts",
        "order",
        "structured_output",
    }
)
NEUTRAL: Final = frozenset(
    {
        *settings_of_calls.NEUTRAL,
        "mask_secrets",  # the masked text is in the request, so that the key changes just where a secret was
        "samples",  # each sample's index is in its key, so that more samples keep the first ones
        "rating_at_most",  # applied to the reply, so that another threshold costs nothing
        "absent_quote",  # applied to the reply
        "ask_again",  # a second request after the first, which stays what it is
        "window_tokens",  # a transcript that fits is sent as it is; parts are different texts
        "window_overlap_steps",  # as above
    }
)


class LlmSettings(CallSettings, frozen=True, forbid_unknown_fields=True):
    """What an llm judge is asked and how; None is not sent. What is `IN_KEY` makes new requests."""

    prompt: str
    drop: tuple[str, ...] = ()
    replace: dict[str, str] = {}
    show_thoughts: bool = True
    model: str = "claude-sonnet-4-6"
    order: Literal["transcript_first", "instructions_first"] = "transcript_first"
    mask_secrets: bool = True
    samples: Annotated[int, Meta(ge=1)] = 1
    cache: Literal["auto", "none", "5m", "1h"] = "auto"
    rating_at_most: Annotated[int, Meta(ge=MIN_CONFIDENCE, le=MAX_CONFIDENCE)] | None = None
    structured_output: bool = True
    absent_quote: AbsentQuote = "keep"
    ask_again: bool = True
    window_tokens: Annotated[int, Meta(ge=100)] | None = None
    window_overlap_steps: Annotated[int, Meta(ge=0)] = 4


def prompt_of(settings: LlmSettings) -> Prompt:
    """Return the judge's prompt, assembled; raises PromptError."""
    return read_prompt(Path(settings.prompt), settings.drop, settings.replace)


def rating_limit(settings: LlmSettings) -> int | None:
    """Return the highest rating that flags, None for a prompt that reports none.

    Raises PromptError for a `rating_at_most` on such a prompt.
    """
    if prompt_of(settings).reports == "rating+spans":
        return settings.rating_at_most or DEFAULT_RATING_AT_MOST
    if settings.rating_at_most is not None:
        raise PromptError(f"{settings.prompt}: `rating_at_most` is set, but the prompt reports no rating")
    return None


def cache_of(settings: LlmSettings) -> Cache:
    """Return the lifetime of the cached prefix; `auto` caches where requests of one job share it."""
    if settings.cache != "auto":
        return settings.cache
    return "5m" if settings.samples > 1 or settings.order == "instructions_first" else "none"


def connection_of(settings: LlmSettings, **changes: Any) -> Connection:
    """Return how the judge's requests travel."""
    return settings_of_calls.connection_of(settings, **{"cache": cache_of(settings), **changes})


class LlmJudge:
    """Judges each transcript with `samples` replies of a model.

    With `not_run`, only stored replies are used, and what has none is unjudged (not_run) instead of an error.
    """

    def __init__(
        self,
        name: str,
        settings: LlmSettings,
        replies: Path,
        account: Account | None = None,
        not_run: bool = False,
    ) -> None:
        self.name = name
        self._not_run = not_run
        self._account = account
        self._settings = settings
        self._prompt = prompt_of(settings)
        self._reports = self._prompt.reports
        self._where = PLACES.get(self._reports, quotes.AGENTS)
        self._limit = rating_limit(settings)
        self._room = settings.window_tokens or room_for_transcript(
            settings.model, FRAME_NOTE + self._prompt.text, settings.max_tokens
        )
        self._store = ReplyStore(replies)

    def judge(self, transcripts: Iterable[Transcript]) -> Iterator[Judgement]:
        """Yield the judgements of each transcript, one a sample, in order.

        Raises CredentialError, ServiceError or BudgetError, or offline ReplyMissingError, after all that
        could be judged.
        """
        if self._not_run:
            return self._replayed(transcripts)
        kind = BatchClient if self._settings.mode == "batch" else Client
        client = kind(self._store, connection_of(self._settings), self._account)
        return client.each(self._pairs(transcripts), self._judged_masked)

    def _replayed(self, transcripts: Iterable[Transcript]) -> Iterator[Judgement]:
        client = Client(self._store, connection_of(self._settings, offline=True))
        with suppress(ReplyMissingError):  # each transcript it is about has been answered for
            yield from client.each(self._pairs(transcripts), self._judged_masked)

    def rehearse(self, transcripts: Iterable[Transcript], watch: Watch) -> None:
        """Go through the judging with stored replies only, telling `watch` of every request.

        Of a transcript in parts that too which comes after a part without a reply, less what that would note.
        """
        client = Client(self._store, connection_of(self._settings, offline=True), watch=watch)

        async def rehearsed(pair: tuple[Masked, int], ask: Ask) -> Judgement:
            return await self._judged_masked(pair, partial(_asked_or_missing, ask))

        with suppress(ReplyMissingError):
            for _ in client.each(self._pairs(transcripts), rehearsed):
                pass

    def _pairs(self, transcripts: Iterable[Transcript]) -> Iterator[tuple[Masked, int]]:
        samples = range(self._settings.samples)
        return (pair for each in transcripts for pair in product((self._masked(each),), samples))

    def request(self, transcript: Transcript) -> Request:
        """Return what is sent for a transcript that is not divided, its secrets masked."""
        hidden = self._masked(transcript).transcript
        return self._request(hidden if self._settings.show_thoughts else without_thoughts(hidden))

    def _request(self, transcript: Transcript, notes: str = "") -> Request:
        """Return what is sent for a masked transcript; `notes` say what a part of one is a part of."""
        settings = self._settings
        blocks = [_block(text) for text in (framed(transcript), notes, self._prompt.text) if text]
        if settings.order == "instructions_first":
            blocks.reverse()
        return Request(
            model=settings.model,
            messages=({"role": "user", "content": blocks},),
            system=(_block(FRAME_NOTE),),
            max_tokens=settings.max_tokens,
            output_schema=output_schema(self._reports) if settings.structured_output else None,
            effort=settings.effort,
            thinking=settings.thinking,
            temperature=settings.temperature,
            api_version=settings.sent_version,
            extra=settings.extra,
            custom_headers=custom_headers(settings.sent_version),
        )

    def _masked(self, transcript: Transcript) -> Masked:
        return masked(transcript) if self._settings.mask_secrets else Masked(transcript)

    async def _judged_masked(self, pair: tuple[Masked, int], ask: Ask) -> Judgement:
        """Judge the masked transcript: quotes are looked up in what was sent."""
        hidden, sample = pair
        judgement = await self._judged((hidden.transcript, sample), ask)
        masked_places = hidden.total if judgement.reply else 0
        return replace(judgement, masked=masked_places, substrate=hidden.transcript.substrate)

    async def _judged(self, pair: tuple[Transcript, int], ask: Ask) -> Judgement:
        transcript, sample = pair
        if transcript.substrate == "none" and self._reports not in PLACES:
            return self._judgement(transcript, sample, "unflagged", detail="no thought to judge: not sent")
        if not self._settings.show_thoughts:
            transcript = without_thoughts(transcript)
        request, room, refused = self._request(transcript), self._room, tuple[str, ...]()
        if self._fits(request):
            heard = await self._hear(request, sample, ask)
            if heard.reason != "overflow":
                return self._read(transcript, sample, heard)
            room, refused = smaller_room(transcript, room, heard.detail), heard.replies
        parts = windows(transcript, room, self._settings.window_overlap_steps)
        together = merged(await self._in_parts(parts, transcript, sample, ask))
        together = replace(together, replies=(*refused, *together.replies))
        return self._read(transcript, sample, together, len(parts))

    def _fits(self, request: Request) -> bool:
        (turn,) = request.messages
        sent = sum(tokens_in(block["text"]) for block in turn["content"])
        return sent - tokens_in(self._prompt.text) <= self._room

    async def _hear(self, request: Request, sample: int, ask: Ask) -> Heard:
        refused = refused_before(self._store, store_key(request, sample))
        if refused is not None:
            return refused
        try:
            return await hear(request, sample, ask, self._reports, self._settings.ask_again)
        except ReplyMissingError:
            if self._not_run:
                return Heard(None, (), NOT_RUN, NO_REPLY)
            raise

    async def _in_parts(
        self, parts: tuple[Window, ...], transcript: Transcript, sample: int, ask: Ask
    ) -> list[tuple[Window, Heard]]:
        """Return what was heard of each part; each is told what the last answer before it noted."""
        answered: list[tuple[Window, Heard]] = []
        before: Answer | None = None
        for part in parts:
            request = self._request(part.transcript, notes_for(part, before, self._reports))
            heard = await self._hear(request, sample, ask)
            if heard.answer is not None:
                before = replace(
                    heard.answer, spans=quotes.checked(heard.answer.spans, transcript, self._where)
                )
                heard = replace(heard, answer=before)
            answered.append((part, heard))
        return answered

    def _read(self, transcript: Transcript, sample: int, heard: Heard, parts: int = 1) -> Judgement:
        """Return what was heard as a judgement: nothing that was lost on the way makes it unflagged."""
        answer = heard.answer or Answer("", ())
        spans = quotes.checked(answer.spans, transcript, self._where)
        state = self._state(answer)
        if heard.reason is not None and state == "unflagged":
            state = "unjudged"
        judgement = self._judgement(
            transcript,
            sample,
            state,
            reason=heard.reason if state == "unjudged" else None,
            detail="; ".join(filter(None, (heard.detail, *quotes.strays(spans, transcript)))),
            summary=answer.summary,
            spans=spans,
            rating=answer.rating,
            reply=heard.replies[-1] if heard.replies else None,
            replies=heard.replies,
            windows=parts,
            asked_again=heard.asked_again,
            lost=heard.lost,
        )
        return verified(judgement, self._settings.absent_quote, by_spans=answer.rating is None)

    def _state(self, answer: Answer) -> JudgementState:
        if answer.rating is None or self._limit is None:
            return "flagged" if answer.spans else "unflagged"
        return "flagged" if answer.rating <= self._limit else "unflagged"

    def _judgement(
        self, transcript: Transcript, sample: int, state: JudgementState, **fields: Any
    ) -> Judgement:
        return Judgement(
            trajectory=transcript.id,
            judge=self.name,
            kind="llm",
            state=state,
            substrate=transcript.substrate,
            sample=sample,
            model=self._settings.model,
            basis=self._prompt.basis + ("" if self._settings.show_thoughts else ", thoughts not shown"),
            **fields,
        )


async def _asked_or_missing(ask: Ask, request: Request, sample: int) -> Reply | Failure:
    """Return the stored reply, or in its place a failure, which ends no judging in parts."""
    try:
        return await ask(request, sample)
    except ReplyMissingError:
        return Failure(store_key(request, sample), sample, request.model, "not asked yet", "")


def _block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
