from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from attempt_samples import answered, frame, only_group, tried

from coherence.evaluation.ensembling import Votes, ensembling, table
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.main_parts import ALL_GROUPS
from coherence.evaluation.repeated import Group, groups
from coherence.figures.ensembling import describe, ensembling_curves
from coherence.incoherence import context_ensembles

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
    errors = [row.error or 0.0 for row in geometric.values()]
    assert errors[0] > errors[1] > errors[2] > 0


def test_the_mean_of_test_results() -> None:
    rows = curve(
        only_group([{"task": "t", "tests": tests} for tests in ("11", "10", "00")]), "arithmetic mean"
    )
    assert rows[1].error == pytest.approx(0.5)
    assert rows[1].variance == pytest.approx(1 / 3)
    assert rows[3].variance == pytest.approx(1 / 9)


def in_contexts(given: str, **more: Any) -> list[dict[str, Any]]:
    """Attempts at one task such as "AAB BB": each word a context of as many attempts."""
    return [
        {"task": "t", "context": f"c{place}", "attempt": str(n), "answer": letter, "target": "A", **more}
        for place, letters in enumerate(given.split())
        for n, letter in enumerate(letters)
    ]


def test_votes_are_of_different_contexts() -> None:
    rows = curve(only_group(in_contexts("AAA BBB AAA BBB")), "majority")
    assert [row.error for row in rows.values()] == pytest.approx([0.5] * 4)
    # Contexts differ in 2 of 3 pairs, whatever each repeats; any attempts would say 6 of 11.
    assert rows[1].incoherence == pytest.approx(2 / 3)
    assert rows[1].tasks == rows[4].tasks == 1
    too_many = curve(only_group(in_contexts("AAA BBB")), "majority")
    assert sorted(too_many) == [1, 2]


@pytest.mark.parametrize(
    ("more", "rule"),
    [
        ({"A": {"tests": "1"}, "B": {"tests": "0"}}, "arithmetic mean"),
        ({"A": {"number": 1.0}, "B": {"number": 0.0}}, "arithmetic mean"),
        ({"A": {"probabilities": '{"A": 1}'}, "B": {"probabilities": '{"B": 1}'}}, "arithmetic mean"),
    ],
    ids=["tests", "numbers", "probabilities"],
)
def test_means_are_of_different_contexts(more: dict[str, dict[str, Any]], rule: str) -> None:
    given = [
        row | more[row["answer"]] | {"answer": None, "target_number": 1.0}
        for row in in_contexts("AAA BBB AAA BBB")
    ]
    rows = curve(only_group(given), rule)
    (one, two) = (rows[votes].variance for votes in (1, 2))
    assert one is not None
    assert one == pytest.approx((2 if "probabilities" in more["A"] else 1) * 1 / 3)
    assert two == pytest.approx(one / 2)
    assert rows[4].tasks == 1
    assert sorted(rows) == [1, 2, 3, 4]


@pytest.mark.parametrize("verifications", [1, 3])
def test_means_of_contexts_of_different_sizes_are_over_every_choice(verifications: int) -> None:
    given = ((0.0, 0.5, 1.0, 2.0), (3.0,), (5.0, 6.0), (9.0,))
    group = only_group(
        {"task": "t", "context": str(c), "attempt": str(a), "number": x + v, "target_number": 1.0}
        | {"verification": str(v)}
        for c, numbers in enumerate(given)
        for a, x in enumerate(numbers)
        for v in range(verifications)
    )
    away = (verifications - 1) / 2 - 1
    for row in curve(group, "arithmetic mean").values():
        chosen = [[np.mean(one) for one in product(*some)] for some in combinations(given, row.votes)]
        assert row.error == pytest.approx(np.mean([np.mean((np.array(one) + away) ** 2) for one in chosen]))


def test_geometric_means_over_contexts_have_no_variance_and_say_so() -> None:
    shares = {"A": '{"A": 0.8, "B": 0.2}', "B": '{"A": 0.4, "B": 0.6}'}
    rows = in_contexts("AB AA BB")
    given = [row | {"probabilities": shares[row["answer"]], "answer": None} for row in rows]
    found = curve(only_group(given), "geometric mean").values()
    assert [(row.tasks, row.variance, row.not_parted) for row in found] == [(1, None, 1)] * 3


def test_what_cannot_be_computed_over_contexts_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_ensembles, "MOST_SPLITS", 2)
    group = only_group([*in_contexts("AB CD EF"), *in_contexts("A", task="u")])
    rows = [row for row in ensembling([group], SETTINGS) if row.votes == 2]
    assert [(row.tasks, row.error, row.not_computed, row.few_contexts) for row in rows] == [(0, None, 1, 1)]
    shown = table(rows, SETTINGS).rows[0][-1]
    assert shown == "1 too few contexts (tasks), 1 too many ways to vote (tasks)"
    assert "None" in describe(rows)
    ensembling_curves(rows)


def test_contexts_that_no_two_attempts_share_change_nothing() -> None:
    given = answered(("AAB", "A"), ("BBA", "A"))
    apart = [row | {"context": f"c{n}"} for n, row in enumerate(given)]
    assert curve(only_group(apart), "majority") == curve(only_group(given), "majority")


def test_groups_without_outcomes_have_no_curve() -> None:
    group = only_group([{"task": "t", "reward": 1.0}])
    assert list(ensembling([group], SETTINGS)) == []


def test_groups_together_count_a_task_once_in_their_intervals() -> None:
    tasks = ("1100", "1000", "0000", "0111", "0100", "1110")
    given = [*tried(*tasks, group="a"), *tried(*tasks, group="b")]
    rows = list(ensembling(list(groups(frame(given))), SETTINGS))
    (whole,) = [row for row in rows if row.group == ALL_GROUPS and row.votes == 1]
    (single,) = [row for row in rows if row.group == "a" and row.votes == 1]
    assert (whole.tasks, single.tasks) == (12, 6)
    assert whole.error == pytest.approx(single.error)
    assert whole.error_interval is not None
    assert single.error_interval is not None
    assert whole.error_interval.low == pytest.approx(single.error_interval.low)
    assert whole.interval is not None
    assert whole.interval.n == 6


def test_too_few_tasks_have_no_interval_and_the_caption_says_so() -> None:
    rows = list(ensembling([only_group(tried("1100", "1000", "0000", "0111"))], SETTINGS))
    assert [(row.error_interval, row.interval) for row in rows] == [(None, None)] * len(rows)
    assert "No interval where fewer than 5 tasks were ever wrong" in table(rows, SETTINGS).caption


def test_the_table() -> None:
    rows = list(ensembling([only_group(tried("1100", "100"))], SETTINGS))
    made = table(rows, SETTINGS)
    assert "nothing simulated" in made.caption
    assert {len(shown) for shown in made.rows} == {len(made.columns)}
    assert made.rows[-1][-1] == "1 too few attempts (tasks)"
