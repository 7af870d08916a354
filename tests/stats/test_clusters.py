import pytest

from coherence.stats.clusters import EMPTY, ONE_OUTCOME, TOO_FEW, ClusterRow, clustered_gap
from coherence.stats.intervals import Bootstrap

SETTINGS = Bootstrap(500, 3)


def rows(copies: int) -> list[ClusterRow]:
    return [
        ClusterRow(f"task{task}", risky, (task * 7 + risky * 5) % 11 < 4 + 3 * risky)
        for task in range(16)
        for risky in (True, False)
        for _ in range(copies)
    ]


def test_copies_of_a_task_add_no_certainty() -> None:
    once, five = clustered_gap(rows(1), SETTINGS), clustered_gap(rows(5), SETTINGS)
    assert once.interval == five.interval
    assert (once.clusters, once.largest, five.largest) == (16, 2, 10)


def test_order_changes_nothing_and_the_seed_decides() -> None:
    assert clustered_gap(rows(2), SETTINGS) == clustered_gap(reversed(rows(2)), SETTINGS)
    assert clustered_gap(rows(1), SETTINGS) != clustered_gap(rows(1), Bootstrap(500, 4))


def test_draws_without_a_group_are_counted_up_to_a_point() -> None:
    few = [ClusterRow(f"{n}", n < 4, n % 2 == 0) for n in range(40)]
    found = clustered_gap(few, SETTINGS)
    assert found.interval is not None
    assert 0 < found.undefined <= 25
    many = clustered_gap([ClusterRow(f"{n}", n < 2, n % 2 == 0) for n in range(40)], SETTINGS)
    assert many.interval is None
    assert many.reason == f"{many.undefined:,} of 500 resamples lack a side"


@pytest.mark.parametrize(
    ("risky", "safe"), [((4, 4), (112, 196)), ((0, 4), (5, 9)), ((3, 4), (9, 9)), ((3, 4), (0, 9))]
)
def test_a_side_of_one_outcome_has_no_interval(risky: tuple[int, int], safe: tuple[int, int]) -> None:
    made = [
        ClusterRow(f"task{number // 4}", side, number < failed)
        for side, (failed, n) in ((True, risky), (False, safe))
        for number in range(n)
    ]
    found = clustered_gap(made, SETTINGS)
    assert (found.interval, found.reason) == (None, ONE_OUTCOME)


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        ([ClusterRow("a", True, True)], TOO_FEW),
        ([], TOO_FEW),
        ([ClusterRow(name, True, True) for name in "ab"], EMPTY),
    ],
)
def test_one_cluster_or_one_group_has_no_interval(made: list[ClusterRow], reason: str) -> None:
    found = clustered_gap(made, SETTINGS)
    assert (found.interval, found.reason) == (None, reason)
