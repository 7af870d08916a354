from pathlib import Path
from typing import Any

import pytest
from attempt_samples import frame, only_group, tried

from coherence.errors import ConfigError
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.incoherence_tables import (
    IncoherenceEvaluation,
    evaluate_outcomes,
    incoherence_tables,
)
from coherence.evaluation.main_parts import ALL_GROUPS
from coherence.evaluation.repeated import groups
from coherence.evaluation.severity import WEIGHTED, SeverityRow, severities, table
from coherence.files import read_json, write_json

SETTINGS = IncoherenceSettings(weights={"lint_failures": 0.5})


def found(given: list[dict[str, Any]], settings: IncoherenceSettings = SETTINGS) -> dict[str, SeverityRow]:
    return {row.loss: row for row in severities([only_group(given)], settings)}


LINT = [row | {"lint_failures": lint} for row, lint in zip(tried("10", "00"), (0, 4, 2, 6), strict=True)]


def test_rate_severity_and_scatter_are_apart() -> None:
    row = found(LINT)["lint_failures"]
    assert (row.found.items, row.found.attempts, row.found.failed) == (2, 4, 3)
    assert row.found.rate == pytest.approx(0.75)
    assert row.found.severity == pytest.approx((2 + 4) / (0.5 + 1))
    assert row.scatter.error == pytest.approx(3)
    assert row.scatter.variance == pytest.approx(2)
    assert row.scatter.incoherence == pytest.approx(2 / 3)


def test_losses_are_weighed_together_where_there_are_several() -> None:
    given = [row | {"tests": tests} for row, tests in zip(LINT, ("11", "10", "00", "10"), strict=True)]
    rows = found(given)
    assert list(rows) == ["tests", "lint_failures", WEIGHTED]
    assert rows["tests"].found.severity == pytest.approx((0.25 + 0.75) / 1.5)
    assert rows[WEIGHTED].weights == "tests 1, lint_failures 0.5"
    assert rows[WEIGHTED].scatter.error == pytest.approx(0.5 + 1.5)
    assert rows[WEIGHTED].scatter.variance == pytest.approx(0.25 + 1)


@pytest.mark.parametrize(
    ("values", "losses"),
    [
        ({"reward": [1.0, 0.0, 0.0, 0.0]}, []),
        ({"reward": [1.0, 0.25, 0.0, 0.5]}, ["reward"]),
        ({"rubric": [1.0, 0.25, 0.0, 0.5]}, ["rubric"]),
        ({"number": [1.0, 3.0, 0.0, 2.0], "target_number": [1.0, 1.0, 2.0, 2.0]}, ["number"]),
        ({}, []),
    ],
    ids=["pass or fail again", "partial rewards", "rubric", "numbers", "none"],
)
def test_which_losses_there_are(values: dict[str, list[float]], losses: list[str]) -> None:
    columns = [dict(zip(values, each, strict=True)) for each in zip(*values.values(), strict=True)] or [
        {}
    ] * 4
    given = [row | more for row, more in zip(tried("10", "00"), columns, strict=True)]
    assert list(found(given)) == losses


def test_a_group_whose_rewards_happen_to_be_whole_is_not_left_out_of_all_groups() -> None:
    rows = of_dataset(tried("10", "11", reward=0.5), tried("11", "11", reward=1.0))
    assert rows["b", "reward"].scatter.error == 0
    together = rows[ALL_GROUPS, "reward"]
    assert (together.found.attempts, together.no_loss) == (8, 0)
    assert (together.found.rate, together.scatter.error) == pytest.approx((0.125, 0.25))


def test_a_rubric_loses_what_is_missing_to_the_best() -> None:
    given = [row | {"rubric": score} for row, score in zip(tried("10"), (5.0, 2.0), strict=True)]
    row = found(given, IncoherenceSettings(rubric_best=5))["rubric"]
    assert row.found.severity == pytest.approx(3)


def test_attempts_without_outcome_or_loss_are_counted() -> None:
    given = [*LINT, *tried("-", lint_failures=1.0, attempt="8"), *tried("0", attempt="9")]
    row = found(given)["lint_failures"]
    assert (row.no_outcome, row.no_loss) == (1, 1)
    assert (row.found.attempts, row.found.failed) == (4, 3)
    assert table([row]).rows[0][-2:] == ("1 no outcome, 1 no loss", "too few tasks for an interval")


def of_dataset(*given: list[dict[str, Any]]) -> dict[tuple[str, str], SeverityRow]:
    rows = [row | {"group": name} for name, some in zip("abc", given, strict=False) for row in some]
    return {(row.group, row.loss): row for row in severities(list(groups(frame(rows))), SETTINGS)}


def with_loss(name: str, *values: float | None, of: list[dict[str, Any]] = LINT) -> list[dict[str, Any]]:
    plain = [{key: value for key, value in row.items() if key != "lint_failures"} for row in of]
    return [row | {name: value} for row, value in zip(plain, values, strict=True)]


BOTH = [row | {"assertion_failures": count} for row, count in zip(LINT, (0, 1, 1, 2), strict=True)]


def test_all_groups_together_keep_a_task_together() -> None:
    lint = (0, 4, 2, 6, 0, 3, 5, 0, 1, 2, 0, 7)
    tasks = tried("10", "00", "10", "01", "00", "10")
    many = [row | {"lint_failures": count} for row, count in zip(tasks, lint, strict=True)]
    rows = of_dataset(many, many)
    alone, together = rows["a", "lint_failures"], rows[ALL_GROUPS, "lint_failures"]
    assert (together.found.items, together.found.attempts, together.scatter.items) == (12, 24, 12)
    assert together.found.severity == pytest.approx(alone.found.severity)
    assert together.scatter.incoherence == pytest.approx(alone.scatter.incoherence)
    for one, other in (
        (alone.found.rate_interval, together.found.rate_interval),
        (alone.found.severity_interval, together.found.severity_interval),
        (alone.scatter.jackknife, together.scatter.jackknife),
    ):
        assert one is not None
        assert other is not None
        assert (one.low, one.high, one.n) == pytest.approx((other.low, other.high, other.n))


def test_groups_of_different_losses_are_weighed_by_what_they_share() -> None:
    rubric = [row | {"rubric": 0.5} for row in BOTH]
    rows = of_dataset(BOTH, rubric)
    together = rows[ALL_GROUPS, WEIGHTED]
    assert together.weights == "lint_failures 0.5, assertion_failures 1"
    assert together.note == "not in all groups: rubric"
    assert together.scatter.error == pytest.approx(0.5 * 3 + 1)
    assert (ALL_GROUPS, "rubric") not in rows


@pytest.mark.parametrize(
    ("second", "note"),
    [
        (with_loss("rubric", 0, 1, 0, 1), "of lint_failures, rubric the groups share none: nothing to weigh"),
        (BOTH, "of lint_failures, assertion_failures the groups share lint_failures only: nothing"),
    ],
    ids=["nothing", "one loss"],
)
def test_groups_without_two_common_losses_say_so(second: list[dict[str, Any]], note: str) -> None:
    row = of_dataset(LINT, second)[ALL_GROUPS, WEIGHTED]
    assert row.note.startswith(note)
    assert (row.found.attempts, row.found.severity) == (0, None)
    assert table([row]).rows[0][-1] == row.note


def test_attempts_of_different_losses_are_not_weighed_in_silence() -> None:
    row = found([*LINT[::2], *with_loss("rubric", 0.0, 0.0, of=LINT[1::2])])[WEIGHTED]
    assert (row.found.attempts, row.no_loss, row.note) == (0, 4, "no attempt has all of these losses")


def test_a_group_without_any_loss_is_counted_and_takes_none_from_the_others() -> None:
    rows = of_dataset(BOTH, BOTH, tried("10"))
    assert rows[ALL_GROUPS, WEIGHTED].no_loss == 2
    assert rows[ALL_GROUPS, WEIGHTED].found.attempts == 8
    assert rows[ALL_GROUPS, WEIGHTED].note == ""


def test_one_group_with_losses_has_nothing_to_be_taken_together_with() -> None:
    assert {group for group, _ in of_dataset(BOTH, tried("10"))} == {"a"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weights": {"style": 1.0}}, "weights: no 'style'; there are assertion_failures"),
        ({"weights": {"tests": -1.0}}, "weights: a weight must be from 0 to 1e"),
        ({"weights": {"tests": 1e300}}, "weights: a weight must be from 0 to 1e"),
        ({"weights": {"tests": float("nan")}}, "weights: a weight must be from 0 to 1e"),
        ({"rubric_best": float("inf")}, "rubric_best: must be a number of at most 1e"),
        ({"decompositions": ("modal",)}, "decompositions: no 'modal'"),
        ({"kinds": {"d": "text"}}, "kinds: no 'text'"),
        ({"lengths": ("words",)}, "lengths: no 'words'"),
        ({"bins": 0}, "at least 1"),
        ({"votes": (0, 1)}, "at least 1"),
        ({"delta": 0.0}, "delta"),
    ],
)
def test_senseless_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        evaluate_outcomes(frame(LINT), IncoherenceSettings(**settings))


def test_all_tables_of_one_analysis() -> None:
    evaluation = evaluate_outcomes(frame(LINT), SETTINGS)
    made = incoherence_tables(evaluation)
    names = ["incoherence", "incoherence_strata", "incoherence_paired", "ensembling", "severity"]
    names += ["failing_tasks", "meeting", "variance_components"]
    assert [each.name for each in made] == names
    assert evaluate_outcomes(frame(LINT), SETTINGS) == evaluation
    for each in made:
        assert each.datasets in ((), ("d",))


def test_an_analysis_outlives_its_file(tmp_path: Path) -> None:
    rows = [row | {"group": group, "steps": float(n)} for group in "ab" for n, row in enumerate(LINT)]
    evaluation = evaluate_outcomes(frame(rows), SETTINGS)
    write_json(tmp_path / "evaluation.json", evaluation)
    assert read_json(tmp_path / "evaluation.json", IncoherenceEvaluation) == evaluation
    assert evaluation.strata
    assert evaluation.pairs


def test_nothing_at_all_has_empty_tables() -> None:
    made = incoherence_tables(evaluate_outcomes(frame(LINT).iloc[:0], SETTINGS))
    assert {len(each.rows) for each in made} == {0}


@pytest.mark.parametrize("loss", ["reward", "rubric"])
def test_a_score_above_the_best_leaves_no_loss_to_its_group(loss: str) -> None:
    given = [row | {loss: score} for row, score in zip(LINT, (10.0, 0.0, 2.5, 9.0), strict=True)]
    rows = found(given)
    assert list(rows) == ([loss, "lint_failures"] if loss == "reward" else ["lint_failures", loss])
    assert (rows[loss].found.attempts, rows[loss].no_loss) == (0, 4)
