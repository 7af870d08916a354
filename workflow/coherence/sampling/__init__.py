"""Drawing repeated answers to the same items: what error incoherence is measured on.

items      an item file and what each item asks
samples    one sample: an answer or an outcome, or the reason why there is none
asking     the request for one answer;  answers: what counts as one;  replies: a reply as a sample
model      samples from a model, through the reply store
command    samples from a command of the user's;  process, runs, results: how it is run, kept and read
rows       the samples as a table of outcomes, and what an item's samples come to
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from coherence.incoherence.stopping import Rule
from coherence.sampling.items import Item
from coherence.sampling.samples import Sample


class Sampler(Protocol):
    """Something that answers items repeatedly."""

    def draw(self, items: Sequence[Item], samples: int, rule: Rule | None) -> Iterator[Sample]:
        """Yield the samples of each item in order, `samples` of each, or fewer where the rule stops.

        A sample without an answer has a reason; JudgeError is for a run that cannot go on.
        """
