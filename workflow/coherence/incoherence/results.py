"""What an attempt came to, whatever says so, and what of it no decomposition can use."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from coherence.errors import InputError
from coherence.incoherence.contract import KINDS, NEEDS
from coherence.incoherence.evidence import EVIDENCE, Evidence, all_passed
from coherence.incoherence.outcomes import usable
from coherence.incoherence.source import OutcomeSource, Tally


def with_results(frame: pd.DataFrame, source: OutcomeSource, tally: Tally) -> pd.DataFrame:
    """Return the rows with `passed` from whatever says so, and attempts without result as configured.

    Tests of which none has a result are none.
    """
    if "tests" in frame:
        empty = [text for text in frame["tests"].cat.categories if not set(text) - {"-"}]
        frame = frame.assign(tests=frame["tests"].cat.remove_categories(empty))
    said = _said(frame, source)
    passed = said["passed"]
    for name in EVIDENCE:
        if name == "answer" and name in said:
            right = said[name]
            known = passed.notna() & right.notna()
            # Two columns that contradict each other are both kept: which is stale is not ours to say.
            contrary = frame[known & (passed != right).fillna(value=False)]
            tally.rows("passed and answer disagree (kept)", contrary)
        passed = passed.fillna(said.get(name, passed))
    frame = frame.assign(passed=passed)
    nothing = _nothing(frame)
    if source.null_as == "unknown":
        tally.rows("outcome unknown (kept)", frame[nothing])
        return frame
    tally.rows("no result, counted as failed (kept)", frame[nothing])
    return _failed(frame, nothing)


def _said(frame: pd.DataFrame, source: OutcomeSource) -> dict[Evidence, "pd.Series[Any]"]:
    """Return what each evidence that the rows have says of them; `passed` is always there."""
    unknown = pd.Series(pd.NA, index=frame.index, dtype="boolean")
    said: dict[Evidence, pd.Series[Any]] = {"passed": frame.get("passed", unknown)}
    if "reward" in frame:
        said["reward"] = frame["reward"] >= source.pass_reward
    if {"answer", "target"} <= set(frame):
        said["answer"] = _equal(frame["answer"], frame["target"])
    if "tests" in frame:
        told = {text: all_passed(text) for text in frame["tests"].cat.categories}
        said["tests"] = frame["tests"].astype("object").map(told, na_action="ignore").astype("boolean")
    return said


def _equal(first: "pd.Series[Any]", second: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return whether two texts are the same, unknown where one is."""
    shared = first.cat.categories.union(second.cat.categories)
    codes = [column.cat.set_categories(shared).cat.codes for column in (first, second)]
    known = first.notna() & second.notna()
    equal: pd.Series[Any] = (codes[0] == codes[1]).astype("boolean")
    return equal.mask(~known)


def _nothing(frame: pd.DataFrame) -> "pd.Series[Any]":
    there = [name for name in ("passed", "answer", "tests", "probabilities", "number") if name in frame]
    return frame[there].isna().all(axis=1)


def _failed(frame: pd.DataFrame, rows: "pd.Series[bool]") -> pd.DataFrame:
    """Return the frame with these rows failed, and with them every test of their tasks."""
    changes: dict[str, Any] = {"passed": frame["passed"].mask(rows, other=False)}
    if "tests" in frame:
        failed = _failed_vectors(frame, rows)
        tests = frame["tests"].astype("object")
        changes["tests"] = tests.where(failed.isna(), failed).astype("category")
    return frame.assign(**changes)


def _failed_vectors(frame: pd.DataFrame, rows: "pd.Series[bool]") -> "pd.Series[Any]":
    """Return vectors of failures for these rows: of the tests their group has a result of in the task.

    A task that none of the group's attempts has results of takes the tests of the other groups; a group that
    never has vectors gets none, for they would all be of failures.
    """
    names = frame[["group", "task"]].astype("object")
    seen: dict[tuple[str, ...], str] = {}
    for group, task, vector in zip(
        names["group"], names["task"], frame["tests"].astype("object"), strict=True
    ):
        if isinstance(vector, str):
            for key in ((group, task), (task,)):
                seen[key] = _union(seen.get(key), vector)
    measured = {key[0] for key in seen if len(key) == 2}
    made = [
        seen.get((group, task), seen.get((task,))) if group in measured and is_failed else None
        for group, task, is_failed in zip(names["group"], names["task"], rows, strict=True)
    ]
    return pd.Series(made, index=frame.index, dtype="object")


def _union(seen: str | None, vector: str) -> str:
    """Return "0" for each test that either vector has a result of."""
    failed = vector.replace("1", "0")
    if seen is None or seen == failed:
        return failed
    return "".join("0" if "0" in pair else "-" for pair in zip(seen, failed, strict=True))


def count_outcomes(path: Path, frame: pd.DataFrame, source: OutcomeSource, tally: Tally) -> None:
    """Count what the decompositions cannot use of a conforming table.

    Raise InputError where the kind asked for is in no row.
    """
    kind = source.kind
    can = {one: usable(frame, one) for one in KINDS}
    if kind is not None and not can[kind].any():
        raise InputError(f"{path}: no row has what `kind: {kind}` needs: {' and '.join(NEEDS[kind])}")
    for value, target in (("answer", "target"), ("probabilities", "target"), ("number", "target_number")):
        lost = frame[value].notna() & frame[target].isna()
        tally.rows(f"{value} without {target} (kept)", frame[lost])
    chosen = kind or next((one for one in KINDS if can[one].any()), None)
    if chosen is not None:
        others = np.logical_or.reduce([mask.to_numpy() for one, mask in can.items() if one != chosen])
        lacking = others & ~can[chosen].to_numpy()
        never = ~can[chosen].groupby(frame["group"], observed=True).transform("any").to_numpy()
        tally.rows(f"group without any {chosen}, but another outcome (kept)", frame[lacking & never])
        mixed = frame[lacking & ~never]
        tally.rows(f"mixed outcome types in a group: no {chosen}, but another outcome (kept)", mixed)
