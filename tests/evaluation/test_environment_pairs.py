"""Groups compared by environment: which attempts are partners, and what the comparison says."""

from typing import Any

import msgspec
import numpy as np
import pytest
from attempt_samples import frame
from msgspec.json import encode

from coherence.evaluation.environment_pairs import (
    ALONE,
    BY_CONTEXT,
    BY_SEED,
    BY_TASK,
    NO_CONTEXT,
    NO_ESTIMATE,
    NO_SEED,
    NO_SEEDS,
    NONE_COMMON,
    NOT_BOTH,
    NOT_SHARED,
    TOO_FEW,
)
from coherence.evaluation.incoherence_paired import PairedRow, pairs
from coherence.evaluation.incoherence_paired_table import table
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.render import markdown
from coherence.evaluation.repeated import groups
from coherence.incoherence.paired import Permutations

SETTINGS = IncoherenceSettings(permutations=Permutations(64))
Rows = list[dict[str, Any]]


def seeded(group: str, *tasks: dict[str, str], **more: Any) -> Rows:
    """Attempts of tasks given as {seed: answers}, a letter each of which "A" is right; seed "" is unknown."""
    return [
        {
            "group": group,
            "task": f"t{task}",
            "attempt": f"{seed}/{number}",
            "seed": seed or None,
            "answer": letter,
            "target": "A",
            "passed": letter == "A",
            **more,
        }
        for task, environments in enumerate(tasks)
        for seed, letters in environments.items()
        for number, letter in enumerate(letters)
    ]


def compared(rows: Rows, settings: IncoherenceSettings = SETTINGS) -> PairedRow:
    (row,) = pairs(list(groups(frame(rows))), settings)
    return row


ONE = seeded("a", {"1": "A", "2": "A", "3": "B"}, {"1": "A", "2": "B", "3": "A"})
OTHER = seeded("b", {"1": "A", "2": "B", "3": "B"}, {"1": "A", "2": "B", "3": "B"})


def test_a_worked_example() -> None:
    row = compared([*ONE, *OTHER])
    assert (row.paired_by, row.environments, row.found.items) == (BY_SEED, 6, 2)
    assert (row.first_used.attempts, row.second_used.attempts) == (6, 6)
    assert row.found.error is not None
    assert row.found.incoherence is not None
    # Each task has one failure of three against two: variances of 1/3 all, covariances of 1/6.
    assert row.found.error.value == pytest.approx(-1 / 3)
    assert row.found.incoherence.value == pytest.approx(1 - 1 / 2)
    assert (row.shared.covariance, row.shared.first, row.shared.second) == pytest.approx(
        (1 / 6, 1 / 2, 1 / 2)
    )
    assert row.shared.items == 2


def random_rows(random: np.random.Generator, group: str, kind: str) -> Rows:
    """Six tasks in five environments, an attempt each."""
    rows: Rows = []
    for task in range(6):
        for seed in range(5):
            letter = str(random.choice(["A", "B", "C"], p=[0.5, 0.3, 0.2]))
            chances = random.dirichlet([1, 1, 1])
            outcomes: dict[str, dict[str, Any]] = {
                "answer": {"answer": letter, "target": "A"},
                "passed": {"passed": letter == "A"},
                "number": {"number": random.normal(1e6, 3), "target_number": 1e6},
                "tests": {
                    "tests": "".join(random.choice(list("110-"), size=4)) + ("0" if group == "a" else "-")
                },
                "probabilities": {
                    "probabilities": encode(dict(zip("ABC", chances.tolist(), strict=True))).decode(),
                    "target": "B",
                },
            }
            rows.append(
                {"group": group, "task": f"t{task}", "attempt": str(seed), "seed": str(seed)} | outcomes[kind]
            )
    return rows


@pytest.mark.parametrize("kind", ["answer", "passed", "number", "tests", "probabilities"])
def test_with_every_environment_in_common_the_differences_are_those_by_task(kind: str) -> None:
    random = np.random.default_rng(8)
    rows = [row for name in "ab" for row in random_rows(random, name, kind)]
    by_seed, by_task = compared(rows), compared([row | {"seed": None} for row in rows])
    assert (by_seed.paired_by, by_task.paired_by, by_task.by_task) == (BY_SEED, BY_TASK, NO_SEEDS)
    for name in ("error", "incoherence"):
        one, other = (getattr(row.found, name) for row in (by_seed, by_task))
        assert one.value == pytest.approx(other.value)
        assert (one.interval.low, one.interval.high) == pytest.approx(
            (other.interval.low, other.interval.high)
        )
        assert one.p == other.p
    assert by_task.shared.reason == NO_SEEDS
    assert by_task.environments is None


@pytest.mark.parametrize("kind", ["answer", "passed", "number", "tests", "probabilities"])
def test_a_group_shares_all_its_variance_with_itself(kind: str) -> None:
    rows = random_rows(np.random.default_rng(2), "a", kind)
    row = compared([*rows, *(row | {"group": "b"} for row in rows)])
    assert (row.shared.first, row.shared.second) == pytest.approx((1, 1))


def test_vectors_of_tests_have_the_covariance_of_their_common_tests() -> None:
    # The first group has results of four tests, the second of one, which both fail in one environment.
    one = [{"seed": "1", "tests": "1101"}, {"seed": "2", "tests": "0101"}]
    other = [{"seed": "1", "tests": "1---"}, {"seed": "2", "tests": "0---"}]
    rows = [
        row | {"group": name, "task": task, "attempt": row["seed"]}
        for name, side in (("a", one), ("b", other))
        for task in ("t", "u")
        for row in side
    ]
    found = compared(rows).shared
    # Variances 1/2 as means over four tests and over one: 1/8 and 1/2; covariance 1/2 / sqrt(4 * 1).
    assert (found.covariance, found.first, found.second) == pytest.approx((1 / 4, 2, 1 / 2))


def test_attempts_without_a_partner_are_left_out_and_counted_by_reason() -> None:
    row = compared(
        [
            *ONE,
            *seeded("a", {"4": "BB", "": "B"}, {}, {"1": "BBB"}, {"1": "A", "2": "B"}),
            *OTHER,
            *seeded("b", {"5": "A"}, {"": "AA"}, {"1": "A", "9": "A"}),
        ]
    )
    alone = compared([*ONE, *OTHER])
    assert row.found == alone.found
    assert row.shared == alone.shared
    assert row.first_used.left_out == {NO_SEED: 1, NOT_SHARED: 4, ALONE: 3}
    assert row.second_used.left_out == {NO_SEED: 2, NOT_SHARED: 2, ALONE: 1}
    shown = table([row], SETTINGS)
    assert (
        "first: 1 without a seed, 4 in environments the other has not, 3 in tasks with" in shown.rows[0][-1]
    )
    assert shown.records[0]["second_without_partner"] == 5
    assert shown.records[0]["first_attempts"] == 6


def test_one_environment_twice_in_a_group_is_one_environment() -> None:
    row = compared([*ONE, *seeded("b", {"1": "AB", "2": "B", "3": "BB"}, {"1": "A", "2": "B", "3": "BBBB"})])
    assert (row.environments, row.second_used.attempts) == (6, 11)
    assert row.found.error is not None
    assert row.found.error.value == pytest.approx(((1 / 3 - 2.5 / 3) + (1 / 3 - 2 / 3)) / 2)
    # Variances: pairs AB-B, AB-BB, B-BB of halves of their distances: 1/4, 1/4, 0; means over environments
    # (1/2, 1, 1) against (0, 0, 1): covariance 1/12; the other task as above.
    assert row.shared.covariance == pytest.approx((1 / 12 + 1 / 6) / 2)
    assert row.shared.second == pytest.approx((1 / 12 + 1 / 6) / (1 / 6 + 1 / 3))


@pytest.mark.parametrize(
    ("one", "other", "settings", "reason"),
    [
        (ONE, [row | {"seed": None} for row in OTHER], SETTINGS, NOT_BOTH),
        (ONE, [row | {"seed": f"x{row['seed']}"} for row in OTHER], SETTINGS, NONE_COMMON),
        (ONE, [row | {"seed": "1" if row["seed"] == "1" else "x"} for row in OTHER], SETTINGS, TOO_FEW),
        (ONE, OTHER, IncoherenceSettings("plug-in", Permutations(64)), NO_ESTIMATE),
        (ONE, OTHER, IncoherenceSettings("jackknife", decompositions=("modal_margin",)), NO_ESTIMATE),
    ],
    ids=["seeds of one", "other seeds", "one in common", "plug-in", "modal margin"],
)
def test_where_environments_do_not_pair_tasks_do_and_it_is_said(
    one: Rows, other: Rows, settings: IncoherenceSettings, reason: str
) -> None:
    row = compared([*one, *other], settings)
    without = compared([each | {"seed": None} for each in (*one, *other)], settings)
    assert row.found == without.found
    assert (row.paired_by, row.by_task, row.shared.reason) == (BY_TASK, reason, reason)
    assert (row.first_used.attempts, row.first_used.left_out) == (6, {})
    assert reason in table([row], settings).rows[0][-1]


def in_contexts(rows: Rows, *contexts: str) -> Rows:
    return [
        row | {"context": context, "attempt": f"{context}{row['attempt']}"}
        for row in rows
        for context in contexts
    ]


def test_with_contexts_on_both_sides_an_environment_is_a_seed_in_a_context() -> None:
    lost = [row | {"context": None, "attempt": "x"} for row in ONE[:1]]
    row = compared([*in_contexts(ONE, "c", "d"), *lost, *in_contexts(OTHER, "d", "e", "c")])
    assert (row.paired_by, row.environments) == (BY_CONTEXT, 12)
    assert row.first_used.left_out == {NO_CONTEXT: 1}
    assert row.second_used.left_out == {NOT_SHARED: 6}
    # Both contexts are alike: pairs of different seeds and contexts say what those of different seeds do.
    assert row.shared.covariance == pytest.approx(1 / 6)
    assert (row.shared.first, row.shared.second) == pytest.approx((1 / 2, 1 / 2))


def test_contexts_of_one_side_alone_are_kept_apart_in_its_variance() -> None:
    where = {"1": "c", "2": "d", "3": "c"}
    row = compared([*(each | {"context": where[each["seed"]]} for each in ONE), *OTHER])
    assert (row.paired_by, row.environments) == (BY_SEED, 6)
    # Pairs of different contexts only: seeds 1 and 2, 2 and 3: halves 0 and 1/2; 1/2 and 1/2.
    assert row.shared.first == pytest.approx(2 * (1 / 6) / (1 / 4 + 1 / 2))
    assert row.shared.second == pytest.approx(1 / 2)


def numbers(row: PairedRow) -> list[float]:
    values: list[float] = []
    for found in (row.found.error, row.found.incoherence):
        assert found is not None
        width = found.interval.high - found.interval.low if found.interval else 0.0
        values += [found.value, found.p, width]
    return values


@pytest.mark.parametrize("kind", ["answer", "tests", "probabilities", "number"])
def test_the_order_of_rows_does_not_matter_and_a_swap_turns_the_signs(kind: str) -> None:
    random = np.random.default_rng(4)
    rows = [row for name in "ab" for row in random_rows(random, name, kind)]
    rows += [row | {"attempt": "again"} for row in rows[:7]]
    rows = [row for row in rows if (row["group"], row["seed"]) != ("b", "2")]
    row = compared(rows)
    shuffled = compared([rows[place] for place in random.permutation(len(rows))])
    assert numbers(shuffled) == pytest.approx(numbers(row))
    assert shuffled.shared.first == pytest.approx(row.shared.first)
    swap = compared([each | {"group": {"a": "b", "b": "a"}[each["group"]]} for each in rows])
    assert numbers(swap) == pytest.approx(np.array(numbers(row)) * [-1, 1, 1, -1, 1, 1])
    assert (swap.shared.first, swap.shared.second) == pytest.approx((row.shared.second, row.shared.first))
    assert swap.first_used == row.second_used


def test_the_table_says_how_a_row_is_paired() -> None:
    rows = list(pairs(list(groups(frame([*ONE, *OTHER, *seeded("c", {"": "AB"}, {"": "BB"})]))), SETTINGS))
    made = table(rows, SETTINGS)
    assert [row[made.columns.index("Paired by")] for row in made.rows] == [
        "task and seed: 6 environments, 6 and 6 attempts", "task", "task"
    ]  # fmt: skip
    assert [record["paired_by"] for record in made.records] == [BY_SEED, BY_TASK, BY_TASK]
    assert made.rows[0][made.columns.index("Shared variance")] == "0.500; 0.500"
    assert made.rows[0][-1] == "too few tasks for an interval"
    assert made.rows[1][-1].startswith(NOT_BOTH)
    assert "covariance of both groups' outcomes" in markdown(made)
    assert msgspec.json.decode(encode(rows), type=list[PairedRow]) == rows


def simulated(random: np.random.Generator, tasks: int, seeds: tuple[range, range]) -> Rows:
    """Two groups of equal chances; three quarters of the variance is what an environment does to both."""
    rows: Rows = []
    hard = random.uniform(0.2, 0.8, tasks)
    luck = random.random((tasks, 40))
    for name, own in zip("ab", seeds, strict=True):
        for task in range(tasks):
            for seed in own:
                same = random.random() < np.sqrt(0.75)
                drawn = luck[task, seed] if same else random.random()
                given = {"attempt": str(seed), "seed": str(seed), "passed": bool(drawn > hard[task])}
                rows.append({"group": name, "task": f"t{task}"} | given)
    return rows


def test_the_level_holds_and_pairing_narrows_where_environments_matter() -> None:
    """Environments half in common: by task the others stay in the difference as noise."""
    runs, tasks = 80, 12
    rejected, shares, narrower = np.zeros(2), [], []
    settings = IncoherenceSettings(permutations=Permutations(199))
    for run in range(runs):
        rows = simulated(np.random.default_rng(run), tasks, (range(8), range(4, 12)))
        row = compared(rows, settings)
        assert row.paired_by == BY_SEED
        rejected += np.array(numbers(row))[[1, 4]] <= 0.05
        assert row.shared.first is not None
        shares.append(row.shared.first)
        if run < 20:
            by_task = compared([each | {"seed": None} for each in rows], settings)
            narrower.append(numbers(row)[2] / numbers(by_task)[2])
    assert (rejected / runs < 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)).all()
    assert np.mean(narrower) < 0.9
    assert np.mean(shares) == pytest.approx(0.75, abs=0.05)
