from coherence.stats.clusters import ClusterRow, clustered_gap
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


def test_draws_without_a_group_are_counted() -> None:
    found = clustered_gap([ClusterRow("a", True, True), ClusterRow("b", False, False)], SETTINGS)
    assert found.interval is not None
    assert 150 < found.undefined < 350  # half of the draws take one task twice
    assert (found.interval.low, found.interval.high) == (100, 100)


def test_one_cluster_or_one_group_has_no_interval() -> None:
    assert clustered_gap([ClusterRow("a", True, True)], SETTINGS).interval is None
    assert clustered_gap([], SETTINGS).clusters == 0
    assert clustered_gap([ClusterRow(name, True, True) for name in "ab"], SETTINGS).interval is None
