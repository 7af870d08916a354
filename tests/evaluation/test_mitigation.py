"""Tasks that fail, and where to look first."""

from typing import Any

import pandas as pd
import pytest

from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.mitigation import (
    BIAS_HEAVY,
    SHOWN,
    VARIANCE_HEAVY,
    FailingTask,
    failing_tasks,
    table,
)
from coherence.evaluation.repeated import groups
from coherence.incoherence.outcomes import conform


def attempts(task: str, given: str, target: str = "a", **more: Any) -> list[dict[str, Any]]:
    return [
        {
            "dataset": "set",
            "group": "agent",
            "task": task,
            "attempt": str(place),
            "answer": answer,
            "target": target,
            "passed": answer == target,
            "trajectory": f"{task}-{place}",
            **more,
        }
        for place, answer in enumerate(given)
    ]


def found(*tasks: list[dict[str, Any]]) -> list[FailingTask]:
    frame = conform(pd.DataFrame([row for rows in tasks for row in rows]))
    return list(failing_tasks(groups(frame, {"set": "planted"}), IncoherenceSettings()))


def test_the_same_wrong_answer_is_bias_and_scattered_ones_are_variance() -> None:
    rows = {row.task: row for row in found(attempts("same", "bbbbb"), attempts("scatter", "abcde"))}
    assert rows["same"].suggestion == BIAS_HEAVY
    assert (rows["same"].bias_share, rows["same"].modal_answer, rows["same"].modal_count) == (1, "b", 5)
    assert rows["scatter"].suggestion == VARIANCE_HEAVY
    assert rows["scatter"].trajectories == tuple(f"scatter-{place}" for place in range(5))


def test_tasks_without_a_failure_have_no_row_and_the_worst_come_first() -> None:
    rows = found(attempts("fine", "aaa"), attempts("half", "aab"), attempts("bad", "bbb"))
    assert [row.task for row in rows] == ["bad", "half"]
    assert [(row.failed.count, row.failed.n) for row in rows] == [(3, 3), (1, 3)]


def test_what_to_read_first_gave_the_most_frequent_wrong_answer_or_failed() -> None:
    (row,) = found(attempts("t", "bbca"))
    assert row.read_first == ("t-0", "t-1")
    unknown = [{**one, "answer": None, "target": None} for one in attempts("u", "bca")]
    (row,) = found(unknown)
    assert row.read_first == ("u-0", "u-1")


def test_an_answer_called_nan_is_an_answer() -> None:
    rows = found([{**row, "answer": "nan"} for row in attempts("odd", "bb")])
    assert (rows[0].modal_answer, rows[0].modal_count) == ("nan", 2)


def test_one_attempt_says_nothing_of_bias() -> None:
    (row,) = found(attempts("once", "b"))
    assert (row.error, row.bias_share, row.suggestion) == (None, None, None)
    assert table([row]).rows[0][5:7] == ("-", "-")


@pytest.mark.parametrize(
    ("tests", "median", "worst"),
    [(("10", "10", "00"), 0.5, 1.0), (("1-", "0-", "0-"), 1.0, 1.0)],
    ids=["share of failed tests", "tests without a result"],
)
def test_the_loss_is_the_share_of_failed_tests(tests: tuple[str, ...], median: float, worst: float) -> None:
    rows = [
        {**row, "answer": None, "target": None, "tests": tests[place], "passed": False}
        for place, row in enumerate(attempts("t", "bbb"))
    ]
    (row,) = found(rows)
    assert row.loss is not None
    assert (row.loss.median, row.loss.worst) == (median, worst)


def test_rewards_beyond_1_are_no_loss() -> None:
    rows = [{**row, "reward": reward} for row, reward in zip(attempts("t", "abb"), (9, 0, 4), strict=True)]
    (row,) = found(rows)
    assert row.loss is not None
    assert (row.loss.median, row.loss.worst, row.loss.low) == (1, 1, 0.5)


def test_unknown_outcomes_are_no_failures() -> None:
    rows = [*attempts("t", "bb"), {**attempts("t", "b")[0], "attempt": "9", "answer": None, "passed": None}]
    (row,) = found(rows)
    assert (row.failed.count, row.failed.n) == (2, 2)


def test_the_table_shows_the_first_and_keeps_all() -> None:
    made = table(found(*(attempts(f"t{n:03}", "bb") for n in range(SHOWN + 5))))
    assert (len(made.rows), len(made.records)) == (SHOWN, SHOWN + 5)
    assert made.note == "set is simulated: planted."


def test_the_table_shows_the_most_failing_of_all_groups() -> None:
    mild = [attempts(f"t{n:03}", "ab") for n in range(SHOWN)]
    bad = [{**row, "group": "other"} for row in attempts("t900", "bb")]
    made = table(found(*mild, bad))
    assert made.rows[0][1:3] == ("other", "t900")
    assert made.records[-1]["task"] == "t900"


def test_no_rows_make_an_empty_table() -> None:
    assert table([]).rows == ()
