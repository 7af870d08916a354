from typing import Any

import numpy as np
import pytest
from attempt_samples import answered, frame, tried

from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.incoherence_strata import strata
from coherence.evaluation.incoherence_strata_table import table
from coherence.evaluation.main_parts import ALL_GROUPS
from coherence.evaluation.repeated import groups
from coherence.evaluation.stratum import DIFFICULTY, WITHIN, Stratum
from coherence.incoherence.paired import SIGN_FLIP, Permutations
from coherence.incoherence.trends import KENDALL, POOLED_KENDALL

SETTINGS = IncoherenceSettings(bins=2, lengths=("steps",), permutations=Permutations(100))


def found(given: list[dict[str, Any]], settings: IncoherenceSettings = SETTINGS) -> list[Stratum]:
    return list(strata(list(groups(frame(given))), settings))


def with_steps(given: list[dict[str, Any]], *steps: float | None) -> list[dict[str, Any]]:
    return [row | {"steps": step} for row, step in zip(given, steps, strict=True)]


FOUR = with_steps(answered(("AB", "A"), ("BB", "A"), ("AC", "A"), ("BC", "A")), 1, 3, 4, 4, 8, 10, 20, 30)


def test_buckets_hold_equally_many_tasks_by_mean_length() -> None:
    low, high = (row for row in found(FOUR) if row.by == "steps")
    assert (low.found.items, low.low, low.high, low.centre) == (2, 2, 4, 3)
    assert (high.found.items, high.low, high.high) == (2, 9, 25)
    assert low.stratum == "1: 2 to 4"
    assert low.found.incoherence == pytest.approx(0.5 / 1.5)
    assert high.found.incoherence == pytest.approx(1 / 1.5)


def test_the_trend_is_the_librarys_over_tasks_that_are_ever_wrong() -> None:
    row = found([*FOUR, *with_steps([r | {"task": "t9"} for r in answered(("AA", "A"))], 50, 50)])[0]
    assert (row.test, row.n_test) == (KENDALL, 4)  # incoherence 1, 0, 1, .5 at 2, 4, 9, 25
    assert row.tau == pytest.approx(-0.1825741858)


def test_tasks_without_a_length_are_counted() -> None:
    rows = found(with_steps(answered(("AB", "A"), ("BB", "A"), ("AC", "A")), 1, 2, 3, 4, None, None))
    by_steps = [row for row in rows if row.by == "steps"]
    assert [row.unknown for row in by_steps] == [1, 1]
    assert sum(row.found.items for row in by_steps) == 2


def test_within_the_task_attempts_are_divided_at_its_own_median() -> None:
    given = with_steps(answered(("AABB", "A"), ("BBAB", "A"), ("AB", "A")), 1, 2, 3, 4, 40, 30, 20, 10, 5, 5)
    below, above = (row for row in found(given) if row.by == "steps" + WITHIN)
    # The first task: AA below, BB above; the second: AB below, BB above; the third has no two below.
    assert (below.found.items, above.found.items, below.unknown) == (2, 2, 1)
    assert below.found.error == pytest.approx(0.25)
    assert above.found.error == pytest.approx(1)
    assert (below.test, below.n_test, below.p) == (SIGN_FLIP, 2, above.p)


def test_halves_of_all_groups_together_keep_a_task_together() -> None:
    answers = [(given, "A") for given in ("AABB", "BBAB", "ABBA", "BABB", "BAAB", "ABAB")]
    given = with_steps(answered(*answers), *[1, 2, 3, 4] * 6)
    rows = found([*(row | {"group": "a"} for row in given), *(row | {"group": "b"} for row in given)])
    alone, together = (
        [row for row in rows if row.by == "steps" + WITHIN and row.group == group]
        for group in ("a", ALL_GROUPS)
    )
    for one, all_of_them in zip(alone, together, strict=True):
        assert all_of_them.found.items == 2 * one.found.items == 12
        assert all_of_them.found.incoherence == pytest.approx(one.found.incoherence)
        assert all_of_them.p == one.p
        assert all_of_them.n_test == one.n_test == 6
        assert one.found.jackknife is not None
        assert all_of_them.found.jackknife is not None
        assert all_of_them.found.jackknife.low == pytest.approx(one.found.jackknife.low)


def test_halves_are_equal_where_the_estimate_depends_on_their_size() -> None:
    settings = IncoherenceSettings(bins=2, lengths=("steps",), decompositions=("modal_margin",))
    rows = found(with_steps(answered(("AABBB", "A")), 1, 2, 3, 4, 5), settings)
    sizes = {row.stratum: row.found.attempts for row in rows if row.by == "steps" + WITHIN}
    assert sizes == {"below its median": 2, "at or above its median": 2}


def three_groups(copies: int = 1) -> list[dict[str, Any]]:
    patterns = {"a": ("1110", "1000"), "b": ("1100", "0001"), "c": ("1111", "0000")}
    return [
        row
        for name, tasks in patterns.items()
        for row in tried(*tasks * copies, group=name, scaffold="s" if name != "c" else "z", steps=1.0)
    ]


def test_difficulty_is_the_failure_rate_of_the_other_groups() -> None:
    rows = [row for row in found(three_groups()) if row.by == DIFFICULTY and row.group == "a"]
    assert [(row.low, row.high) for row in rows] == [(0.25, 0.25), (0.875, 0.875)]


def test_groups_together_keep_the_groups_of_a_task_together() -> None:
    rows = [row for row in found(three_groups()) if row.group == ALL_GROUPS]
    easy = next(row for row in rows if row.by == DIFFICULTY and row.place == 0)
    assert easy.found.items == 3
    assert easy.found.jackknife is None  # one task, however many groups
    scaffolds = [row for row in rows if row.by == "scaffold"]
    assert [(row.stratum, row.found.items) for row in scaffolds] == [("s", 4), ("z", 2)]
    assert (scaffolds[0].found.jackknife, scaffolds[0].found.untold) == (
        None,
        "too few tasks for an interval",
    )
    assert table(scaffolds, SETTINGS).rows[0][-1].endswith("too few tasks for an interval")
    (more,) = [
        row
        for row in found(three_groups(3))
        if (row.group, row.by, row.stratum) == (ALL_GROUPS, "scaffold", "s")
    ]
    assert more.found.jackknife is not None
    assert (more.found.jackknife.n, more.found.items) == (6, 12)


def test_all_groups_together_have_a_trend_that_counts_tasks() -> None:
    given = [row | {"group": group} for group in "ab" for row in FOUR]
    rows = [row for row in found(given) if row.by == "steps"]
    alone, together = ([row for row in rows if row.group == name] for name in ("a", ALL_GROUPS))
    assert {(row.test, row.n_test) for row in together} == {(POOLED_KENDALL, 4)}
    assert [row.tau for row in together] == pytest.approx([alone[0].tau] * 2)
    assert together[0].p is not None
    by_name = [row for row in found(three_groups()) if row.by == "scaffold"]
    assert {(row.test, row.tau) for row in by_name} == {("", None)}


def test_groups_are_not_pooled_where_the_estimate_depends_on_unequal_attempts() -> None:
    settings = IncoherenceSettings(bins=1, lengths=("steps",), decompositions=("modal_margin",))
    short = answered(("AB", "A"), ("BB", "A"), group="a", steps=1.0, scaffold="s")
    long = answered(("ABB", "A"), ("BBA", "A"), group="b", steps=2.0, scaffold="z")
    rows = [row for row in found([*short, *long], settings) if row.by == "steps"]
    assert [row.group for row in rows] == ["a", "b", ALL_GROUPS]
    assert [row.found.incoherence is None for row in rows] == [False, False, True]
    assert [bool(row.warning) for row in rows] == [False, False, True]
    assert "unequal attempts" in table(rows, settings).rows[-1][-1]
    plain = [row for row in found([*short, *long]) if row.group == ALL_GROUPS and row.by == "steps"]
    assert [(row.warning, row.found.incoherence is None) for row in plain] == [("", False)] * len(plain)


def test_one_group_has_neither_difficulty_nor_company() -> None:
    rows = found(FOUR)
    assert {row.group for row in rows} == {"g"}
    assert DIFFICULTY not in {row.by for row in rows}


def test_no_lengths_no_strata() -> None:
    assert found(answered(("AB", "A"))) == []
    assert table([], SETTINGS).rows == ()


def test_the_table() -> None:
    made = table(found(three_groups()), SETTINGS)
    assert {len(row) for row in made.rows} == {len(made.columns)}
    for words in ("jackknife-t", "Kendall", "sign-flip", "100 swaps, seed 0", "not adjusted"):
        assert words in made.caption
    assert all(set(record) == set(made.fields) for record in made.records)


def test_strata_lose_no_task() -> None:
    random = np.random.default_rng(2)
    given = [
        {"task": f"t{task}", "attempt": str(attempt), "passed": bool(random.integers(2)), "steps": steps}
        for task in range(23)
        for attempt in range(3)
        for steps in [float(random.integers(1, 6))]
    ]
    for bins in (1, 2, 3, 5):
        rows = found(given, IncoherenceSettings(bins=bins, lengths=("steps",)))
        assert sum(row.found.items for row in rows if row.by == "steps") == 23


def test_tasks_without_a_length_are_counted_over_all_groups_too() -> None:
    some = with_steps(answered(("AB", "A"), ("BB", "A"), group="a"), 1, 2, None, None)
    all_known = answered(("AB", "A"), ("BB", "A"), group="b", steps=3.0)
    none = answered(("AB", "A"), ("BB", "A"), ("BC", "A"), group="c")
    rows = [row for row in found([*some, *all_known, *none]) if row.by == "steps"]
    together = [row for row in rows if row.group == ALL_GROUPS]
    assert {row.unknown for row in together} == {1 + 3}
    assert sum(row.found.items for row in together) == 3
