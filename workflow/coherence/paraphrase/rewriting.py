"""Rewritten thoughts, and the transcript that has them in place of its own."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal

from msgspec.structs import replace

from coherence.files import without_surrogates
from coherence.records import Record, Step, Transcript

Manipulation = Literal["paraphrase", "compression", "restructuring", "cue removal", "reasoning removed"]
Place = tuple[int, int]  # step number, index of the thought in the step

REMOVED: Final = "[reasoning removed]"
NO_TEXT: Final = "no text"  # reason of a trajectory whose rewritten text nobody recorded


class Rewrite(Record, frozen=True):
    """What one thought became: `text`, or None and the `reason` (refusal, truncated, empty, ...)."""

    step: int
    index: int
    text: str | None = None
    reason: str | None = None
    detail: str = ""

    @property
    def place(self) -> Place:
        """The place of the thought."""
        return self.step, self.index


class Rewritten(Record, frozen=True, omit_defaults=False):
    """What one trajectory's thoughts became; `basis` names the prompt, rule set or file behind it.

    Thoughts of white space alone stay as they are and have no entry. `replies` are keys of the reply store,
    `masked` counts the places of secrets masked before anything was sent. `has_text` is False where only
    verdicts on the rewritten text are recorded.
    """

    id: str
    manipulation: Manipulation
    rewrites: tuple[Rewrite, ...] = ()
    has_text: bool = True
    basis: str = ""
    model: str | None = None
    replies: tuple[str, ...] = ()
    masked: int = 0

    @property
    def failures(self) -> tuple[Rewrite, ...]:
        """The thoughts that were not rewritten: one is enough to leave the trajectory unjudged."""
        return tuple(rewrite for rewrite in self.rewrites if rewrite.text is None)

    @property
    def is_whole(self) -> bool:
        """Whether there is a rewritten transcript to judge."""
        return self.has_text and not self.failures


def thoughts(transcript: Transcript) -> Iterator[tuple[Place, str]]:
    """Yield the place and text of every thought that says anything."""
    for step in transcript.steps:
        for index, thought in enumerate(step.thoughts):
            if thought.text.strip():
                yield (step.number, index), thought.text


def applied(transcript: Transcript, texts: Mapping[Place, str]) -> Transcript:
    """Return the transcript with these thoughts in place of its own; nothing else of it is touched.

    Raises ValueError for a place that holds no thought.
    """
    places = {(step.number, index) for step in transcript.steps for index in range(len(step.thoughts))}
    strangers = sorted(texts.keys() - places)
    if strangers:
        raise ValueError(f"{transcript.id}: no thought {strangers[0][1]} in step {strangers[0][0]}")
    return replace(transcript, steps=tuple(_applied(step, texts) for step in transcript.steps))


def rewritten_transcript(transcript: Transcript, rewritten: Rewritten) -> Transcript:
    """Return the transcript as it was rewritten; ValueError where a thought was not."""
    if not rewritten.is_whole:
        raise ValueError(f"{rewritten.id}: {why_not(rewritten)}")
    return applied(
        transcript, {each.place: each.text for each in rewritten.rewrites if each.text is not None}
    )


def why_not(rewritten: Rewritten) -> str:
    """Return in a sentence why there is no rewritten transcript."""
    if not rewritten.has_text:
        return "the rewritten text is not recorded"
    first = rewritten.failures[0]
    why = ": ".join(filter(None, (first.reason, first.detail)))
    return (
        f"{len(rewritten.failures)} of {len(rewritten.rewrites)} thoughts were not rewritten, the first in "
        f"step {first.step} ({why})"
    )


class Removal:
    """Puts the same placeholder for every thought, so that a judge is still asked about the actions."""

    def rewrite(self, transcripts: Iterable[Transcript]) -> Iterator[Rewritten]:
        """Yield each transcript's thoughts removed."""
        for transcript in transcripts:
            rewrites = tuple(Rewrite(*place, text=REMOVED) for place, _ in thoughts(transcript))
            yield Rewritten(transcript.id, "reasoning removed", rewrites, basis=f"placeholder {REMOVED}")


def _applied(step: Step, texts: Mapping[Place, str]) -> Step:
    if not any((step.number, index) in texts for index in range(len(step.thoughts))):
        return step
    new = (
        replace(thought, text=without_surrogates(texts.get((step.number, index), thought.text)))
        for index, thought in enumerate(step.thoughts)
    )
    return replace(step, thoughts=tuple(new))
