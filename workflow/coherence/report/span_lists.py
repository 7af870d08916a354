"""The lists of flagged spans the report shows: one a judge and dataset, bounded."""

from collections.abc import Container, Iterable, Mapping
from typing import Final

from coherence.records import Judgement, Trial
from coherence.report.blocks import SpanCard, SpanList

SPANS_SHOWN: Final = 200  # spans a judge and dataset; the exported file holds them all


def span_list(
    judgements: Iterable[Judgement],
    trials: Mapping[str, Trial],
    pages: Container[str],
    shown: int = SPANS_SHOWN,
) -> SpanList | None:
    """Return the first spans of one judge in one dataset, by trajectory, sample, step; None without a flag.

    `trials` is by trajectory id, `pages` holds the ids of the trajectories that have a page.
    """
    words = sorted(judgements, key=lambda word: (word.trajectory, word.sample))
    flagged = [word for word in words if word.spans or word.state == "flagged"]
    if not flagged:
        return None
    cards = [
        SpanCard(trials[word.trajectory], span, word.sample, word.trajectory in pages)
        for word in flagged
        for span in sorted(word.spans, key=lambda span: (span.acknowledgment_step, span.span_id))
    ]
    with_spans = {word.trajectory for word in flagged if word.spans}
    return SpanList(
        judge=flagged[0].judge,
        dataset=trials[flagged[0].trajectory].dataset,
        cards=tuple(cards[:shown]),
        total=len(cards),
        trajectories=len(with_spans),
        without_spans=len({word.trajectory for word in flagged} - with_spans),
    )
