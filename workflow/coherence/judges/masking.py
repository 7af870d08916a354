"""Secrets masked before a transcript leaves the machine: one character for each, so that offsets stay."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from coherence.judges.secrets import Secret, find_secrets, looks_random
from coherence.records import Call, Record, Step, Transcript

MASK: Final = "\N{FULL BLOCK}"
SHORTEST_SOUGHT: Final = 12  # characters; a shorter secret is masked only where it was recognised

_MASKABLE: Final = re.compile(r'[^\s"\\\x00-\x1f\u2588]')  # the others take two characters in a call's JSON

Mend = Callable[[str, str], str]


class Masked(Record, frozen=True):
    """A transcript without its secrets, and how many places of each kind were masked."""

    transcript: Transcript
    counts: dict[str, int] = {}

    @property
    def total(self) -> int:
        """The number of places masked."""
        return sum(self.counts.values())


def masked(transcript: Transcript) -> Masked:
    """Return the transcript with every secret masked, wherever in it the secret stands.

    All texts keep their length, in calls that of their JSON too, so that offsets into the one are offsets
    into the other.
    """
    pieces = {piece for step in transcript.steps for piece in _texts(step)}
    found = {piece: secrets for piece in pieces if (secrets := _secrets(*piece))}
    if not found:
        return Masked(transcript)
    sought = _sought(found)
    counts: Counter[str] = Counter()

    def mend(name: str, text: str) -> str:
        secrets = found.get((name, text), [])
        hidden = _hidden(text, secrets)
        counts.update(secret.kind for secret in secrets)
        repeated = sought and [Secret("repeated", *again.span()) for again in sought.finditer(hidden)]
        counts.update(secret.kind for secret in repeated or ())
        return _hidden(hidden, repeated or ())

    steps = tuple(_mended(step, mend) for step in transcript.steps)
    return Masked(msgspec.structs.replace(transcript, steps=steps), dict(sorted(counts.items())))


def _texts(step: Step) -> Iterator[tuple[str, str]]:
    for thought in step.thoughts:
        yield "", thought.text
    yield "", step.message
    for call in step.calls:
        yield "", call.name
        yield from _leaves("", call.arguments)
    for observation in step.observations:
        yield "", observation.text or ""


def _leaves(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the strings inside a call's arguments, keys too, each with the key that it stands under."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield "", key
            yield from _leaves(key, inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(name, inner)


def _secrets(name: str, text: str) -> list[Secret]:
    """Return the secrets of a text that stands under a name."""
    before = f'{name}="' if name else ""
    shift = len(before)
    found = find_secrets(before + text) if text else []
    inside = [Secret(kind, max(0, start - shift), end - shift) for kind, start, end in found if end > shift]
    return [secret for secret in inside if _MASKABLE.search(text, secret.start, secret.end)]


def _sought(found: dict[tuple[str, str], list[Secret]]) -> re.Pattern[str] | None:
    """Return the pattern of the secrets that are masked wherever they stand."""
    values = {text[secret.start : secret.end] for (_, text), secrets in found.items() for secret in secrets}
    long = sorted((v for v in values if looks_random(v, SHORTEST_SOUGHT)), key=lambda v: (-len(v), v))
    if not long:
        return None
    return re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, long))})(?![A-Za-z0-9])")


def _hidden(text: str, secrets: Iterable[Secret]) -> str:
    """Return the text with these masked, which stand in it in order and apart."""
    pieces, shown = [], 0
    for _, start, end in secrets:
        pieces += [text[shown:start], _MASKABLE.sub(MASK, text[start:end])]
        shown = end
    return "".join([*pieces, text[shown:]])


def _mended(step: Step, mend: Mend) -> Step:
    replace = msgspec.structs.replace
    return replace(
        step,
        thoughts=tuple(replace(thought, text=mend("", thought.text)) for thought in step.thoughts),
        message=mend("", step.message),
        calls=tuple(
            # In the order of the keys unmasked: masked ones would sort elsewhere, and all offsets with them.
            Call(mend("", call.name), _mended_value("", call.arguments, mend), call.call_id, in_order=True)
            for call in step.calls
        ),
        observations=tuple(
            replace(observation, text=observation.text and mend("", observation.text))
            for observation in step.observations
        ),
    )


def _mended_value(name: str, value: Any, mend: Mend) -> Any:
    if isinstance(value, str):
        return mend(name, value)
    if isinstance(value, dict):
        mended: dict[str, Any] = {}
        for key, inner in sorted(value.items()):
            shown = mend("", key)
            while shown in mended:  # masked keys look alike, and none may take another's place
                shown = shown[:-1] + chr(ord(shown[-1]) - 1)
            mended[shown] = _mended_value(key, inner, mend)
        return mended
    if isinstance(value, list):
        return [_mended_value(name, inner, mend) for inner in value]
    return value
