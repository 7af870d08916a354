"""The llm judge: a prompt file and a model behind the Messages API, each reply stored before it is read."""

from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from coherence.judges import quotes
from coherence.judges.frame import FRAME_NOTE, framed
from coherence.judges.prompts import read_prompt
from coherence.judges.schema import Answer, output_schema, read_answer
from coherence.llm.batches import BatchClient
from coherence.llm.client import Ask, Client
from coherence.llm.request import (
    DEFAULT_MAX_TOKENS,
    MOST_TOKENS,
    SAMPLING_API_VERSION,
    Connection,
    Request,
    store_key,
)
from coherence.llm.store import Failure, Reply, ReplyStore
from coherence.records import Judgement, JudgementState, Record, Transcript
from coherence.vocabulary import MAX_CONFIDENCE, MIN_CONFIDENCE

DEFAULT_RATING_AT_MOST: Final = 3  # the middle of the scale; the paper states no threshold
COMPLETE: Final = frozenset({"end_turn", "stop_sequence", None})  # None: servers that name no reason
INCOMPLETE: Final = {
    "max_tokens": "truncated",
    "refusal": "refusal",
    "model_context_window_exceeded": "overflow",
}

IN_KEY: Final = frozenset(
    {
        "prompt",  # its text; a renamed file changes nothing
        "model",
        "max_tokens",
        "order",
        "effort",
        "thinking",
        "temperature",
        "api_version",
        "extra",
    }
)
NEUTRAL: Final = frozenset(
    {
        "base_url",
        "concurrency",
        "max_retries",
        "timeout_seconds",
        "offline",
        "mode",  # a batch carries the same request: replies serve both modes
        "poll_seconds",
        "samples",  # each sample's index is in its key, so that more samples keep the first ones
        "rating_at_most",  # applied to the reply, so that another threshold costs nothing
    }
)


class LlmSettings(Record, frozen=True, forbid_unknown_fields=True):
    """What an llm judge is asked and how; None is not sent. A change of what is `IN_KEY` makes new requests.

    A `temperature` also sends the last API version that takes one, unless `api_version` says otherwise.
    """

    prompt: str
    model: str = "claude-sonnet-4-6"
    max_tokens: Annotated[int, Meta(ge=1, le=MOST_TOKENS)] = DEFAULT_MAX_TOKENS
    order: Literal["transcript_first", "instructions_first"] = "transcript_first"
    effort: str | None = None
    thinking: dict[str, Any] | None = None
    temperature: float | None = None
    api_version: str | None = None
    extra: dict[str, Any] = {}
    base_url: str | None = None
    concurrency: Annotated[int, Meta(ge=1)] = 8
    max_retries: Annotated[int, Meta(ge=0)] = 8
    timeout_seconds: Annotated[float, Meta(gt=0)] = 600.0
    offline: bool = False
    mode: Literal["direct", "batch"] = "direct"
    poll_seconds: Annotated[float, Meta(gt=0)] = 60.0
    samples: Annotated[int, Meta(ge=1)] = 1
    rating_at_most: Annotated[int, Meta(ge=MIN_CONFIDENCE, le=MAX_CONFIDENCE)] | None = None


class LlmJudge:
    """Judges each transcript with `samples` replies of a model."""

    def __init__(self, name: str, settings: LlmSettings, replies: Path) -> None:
        self.name = name
        self._settings = settings
        self._prompt = read_prompt(Path(settings.prompt))
        self._store = ReplyStore(replies)

    def judge(self, transcripts: Iterable[Transcript]) -> Iterator[Judgement]:
        """Yield the judgements of each transcript, one a sample, in order.

        Raises CredentialError, or offline ReplyMissingError, after all that could be judged.
        """
        connection = msgspec.convert(self._settings, Connection, from_attributes=True)
        samples = range(self._settings.samples)
        pairs = (pair for transcript in transcripts for pair in product((transcript,), samples))
        batch = self._settings.mode == "batch"
        client = BatchClient(self._store, connection, self.name) if batch else Client(self._store, connection)
        return client.each(pairs, self._judged)

    def request(self, transcript: Transcript) -> Request:
        """Return what is sent for a transcript."""
        settings = self._settings
        blocks = [_block(framed(transcript)), _block(self._prompt.text)]
        if settings.order == "instructions_first":
            blocks.reverse()
        sampling_version = SAMPLING_API_VERSION if settings.temperature is not None else None
        return Request(
            model=settings.model,
            messages=({"role": "user", "content": blocks},),
            system=(_block(FRAME_NOTE),),
            max_tokens=settings.max_tokens,
            output_schema=output_schema(self._prompt.header.reports),
            effort=settings.effort,
            thinking=settings.thinking,
            temperature=settings.temperature,
            api_version=settings.api_version or sampling_version,
            extra=settings.extra,
        )

    async def _judged(self, pair: tuple[Transcript, int], ask: Ask) -> Judgement:
        transcript, sample = pair
        if transcript.substrate == "none":
            return self._judgement(transcript, sample, "unflagged", detail="no thought to judge: not sent")
        request = self.request(transcript)
        key = store_key(request, sample)
        answer = await ask(request, sample)
        if isinstance(answer, Failure):
            return self._unjudged(transcript, sample, "api", answer.detail, key)
        return self._read(transcript, sample, answer)

    def _read(self, transcript: Transcript, sample: int, reply: Reply) -> Judgement:
        """Return what a reply says, looking at the stop reason before the text."""
        if reply.stop_reason not in COMPLETE:
            reason = INCOMPLETE.get(reply.stop_reason or "", "unparsable")
            return self._unjudged(transcript, sample, reason, _stopped(reply), reply.key)
        try:
            answer = read_answer(_text(reply), self._prompt.header.reports)
        except msgspec.MsgspecError as error:
            return self._unjudged(transcript, sample, "unparsable", str(error), reply.key)
        spans = quotes.checked(answer.spans, transcript)
        return self._judgement(
            transcript,
            sample,
            self._state(answer),
            detail="; ".join(quotes.strays(spans, transcript)),
            summary=answer.summary,
            spans=spans,
            rating=answer.rating,
            reply=reply.key,
        )

    def _state(self, answer: Answer) -> JudgementState:
        limit = self._settings.rating_at_most or DEFAULT_RATING_AT_MOST
        flags = bool(answer.spans) if answer.rating is None else answer.rating <= limit
        return "flagged" if flags else "unflagged"

    def _unjudged(
        self, transcript: Transcript, sample: int, reason: str, detail: str, reply: str
    ) -> Judgement:
        return self._judgement(transcript, sample, "unjudged", reason=reason, detail=detail, reply=reply)

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
            basis=self._prompt.basis,
            **fields,
        )


def _block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _text(reply: Reply) -> str:
    """Return the text blocks of a reply; other kinds of block (thinking) are passed over."""
    blocks = [block for block in reply.message["content"] if isinstance(block, dict)]
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))


def _stopped(reply: Reply) -> str:
    details = reply.message.get("stop_details")
    category = details.get("category") if isinstance(details, dict) else None
    return f"stop reason {reply.stop_reason}" + (f", category {category}" if category else "")
