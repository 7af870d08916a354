from typing import Any

import pytest
from attempt_samples import answered, frame, only_group, tried

from coherence.errors import InputError
from coherence.evaluation.repeated import CONTRARY, NO_TASK, REPEATED, groups

ONE = {"task": "t", "attempt": "1", "passed": True}


@pytest.mark.parametrize(
    ("rows", "kept", "left_out"),
    [
        ([ONE, ONE | {"attempt": "2"}], 2, {}),
        ([ONE, ONE], 1, {REPEATED: 1}),
        ([ONE, ONE | {"passed": False}], 0, {CONTRARY: 2}),
        ([ONE | {"seed": "1"}, ONE | {"seed": "2"}], 0, {CONTRARY: 2}),
        ([ONE, ONE, ONE | {"passed": False}], 0, {CONTRARY: 3}),
        ([ONE, ONE | {"context": "c"}], 2, {}),
        ([ONE | {"attempt": None}, ONE | {"attempt": None}], 2, {}),
        ([ONE | {"task": None}, ONE], 1, {NO_TASK: 1}),
    ],
    ids=["two", "copy", "contrary", "two seeds", "copy and contrary", "contexts", "without names", "no task"],
)
def test_each_attempt_counts_once(rows: list[dict[str, Any]], kept: int, left_out: dict[str, int]) -> None:
    group = only_group(rows)
    assert (len(group.frame), group.left_out) == (kept, left_out)


def test_attempts_are_sorted_by_task_whatever_their_order() -> None:
    rows = answered(("AB", "A"), ("BC", "B"))
    forward, back = only_group(rows), only_group(rows[::-1])
    assert forward.task.tolist() == back.task.tolist() == [0, 0, 1, 1]
    assert list(forward.tasks) == ["t0", "t1"]


def test_datasets_come_in_order_and_groups_by_name() -> None:
    rows = [
        *tried("10", dataset="z", group="b", backbone="m"),
        *tried("10", dataset="z", group="a"),
        *tried("1", dataset="a"),
    ]
    found = list(groups(frame(rows), {"z": "planted"}))
    assert [(group.dataset, group.name) for group in found] == [("z", "a"), ("z", "b"), ("a", "g")]
    assert [group.simulated for group in found] == ["planted", "planted", ""]
    assert [group.backbone for group in found] == [None, "m", None]


@pytest.mark.parametrize("column", ["dataset", "group"])
def test_an_attempt_without_a_place_is_an_error(column: str) -> None:
    with pytest.raises(InputError, match=f"1 attempts have no `{column}`"):
        list(groups(frame([*tried("1"), {"task": "t", "passed": True, column: None}])))


def test_numbers_that_are_not_finite_are_unknown() -> None:
    group = only_group([{"task": "t", "reward": value} for value in (1.0, float("inf"), None)])
    assert group.numbers("reward").tolist()[0] == 1
    assert (group.numbers("reward") != group.numbers("reward")).tolist() == [False, True, True]
