"""Transcripts longer than a model's window, divided into overlapping parts.

Parts begin and end between steps; each but the first begins with the last steps of the one before. Lengths
are estimated from UTF-8 bytes, on the safe side, so that no request needs to be sent to be measured. A step
too long for any part is shown by the head and tail of its texts, and the judgement says so. Quotes are
looked up in the whole transcript whatever was cut.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from coherence.judges.frame import call_text, framed
from coherence.llm.models import model_of
from coherence.preprocess import cut
from coherence.records import Call, Record, Step, Transcript

BYTES_PER_TOKEN: Final = 2.5  # prose and code have 3 to 4.5, other scripts about 3; base64 may have 2
DEFAULT_CONTEXT: Final = 200_000  # tokens; of a model that is not listed
NOTES_TOKENS: Final = 5_000  # kept free for what a part is told of the one before
_TOKENS_NAMED: Final = re.compile(r"\b(\d[\d,]{2,}) tokens?\b.*?\b(\d[\d,]{2,})\b", re.DOTALL)


class Window(Record, frozen=True):
    """Part `number` (from 1) of `count`; the first `overlap` steps stood in the part before, too.

    `cuts` says of each step that was too long what was left out.
    """

    transcript: Transcript
    number: int
    count: int
    overlap: int = 0
    cuts: tuple[str, ...] = ()


def tokens_in(text: str) -> int:
    """Return an estimate of the tokens in a text that is rather too high than too low."""
    return int(len(text.encode("utf-8", "surrogatepass")) / BYTES_PER_TOKEN) + 1


def room_for_transcript(model: str, instructions: str, max_tokens: int) -> int:
    """Return the tokens that a model's window leaves for a transcript beside everything else."""
    context = model_of(model).context or DEFAULT_CONTEXT
    return context - tokens_in(instructions) - max_tokens - NOTES_TOKENS


def windows(transcript: Transcript, room: int, overlap: int) -> tuple[Window, ...]:
    """Return the parts of a transcript, none of more than `room` tokens; one that fits is its only part."""
    if tokens_in(framed(transcript)) <= room:
        return (Window(transcript, 1, 1),)
    shortened = [_shortened(step, room) for step in transcript.steps]
    sizes = [_size([step]) for step, _ in shortened]
    bounds = list(_bounds(sizes, room, overlap))
    ends = [0, *(end for _, end in bounds)]
    return tuple(
        Window(
            replace(transcript, steps=tuple(step for step, _ in shortened[start:end])),
            number,
            len(bounds),
            overlap=ends[number - 1] - start,
            cuts=tuple(cut for _, cut in shortened[ends[number - 1] : end] if cut),
        )
        for number, (start, end) in enumerate(bounds, 1)
    )


def smaller_room(transcript: Transcript, room: int, refusal: str) -> int:
    """Return the room for parts of a transcript that was refused as too long: half, or what the refusal says.

    A refusal that names the tokens it got and the most it takes is believed, with a fifth to spare, down to
    a twentieth: misread, it must not make hundreds of requests.
    """
    was = min(room, tokens_in(framed(transcript)))
    named = _TOKENS_NAMED.search(refusal)
    least, most = sorted(int(count.replace(",", "")) for count in named.groups()) if named else (1, 1)
    return int(was * min(0.5, max(0.05, 0.8 * least / max(1, most))))


def _bounds(sizes: Sequence[int], room: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each part: as many steps as fit, after as much overlap as leaves room.

    The overlap takes no more than half of it: parts that bring one new step each would cost many times more.
    """
    start = end = 0
    while end < len(sizes):
        start, filled = end, sizes[end]
        while start > max(0, end - overlap):
            repeated = filled - sizes[end] + sizes[start - 1]
            if repeated > room // 2 or repeated + sizes[end] > room:
                break
            start, filled = start - 1, repeated + sizes[end]
        end += 1
        while end < len(sizes) and filled + sizes[end] <= room:
            filled += sizes[end]
            end += 1
        yield start, end


def _size(steps: Sequence[Step]) -> int:
    return tokens_in(framed(Transcript("", tuple(steps))))


def _shortened(step: Step, room: int) -> tuple[Step, str]:
    """Return the step and "", or its texts' heads and tails, as long as fit, and what was left out."""
    whole = _size([step])
    if whole <= room:
        return step, ""
    limit = max(len(text) for text in _texts(step))
    shown = step
    while limit > 0 and _size([shown]) > room:
        limit //= 2
        shown = _cut(step, limit)
    left_out = sum(cut(text, limit)[1] for text in _texts(step))
    return shown, f"step {step.number}: {left_out} characters left out, it is longer than the window"


def _texts(step: Step) -> list[str]:
    calls = [call_text(call) for call in step.calls]
    observed = [observation.text or "" for observation in step.observations]
    return [*(thought.text for thought in step.thoughts), step.message, *calls, *observed]


def _cut(step: Step, limit: int) -> Step:
    return replace(
        step,
        message=cut(step.message, limit)[0],
        thoughts=tuple(replace(thought, text=cut(thought.text, limit)[0]) for thought in step.thoughts),
        calls=tuple(_cut_call(call, limit) for call in step.calls),
        observations=tuple(
            replace(observation, text=observation.text and cut(observation.text, limit)[0])
            for observation in step.observations
        ),
    )


def _cut_call(call: Call, limit: int) -> Call:
    text, left_out = cut(call_text(call), limit)
    return replace(call, arguments={"cut": text}) if left_out else call
