"""The page of one trajectory for a reader who labels it: blind, for it tells neither outcome nor verdict."""

from coherence.records import Transcript
from coherence.report.pages import unmarked
from coherence.report.rendering import render
from coherence.vocabulary import CONFLICT_TYPES, MIN_CONFIDENCE


def render_label_page(transcript: Transcript, dataset: str, simulated: str = "") -> str:
    """Return instructions and steps as one HTML document that loads nothing and runs nothing.

    It is given nothing that it must not tell; `simulated` says what is not real about the data.
    """
    steps, limit = unmarked(transcript)
    return render(
        "label.html",
        transcript=transcript,
        dataset=dataset,
        simulated=simulated,
        steps=steps,
        limit=limit,
        conflict_types=CONFLICT_TYPES,
        lowest_confidence=MIN_CONFIDENCE,
    )
