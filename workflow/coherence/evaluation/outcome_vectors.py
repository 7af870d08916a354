"""Results of tests, and probabilities of options, as vectors as long as their task has tests or options."""

from collections.abc import Sequence
from itertools import chain
from math import fsum
from typing import Any, Final

import msgspec
import numpy as np
import pandas as pd

from coherence.errors import InputError
from coherence.incoherence.contract import SUM_TOLERANCE
from coherence.incoherence.parts import Ints
from coherence.incoherence.squares import Vectors

NO_RESULT: Final = ord("-")
PASSED: Final = ord("1")


def test_vectors(tests: "pd.Series[Any]", item: Ints, first: Ints) -> Vectors:
    """Return the tests that any attempt at the task has a result of; no result is not passed.

    `item` of each attempt rises and `first` is each item's first attempt; the texts of an item are as long as
    one another.
    """
    length = tests.str.len().to_numpy(dtype=np.int64)
    cells = np.frombuffer("".join(tests).encode("ascii"), dtype=np.uint8)
    width = length[first]
    place = np.arange(len(cells)) - np.repeat(np.cumsum(length) - length, length)
    place += np.repeat((np.cumsum(width) - width)[item], length)
    used = np.zeros(int(width.sum()), np.bool_)
    used[place[cells != NO_RESULT]] = True
    narrow = np.bincount(np.repeat(np.arange(len(width)), width)[used], minlength=len(width))
    return Vectors(item, narrow, cells[used[place]] == PASSED, np.ones(int(narrow.sum())))


def probability_vectors(given: Sequence[str], item: Ints, target: Sequence[str]) -> Vectors:
    """Return the vectors of attempts sorted by item; an option an attempt does not name has probability 0.

    `given` is what `read_probabilities` reads, `target` the right option of each item.
    """
    read = read_probabilities(given)
    length = np.fromiter(map(len, read), np.int64, len(read))
    value = np.fromiter(chain.from_iterable(each.values() for each in read), float, int(length.sum()))
    names = [*chain.from_iterable(read), *target]
    codes, options = pd.factorize(np.array(names, dtype=object), sort=True)
    attempt = np.repeat(np.arange(len(read)), length)
    owner = np.concatenate([item[attempt], np.arange(len(target))])
    keys, places = np.unique(owner * len(options) + codes, return_inverse=True)
    width = np.bincount(keys // max(1, len(options)), minlength=len(target))
    begin = np.cumsum(width) - width
    row = np.cumsum(width[item]) - width[item]
    cells = np.zeros(int(width[item].sum()))
    cells[row[attempt] + places[: len(value)] - begin[item[attempt]]] = value
    right = np.zeros(len(keys))
    right[places[len(value) :]] = 1
    return Vectors(item, width, cells, right)


def read_probabilities(given: Sequence[str]) -> list[dict[str, float]]:
    """Return JSON objects from option to probability, each divided by its sum; InputError for any other."""
    try:
        read = msgspec.json.decode("[" + ",".join(given) + "]", type=list[dict[str, float]])
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise InputError(f"`probabilities` must be JSON objects of numbers: {error}") from error
    return [_shares(each, text) for each, text in zip(read, given, strict=True)]


def _shares(given: dict[str, float], text: str) -> dict[str, float]:
    total = fsum(given.values())
    if abs(total - 1) > SUM_TOLERANCE:
        raise InputError(f"`probabilities` {text[:80]} add up to {total:.3g}; they must to 1")
    if not all(0 <= share <= 1 for share in given.values()):
        raise InputError(f"`probabilities` {text[:80]} must lie between 0 and 1")
    return {option: share / total for option, share in given.items()}
