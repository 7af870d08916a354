"""How often each answer was given to each item: sparse counts, a row for each answer that was given."""

import numpy as np

from coherence.incoherence.parts import Bools, Floats, Ints, divided, sums
from coherence.records import Record


class Tally(Record, frozen=True, eq=False):
    """Rows (item, answer, count) sorted by item; `n` attempts of each item.

    `right` says whether a row's answer is the item's target, `first` is the place of the first attempt that
    gave it: only the seed rule, which depends on order, looks at it.
    """

    n: Ints
    item: Ints
    answer: Ints
    count: Ints
    right: Bools
    first: Ints

    @property
    def items(self) -> int:
        """The number of items."""
        return len(self.n)

    @property
    def correct(self) -> Ints:
        """How many attempts of each item gave its target."""
        return sums(self.count * self.right, self.item, self.items).astype(np.int64)

    @property
    def top(self) -> Ints:
        """How often each item's most frequent answer was given, 0 without attempts."""
        most = np.zeros(self.items, np.int64)
        np.maximum.at(most, self.item, self.count)
        return most

    @property
    def modal(self) -> Bools:
        """Whether a row's answer is one of the most frequent ones of its item."""
        return np.asarray(self.count == self.top[self.item])

    @property
    def error(self) -> Floats:
        """The share of attempts that are wrong, NaN without attempts."""
        return divided((self.n - self.correct).astype(float), self.n.astype(float))


def tally(item: Ints, answer: Ints, target: Ints) -> Tally:
    """Count attempts given as codes: `item` and `answer` of each attempt, `target` of each item.

    A target that nobody gave may be any code that no answer has, such as -1; answers count from 0.
    """
    answers = int(max(answer.max(initial=-1), 0)) + 1
    keys, first, count = np.unique(item * answers + answer, return_index=True, return_counts=True)
    rows, given = np.divmod(keys, answers)
    n = np.bincount(item, minlength=len(target))
    return Tally(n, rows, given, count, given == target[rows], first)


def tally_of_passes(passed: Ints, n: Ints) -> Tally:
    """Return the tally of pass or fail, from the number of passes among the n attempts of each item."""
    items = len(n)
    item, answer = np.tile(np.arange(items), 2), np.repeat(np.arange(2), items)
    count = np.concatenate([n - passed, passed])
    there = np.flatnonzero(count)
    order = there[np.argsort(item[there], kind="stable")]
    return Tally(n, item[order], answer[order], count[order], answer[order] == 1, order)
