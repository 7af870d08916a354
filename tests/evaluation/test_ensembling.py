import pytest
from attempt_samples import answered, frame, only_group, tried

from coherence.evaluation.ensembling import Votes, ensembling, table
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.main_parts import ALL_GROUPS
from coherence.evaluation.repeated import Group, groups

SETTINGS = IncoherenceSettings(votes=(1, 2, 3, 4))


def curve(group: Group, rule: str) -> dict[int, Votes]:
    return {row.votes: row for row in ensembling([group], SETTINGS) if row.rule == rule}


def test_majority_of_answers() -> None:
    rows = curve(only_group(answered(("AAB", "A"), ("BBA", "A"))), "majority")
    assert sorted(rows) == [1, 2, 3]
    assert rows[1].error == pytest.approx(0.5)
    assert rows[3].error == pytest.approx(0.5)
    assert (rows[1].parted, rows[3].parted, rows[3].variance) == (2, 0, None)
    assert rows[1].incoherence == pytest.approx(2 / 3)
    assert rows[1].bias == pytest.approx(0.5 - 1 / 3)


def test_one_vote_is_the_group_itself() -> None:
    rows = curve(only_group(tried("1100", "1000", "0000")), "majority")
    assert rows[1].error == pytest.approx(0.75)
    assert rows[3].error == pytest.approx((0.5 + 1 + 1) / 3)


def test_tasks_with_too_few_attempts_are_counted() -> None:
    rows = curve(only_group(tried("110", "10")), "majority")
    assert [(row.tasks, row.too_few) for row in rows.values()] == [(2, 0), (2, 0), (1, 1)]
    assert [row.error for row in rows.values()] == pytest.approx([5 / 12, 5 / 12, 0])
    # Of the one task that has three attempts, a single attempt errs in a third.
    assert [row.error_of_one for row in rows.values()] == pytest.approx([5 / 12, 5 / 12, 1 / 3])


def test_means_of_probabilities() -> None:
    given = [
        {"task": task, "probabilities": text, "target": "A"}
        for task in ("t", "u")
        for text in ('{"A": 0.8, "B": 0.2}', '{"A": 0.4, "B": 0.6}', '{"A": 0.6, "B": 0.4}')
    ]
    group = only_group(given)
    arithmetic, geometric = curve(group, "arithmetic mean"), curve(group, "geometric mean")
    biases = [row.bias for row in arithmetic.values()]
    assert biases == pytest.approx([biases[0]] * 3)
    variances = [row.variance for row in arithmetic.values()]
    assert variances == pytest.approx([0.08, 0.04, 0.08 / 3])
    biases = [row.bias for row in geometric.values()]
    assert biases == pytest.approx([biases[0]] * 3)
    assert geometric[1].error > geometric[2].error > geometric[3].error


def test_the_mean_of_test_results() -> None:
    rows = curve(
        only_group([{"task": "t", "tests": tests} for tests in ("11", "10", "00")]), "arithmetic mean"
    )
    assert rows[1].error == pytest.approx(0.5)
    assert rows[1].variance == pytest.approx(1 / 3)
    assert rows[3].variance == pytest.approx(1 / 9)


def test_groups_without_outcomes_have_no_curve() -> None:
    group = only_group([{"task": "t", "reward": 1.0}])
    assert list(ensembling([group], SETTINGS)) == []


def test_groups_together_count_a_task_once_in_their_intervals() -> None:
    given = [*tried("1100", "1000", "0000", group="a"), *tried("1100", "1000", "0000", group="b")]
    rows = list(ensembling(list(groups(frame(given))), SETTINGS))
    (whole,) = [row for row in rows if row.group == ALL_GROUPS and row.votes == 1]
    (single,) = [row for row in rows if row.group == "a" and row.votes == 1]
    assert (whole.tasks, single.tasks) == (6, 3)
    assert whole.error == pytest.approx(single.error)
    assert whole.error_interval is not None
    assert single.error_interval is not None
    assert whole.error_interval.low == pytest.approx(single.error_interval.low)
    assert whole.interval is not None
    assert whole.interval.n == 3


def test_the_table() -> None:
    rows = list(ensembling([only_group(tried("1100", "100"))], SETTINGS))
    made = table(rows, SETTINGS)
    assert "nothing simulated" in made.caption
    assert {len(shown) for shown in made.rows} == {len(made.columns)}
    assert made.rows[-1][-1] == "1 too few attempts (tasks)"
