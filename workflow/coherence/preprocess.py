"""From trajectory to transcript: what the judge reads (paper, section 3.2)."""

from typing import Annotated

import msgspec
from msgspec import Meta

from coherence.records import Observation, Record, Step, Trajectory, Transcript


class PreprocessSettings(Record, frozen=True, forbid_unknown_fields=True):
    """Limits of what a judge is shown: observations longer than `observation_chars` are cut to head and tail.

    `drop_empty_steps` leaves out agent steps in which nothing was said, thought, called or observed.
    """

    observation_chars: Annotated[int, Meta(ge=0)] = 2000
    drop_empty_steps: bool = True


def cut(text: str, limit: int) -> tuple[str, int]:
    """Return the text and 0, or its head and tail of `limit` characters in all and the number left out."""
    left_out = len(text) - limit
    if left_out <= 0:
        return text, 0
    head = limit - limit // 2
    tail = limit // 2
    return f"{text[:head]}\n[... {left_out} characters left out ...]\n{text[len(text) - tail :]}", left_out


def cut_step(step: Step, limit: int) -> tuple[Step, list[int]]:
    """Return the step with its observations cut, and the number of characters left out of each cut one."""
    cuts = [cut(observation.text or "", limit) for observation in step.observations]
    left_out = [count for _, count in cuts if count]
    if not left_out:
        return step, []
    observations = tuple(
        Observation(text, observation.call_id) if count else observation
        for observation, (text, count) in zip(step.observations, cuts, strict=True)
    )
    return msgspec.structs.replace(step, observations=observations), left_out


def preprocess(trajectory: Trajectory, settings: PreprocessSettings) -> Transcript:
    """Return the transcript of a trajectory; steps keep their original numbers."""
    kept = [step for step in trajectory.steps if not (settings.drop_empty_steps and step.is_empty)]
    pairs = [cut_step(step, settings.observation_chars) for step in kept]
    left_out = [count for _, counts in pairs for count in counts]
    return Transcript(
        id=trajectory.id,
        steps=tuple(step for step, _ in pairs),
        empty_steps=len(trajectory.steps) - len(kept),
        cut_observations=len(left_out),
        cut_characters=sum(left_out),
    )


class Prepared(Record, frozen=True):
    """What later stages need of a transcript without its text: numbers of non-empty steps, what was left out.

    `digest` is that of the transcript, so that a changed one changes the list.
    """

    id: str
    digest: str
    steps: tuple[int, ...]
    thought_steps: tuple[int, ...]
    empty_steps: int = 0
    cut_observations: int = 0
    cut_characters: int = 0


def prepared(transcript: Transcript, digest: str) -> Prepared:
    """Return the summary of a transcript with this digest."""
    return Prepared(
        id=transcript.id,
        digest=digest,
        steps=tuple(step.number for step in transcript.steps if not step.is_empty),
        thought_steps=tuple(step.number for step in transcript.steps if step.thoughts),
        empty_steps=transcript.empty_steps,
        cut_observations=transcript.cut_observations,
        cut_characters=transcript.cut_characters,
    )
