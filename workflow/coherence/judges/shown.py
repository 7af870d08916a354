"""Which of a transcript's sections a judge is shown."""

from msgspec.structs import replace

from coherence.records import Transcript


def without_thoughts(transcript: Transcript) -> Transcript:
    """Return the transcript with what the agent said, called and got back alone; step numbers stay."""
    steps = (replace(step, thoughts=()) for step in transcript.steps)
    return replace(transcript, steps=tuple(step for step in steps if not step.is_empty))
