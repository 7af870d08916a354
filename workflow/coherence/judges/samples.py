"""Several samples of one judge on the same trajectory, and the one that stands for them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from coherence.records import Judgement


def majority(judgements: Iterable[Judgement]) -> dict[str, Judgement]:
    """Return of each trajectory the judgement that stands for its samples.

    Flagged if more than half of the judged samples flag it, unflagged if no more do; unjudged samples have
    no vote. Spans, rating and the rest are those of the first sample on the winning side; where no sample
    was judged, the first says why.
    """
    samples: dict[str, list[Judgement]] = defaultdict(list)
    for word in sorted(judgements, key=lambda word: word.sample):
        samples[word.trajectory].append(word)
    return {trajectory: _majority(words) for trajectory, words in samples.items()}


def _majority(words: Sequence[Judgement]) -> Judgement:
    judged = [word for word in words if word.state != "unjudged"]
    flagged = [word for word in judged if word.state == "flagged"]
    unflagged = [word for word in judged if word.state == "unflagged"]
    winners = flagged if len(flagged) > len(judged) / 2 else unflagged
    return winners[0] if judged else words[0]
