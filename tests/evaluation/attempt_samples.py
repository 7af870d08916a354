"""Outcomes tables of a few words a row."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from coherence.evaluation.repeated import Group, groups

NUMBERS = (
    *("reward", "number", "target_number", "lint_failures", "assertion_failures", "rubric", "output_tokens"),
    *("reasoning_tokens", "steps", "calls", "seconds", "cost_usd"),
)
TEXTS = (
    *("dataset", "group", "scaffold", "backbone", "task", "attempt", "verification", "context", "seed"),
    *("answer", "target"),
    *("tests", "probabilities", "stop_reason", "trajectory"),
)


def frame(rows: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Rows of dataset "d" and group "g" unless they say otherwise, unknown wherever they say nothing."""
    made = pd.DataFrame([{"dataset": "d", "group": "g"} | row for row in rows])
    columns: dict[str, Any] = {}
    for name in (*TEXTS, "passed", *NUMBERS):
        values = made[name] if name in made else pd.Series([None] * len(made), dtype=object)
        if name in TEXTS:
            columns[name] = values.astype("str").astype("category")
        elif name == "passed":
            columns[name] = values.astype("boolean")
        else:
            columns[name] = values.astype("Float64")
    return pd.DataFrame(columns)


def answered(*tasks: tuple[str, str], **more: Any) -> list[dict[str, Any]]:
    """Attempts that answer a letter each: ("BBBAC", "A") is a task with five of them and target A."""
    return [
        {
            "task": f"t{task}",
            "attempt": str(attempt),
            "answer": letter,
            "target": target,
            "passed": letter == target,
            **more,
        }
        for task, (letters, target) in enumerate(tasks)
        for attempt, letter in enumerate(letters)
    ]


def tried(*tasks: str, **more: Any) -> list[dict[str, Any]]:
    """Attempts that pass (1), fail (0) or have no outcome (-)."""
    return [
        {"task": f"t{task}", "attempt": str(attempt), "passed": {"1": True, "0": False}.get(mark), **more}
        for task, marks in enumerate(tasks)
        for attempt, mark in enumerate(marks)
    ]


def only_group(rows: Iterable[dict[str, Any]]) -> Group:
    """The one group of the rows."""
    (group,) = groups(frame(rows))
    return group
