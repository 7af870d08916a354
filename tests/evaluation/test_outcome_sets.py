"""What a dataset of repeated outcomes has, and what is left out of it."""

from typing import Any

import pandas as pd
import pytest

from coherence.evaluation.outcome_groups import NEEDS, groups
from coherence.evaluation.outcome_groups import table as group_table
from coherence.evaluation.outcome_sets import counted_table, describe, table
from coherence.evaluation.render import latex, markdown
from coherence.incoherence.contract import Counted
from coherence.incoherence.outcomes import conform


def attempts(*rows: tuple[str, str, Any], **columns: Any) -> pd.DataFrame:
    made = [
        {"dataset": "d", "group": group, "task": task, "passed": passed, "attempt": str(number)}
        for number, (group, task, passed) in enumerate(rows)
    ]
    return conform(pd.DataFrame(made).assign(**columns))


FRAME = attempts(
    *(("g", "a", True), ("g", "a", False), ("g", "a", None), ("g", "b", True), ("g", "c", False)),
    *(("h", "a", True), ("h", "a", True)),
)


def test_a_dataset_is_counted() -> None:
    row = describe("d", FRAME, (Counted("d", "no task", 2),), None, ("made up", "notes"))
    assert (row.attempts, row.tasks, row.groups, row.cells) == (7, 3, 2, 4)
    assert (row.fewest, row.most) == (1, 3)
    assert (row.passed, row.failed, row.unknown) == (4, 2, 1)
    assert (row.kind, row.kinds) == ("passed", {"passed": 6})
    assert [(one.reason.split(":")[0], one.amount, one.where) for one in row.counted] == [
        ("no task", "2 rows", ""),
        ("one attempt with an outcome", "2 cells", "g, b"),
        ("every attempt passed", "1 group", "h"),
    ]


def test_the_richest_outcome_is_taken_apart_unless_another_is_named() -> None:
    tests = ["11", "10", None, "1", None, "11", "11"]
    frame = attempts(*[("g", "a", True)] * 7, tests=tests)
    assert describe("d", frame, (), None, ("", "")).kind == "tests"
    assert describe("d", frame, (), "passed", ("", "")).kinds_text == "passed 7; tests 5"


def test_contexts_of_a_task_are_one_cell() -> None:
    frame = attempts(*[("g", "a", True)] * 4, context=["p", "p", "q", "q"])
    row = describe("d", frame, (), None, ("", ""))
    assert (row.cells, row.fewest, row.most) == (1, 4, 4)


@pytest.mark.parametrize(
    ("contexts", "reasons"),
    [
        (["p", "q", "r"], []),
        (["p", "p", "p"], ["all attempts share one context"]),
        (["p", "p", None], []),
        ([None, None, None], []),
    ],
    ids=["one attempt each", "one for all", "some unknown", "none"],
)
def test_scatter_is_seen_between_contexts(contexts: list[str | None], reasons: list[str]) -> None:
    frame = attempts(("g", "a", True), ("g", "a", False), ("g", "a", False), context=contexts)
    row = describe("d", frame, (), None, ("", ""))
    assert [one.reason.split(":")[0] for one in row.counted] == reasons


def test_a_dataset_without_repeats_has_a_row_that_says_so() -> None:
    row = describe("d", conform(pd.DataFrame()), (Counted("d", "no repeats", 5, "trials"),), None, ("", ""))
    made = table([row])
    shown = dict(zip(made.columns, made.rows[0], strict=True))
    assert (shown["Attempts"], shown["Attempts a task"], shown["Outcomes"]) == ("0", "-", "-")
    assert shown["Left out or unknown"] == "5 trials: no repeats"
    assert made.caption.startswith("Nothing was attempted twice")
    assert not table([describe("d", FRAME, (), None, ("", ""))]).caption.startswith("Nothing")


@pytest.mark.parametrize("rows", [[], [describe("d", FRAME, (), None, ("made up", ""))]], ids=["none", "one"])
def test_the_tables_say_what_is_not_real(rows: list[Any]) -> None:
    for made in (table(rows), counted_table(rows)):
        assert ("d (simulated)" in markdown(made)) == bool(rows)
        assert (made.note == "d is simulated: made up.") == bool(rows)


def test_every_reason_is_in_the_exclusions_and_the_first_ones_in_the_row() -> None:
    counted = tuple(Counted("d", f"reason {n}", n, "rows", f"row {n}") for n in range(1, 7))
    row = describe("d", attempts(("g", "a", True), ("g", "a", False)), counted, None, ("", ""))
    assert table([row]).rows[0][-1].endswith("4 rows: reason 4; and 2 more")
    assert [record["count"] for record in counted_table([row]).records] == [1, 2, 3, 4, 5, 6]
    assert counted_table([row]).rows[0] == ("d", "reason 1", "1 row", "row 1")


def test_hostile_names_stay_one_cell() -> None:
    name = "a|b\n\x1b[2J<script>&"
    row = describe(
        "d",
        attempts((name, name, True)),
        (Counted("d", "column unknown", 1, "columns", name),),
        None,
        ("", ""),
    )
    for made in (
        table([row]),
        counted_table([row]),
        group_table(list(groups(attempts((name, name, True)), {}))),
    ):
        body = markdown(made)
        assert "\x1b" not in body + latex(made)
        assert (
            len({line.replace("\\|", "").count("|") for line in body.splitlines() if line.startswith("|")})
            == 1
        )


def test_groups_are_counted_and_tasks_that_go_both_ways() -> None:
    g, h = groups(FRAME[list(NEEDS)], {"d": "made up"})
    assert (g.attempts, g.tasks, g.fewest, g.most) == (5, 3, 1, 3)
    assert (g.passed, g.failed, g.unknown) == (2, 2, 1)
    assert (g.mixed.count, g.mixed.n, h.mixed.count, h.mixed.n) == (1, 1, 0, 1)
    made = group_table([g, h])
    assert [row[:2] for row in made.rows] == [("d (simulated)", "g"), ("d (simulated)", "h")]
    assert made.records[0]["mixed_share"] == 1.0
    assert group_table([]).rows == ()


def test_a_name_is_given_only_where_the_group_has_one() -> None:
    frame = attempts(("g", "a", True), ("g", "a", True), scaffold=["x", None], backbone=["m", "n"])
    (row,) = groups(frame, {})
    assert (row.scaffold, row.backbone) == ("x", None)
