"""A reply as a sample: the stop reason goes before the text, and no answer is ever guessed.

The answer is on the reply's last line that has a letter or a digit, which begins with `ANSWER:`; with
`answer: schema` it is the field `answer` of the reply's one JSON object. Probabilities that cannot be read
are left out and named in `detail`: the answer stands without them.
"""

import re
from typing import Any, Final

import msgspec

from coherence.judges.extract import object_in
from coherence.judges.hearing import COMPLETE, INCOMPLETE, is_overflow
from coherence.llm.client import Answer as Got
from coherence.llm.ledger import usage_of
from coherence.llm.models import dollars, model_of
from coherence.llm.sending import clipped
from coherence.llm.store import Failure, Reply
from coherence.sampling.answers import AnswerError, probabilities_of
from coherence.sampling.asking import ModelSettings
from coherence.sampling.items import Item, identity_of
from coherence.sampling.samples import Sample

_MARKS: Final = r"[\s>*_`#$\-]*"
_NAMED: Final = re.compile(rf"{_MARKS}(ANSWER|PROBABILITIES){_MARKS}:(.*)", re.IGNORECASE | re.DOTALL)


class Said(msgspec.Struct, frozen=True):
    """What a reply gives as its answer, not yet looked up; `probabilities` as they came, or None."""

    answer: str | int | float
    probabilities: Any = None


def sample_of(item: Item, sample: int, got: Got, settings: ModelSettings) -> Sample:
    """Return what a request for one sample came to."""
    if isinstance(got, Failure):
        reason: Any = "overflow" if is_overflow(got) else "api"
        return Sample(item.id, sample, reason, got.detail, seed=item.seed)
    found = {**_read(item, got, settings), **_measured(got, settings), "seed": item.seed}
    return Sample(item=item.id, sample=sample, trajectory=got.key, **found)


def _read(item: Item, reply: Reply, settings: ModelSettings) -> dict[str, Any]:
    """Return the answer's fields, or the reason why there is none."""
    if reply.stop_reason not in COMPLETE:
        reason = INCOMPLETE.get(reply.stop_reason or "", "unparsable")
        return {"reason": reason, "detail": f"stop reason {clipped(reply.stop_reason or '')}"}
    try:
        said = _schema_said(text_in(reply)) if settings.answer == "schema" else _line_said(text_in(reply))
        answer, number = identity_of(item, said.answer)
    except (AnswerError, msgspec.ValidationError) as error:
        return {"reason": "unparsable", "detail": clipped(str(error))}
    passed = None if item.target is None else answer == item.target
    fields: dict[str, Any] = {"answer": answer, "number": number, "passed": passed}
    if settings.probabilities and item.kind == "choice":
        try:
            fields["probabilities"] = probabilities_of(said.probabilities, item.choices)
        except AnswerError as error:
            fields["detail"] = clipped(str(error))
    return fields


def _line_said(text: str) -> Said:
    lines = [line for line in text.split("\n") if any(map(str.isalnum, line))]
    named = [(match[1].upper(), match[2]) for match in map(_NAMED.match, lines) if match]
    last = _NAMED.match(lines[-1]) if lines else None
    if last is None or last[1].upper() != "ANSWER":
        raise AnswerError("the reply's last line does not begin with ANSWER:")
    shares = [rest for name, rest in named if name == "PROBABILITIES"]
    return Said(last[2], _json(shares[-1]) if shares else None)


def _schema_said(text: str) -> Said:
    value = _json(text)
    if not isinstance(value, dict):
        value = object_in(text, ["answer"])
    return msgspec.convert(value, Said)


def _json(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def text_in(reply: Reply) -> str:
    """Return the text blocks of a reply; other kinds of block (thinking) are passed over."""
    blocks: list[Any] = [block for block in reply.message["content"] if isinstance(block, dict)]
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))


def _measured(reply: Reply, settings: ModelSettings) -> dict[str, Any]:
    """Return the reply's tokens and its price outside batches, as far as they are known."""
    prices = settings.prices or model_of(settings.model).prices
    tokens = usage_of(reply.usage)
    known = isinstance(reply.usage.get("output_tokens"), int)
    return {
        "output_tokens": float(tokens.output) if known else None,
        "cost_usd": dollars(tokens, prices) if prices is not None and known else None,
        "stop_reason": None if reply.stop_reason is None else clipped(reply.stop_reason),
    }
