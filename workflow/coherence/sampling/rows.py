"""The samples as a table of outcomes, a row an attempt, and what the samples of an item come to."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from statistics import median
from typing import Any, Final

import msgspec

from coherence.files import encode
from coherence.incoherence.contract import COLUMNS
from coherence.incoherence.stopping import Certify, Rule, disagreement_bound, earliest_stop, stops
from coherence.records import Record
from coherence.sampling.items import Item
from coherence.sampling.samples import Sample

ITEM_SCHEMA: Final = "coherence/sampled-item/1"


class Source(Record, frozen=True):
    """Whose samples these are: the dataset's name and the group, of which scaffold and backbone are parts."""

    dataset: str
    group: str
    scaffold: str | None = None
    backbone: str | None = None


class Marked(Record, frozen=True):
    """A sample, and whether estimates may use it: one beyond the first that every item has may not."""

    sample: Sample
    for_estimates: bool


class SampledItem(Record, frozen=True, omit_defaults=False):
    """What the samples of an item come to; all but `drawn`, `stop` and the bound is of the first `used`.

    `error` is the share that did not pass of those whose outcome is known, `agreement` that of the modal
    answer among those with an answer (or tests, or pass or fail in its place); where several are the most
    frequent they are in `tied` and `modal_answer` is None. `actions` is the median number of calls, or of
    steps where calls are not known. `bound` is the upper bound on the share of other answers after `drawn`
    samples that all agree.
    """

    item: str
    task: str
    context: str | None
    difficulty: str | float | None
    target: str | None
    drawn: int
    used: int
    answered: int
    unanswered: dict[str, int]
    error: float | None
    modal_answer: str | None
    tied: tuple[str, ...]
    agreement: float | None
    actions: float | None
    stop: str
    bound: float | None
    trajectories: tuple[str | None, ...]
    schema: str = ITEM_SCHEMA


def used_of(samples: int, rule: Rule | None) -> int:
    """Return how many samples of each item estimates rest on: a number that no answer has a say in."""
    return samples if rule is None else earliest_stop(rule, samples)


def marked(samples: Iterable[Sample], used: int) -> Iterator[Marked]:
    """Yield each sample and whether estimates may use it."""
    return (Marked(sample, sample.sample < used) for sample in samples)


def outcome_row(sample: Sample, item: Item, source: Source) -> dict[str, Any]:
    """Return the sample's row in the table of outcomes; what is not known is None.

    An item that is one of several contexts of its task names itself in the attempt, which stays unique.
    """
    measures = {name: getattr(sample, name) for name in COLUMNS if hasattr(sample, name)}
    attempt = str(sample.sample) if item.id == item.task else f"{item.id}/{sample.sample}"
    return {
        **measures,
        **msgspec.structs.asdict(source),
        "task": item.task,
        "attempt": attempt,
        "context": item.context,
        "verification": None,
        "target": item.target,
        "target_number": item.target_number,
        "passed": None if sample.passed is None else str(sample.passed).lower(),
        "probabilities": None if sample.probabilities is None else encode(sample.probabilities).decode(),
        "stop_reason": sample.reason or sample.stop_reason,
    }


def by_item(samples: Iterable[Sample]) -> Iterator[tuple[str, list[Sample]]]:
    """Yield each item's id with its samples."""
    return ((name, list(drawn)) for name, drawn in groupby(samples, lambda sample: sample.item))


def sampled(item: Item, drawn: Sequence[Sample], used: int, rule: Rule | None) -> SampledItem:
    """Return what an item's samples come to."""
    first = drawn[:used]
    known = [sample.passed for sample in first if sample.passed is not None]
    identities = [sample.identity for sample in first if sample.identity is not None]
    counts = Counter(identities)
    most = max(counts.values(), default=0)
    modal = sorted(answer for answer, n in counts.items() if n == most)
    return SampledItem(
        item=item.id,
        task=item.task,
        context=item.context,
        difficulty=item.difficulty,
        target=item.target,
        drawn=len(drawn),
        used=len(first),
        answered=sum(sample.reason is None for sample in first),
        unanswered=dict(sorted(Counter(sample.reason for sample in first if sample.reason).items())),
        error=known.count(False) / len(known) if known else None,
        modal_answer=modal[0] if len(modal) == 1 else None,
        tied=tuple(modal) if len(modal) > 1 else (),
        agreement=most / len(identities) if identities else None,
        actions=_actions(first),
        stop=_stop(drawn, rule),
        bound=_bound(drawn, rule),
        trajectories=tuple(sample.trajectory for sample in first),
    )


def _actions(samples: Sequence[Sample]) -> float | None:
    counts = [s.calls if s.calls is not None else s.steps for s in samples]
    known = [count for count in counts if count is not None]
    return float(median(known)) if known else None


def _stop(drawn: Sequence[Sample], rule: Rule | None) -> str:
    """Return why no further sample was drawn."""
    if rule is None:
        return "fixed"
    return stops(rule, [sample.identity for sample in drawn]) or "all drawn"


def _bound(drawn: Sequence[Sample], rule: Rule | None) -> float | None:
    """Return the bound that the way of stopping allows: none after Wald's test."""
    agree = len({sample.identity for sample in drawn}) == 1 and drawn[0].identity is not None
    if not agree or not isinstance(rule, Certify | None):
        return None
    return disagreement_bound(len(drawn), *((rule.level, rule.any_peek) if rule else ()))
