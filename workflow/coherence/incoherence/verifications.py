"""Several verifications of one attempt taken together, for whatever counts attempts.

Passed, and each test, take more than half of the verifications that know it; numbers their mean; texts the
most frequent one, of equally frequent ones not the target, and of those left the first by its letters. So a
tie counts against the attempt.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd

from coherence.incoherence.contract import ATTEMPT, KEY, NUMBERS, VALUES
from coherence.incoherence.outcomes import same
from coherence.incoherence.parts import Bools, Ints

DISAGREE: Final = "verifications disagree"


class Together(NamedTuple):
    """A row an attempt, the place in it of each verification, and which attempts' verifications disagree."""

    frame: pd.DataFrame
    attempt: Ints
    disagree: Bools


def has_verifications(frame: pd.DataFrame) -> bool:
    """Return whether any row is one of several verifications, by name."""
    return "verification" in frame and bool(frame["verification"].notna().any())


def together(frame: pd.DataFrame) -> Together | None:
    """Return the attempts of one dataset in order of their first rows; None where none has verifications."""
    if not has_verifications(frame):
        return None
    attempt = numbered_attempts(frame)
    first = np.unique(attempt, return_index=True)[1]
    if len(first) == len(frame):
        return None
    made = frame.iloc[first].reset_index(drop=True)
    several = np.bincount(attempt) > 1
    rows = several[attempt]
    some, owner = frame[rows], attempt[rows]
    disagree = np.zeros(len(first), np.bool_)
    for name in set(VALUES) & set(frame.columns):
        disagree |= _differ(some[name], owner, len(first))
    # What names an attempt is the same in all of its verifications.
    there = [name for name in frame.columns if name not in ("dataset", *KEY) and some[name].notna().any()]
    columns = {name: _column(name, some, owner, made) for name in there}
    return Together(made.assign(**columns, verification=same(None, len(made))), attempt, disagree)


def numbered_attempts(frame: pd.DataFrame) -> Ints:
    """Return the number of each row's attempt, in order of first rows; one without a name is its own."""
    named = frame["attempt"].notna().to_numpy(dtype=bool)
    keys = frame.groupby(list(ATTEMPT), observed=True, dropna=False, sort=False).ngroup().to_numpy()
    return np.asarray(pd.factorize(np.where(named, keys, len(frame) + np.arange(len(frame))))[0], np.int64)


def _differ(values: "pd.Series[Any]", owner: Ints, attempts: int) -> Bools:
    codes = np.asarray(pd.factorize(values.astype(object))[0], np.int64)
    known = codes >= 0
    pairs = np.unique(owner[known] * (int(codes.max(initial=0)) + 1) + codes[known])
    owners = pairs // (int(codes.max(initial=0)) + 1)
    return np.asarray(np.bincount(owners, minlength=attempts) > 1)


def _column(name: str, some: pd.DataFrame, owner: Ints, made: pd.DataFrame) -> "pd.Series[Any]":
    """Return the column of `made` with that of the attempts that have several verifications."""
    if name in NUMBERS or name == "passed":
        mean = some[name].astype("Float64").groupby(owner).mean()
        chosen = mean if name in NUMBERS else (mean > 0.5).astype("boolean")
        return _put(made[name], chosen.index.to_numpy(), chosen)
    right = some["target"] if name == "answer" and "target" in some else None
    texts = _most_frequent(some[name].astype(object), owner, right)
    if name == "tests":
        texts |= _by_test(some[name].astype(object), owner, _differ(some[name], owner, len(made)))
    places = np.array(list(texts), np.int64)
    return _put(made[name].astype(object), places, pd.Series(texts, dtype=object)).astype("category")


def _put(column: "pd.Series[Any]", places: Ints, values: "pd.Series[Any]") -> "pd.Series[Any]":
    column = column.copy()
    column.iloc[places] = values.to_numpy(dtype=object)
    return column


def _most_frequent(texts: "pd.Series[Any]", owner: Ints, target: "pd.Series[Any] | None") -> dict[int, str]:
    """Return the most frequent known text of each owner that knows one."""
    given = pd.DataFrame({"owner": owner, "text": texts.to_numpy(), "right": False})
    if target is not None:
        given["right"] = texts.eq(target.astype(object)).fillna(value=False).to_numpy(dtype=bool)
    known = given.dropna(subset=["text"])
    counted = known.groupby(["owner", "text", "right"]).size().rename("n").reset_index()
    counted = counted.sort_values(["owner", "n", "right", "text"], ascending=[True, False, True, True])
    first = counted.drop_duplicates("owner")
    return dict(zip(first["owner"].tolist(), first["text"].tolist(), strict=True))


def _by_test(tests: "pd.Series[Any]", owner: Ints, differ: Bools) -> dict[int, str]:
    """Return test by test what more than half of the verifications say, of attempts where they differ.

    Vectors of different lengths have no test in common, and are left as they are.
    """
    told = differ[owner] & tests.notna().to_numpy(dtype=bool)
    found = {}
    for place, vectors in tests[told].groupby(owner[told]):
        if vectors.str.len().nunique() == 1:
            found[int(str(place))] = "".join(map(_vote, zip(*vectors, strict=True)))
    return found


def _vote(results: Sequence[str]) -> str:
    passed, failed = results.count("1"), results.count("0")
    return "1" if passed > failed else "0" if failed else "-"
