import json
from typing import Any

import numpy as np
import pytest
from attempt_samples import answered, frame, only_group, tried

from coherence.errors import InputError
from coherence.evaluation.decompositions import decompose, nested_parts
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.incoherence_tables import evaluate_outcomes, incoherence_tables
from coherence.evaluation.outcome_kinds import attempts_of, kinds_of
from coherence.evaluation.outcome_vectors import read_probabilities
from coherence.evaluation.render import markdown
from coherence.incoherence import cells
from coherence.sampling.answers import AnswerError, probabilities_of

SETTINGS = IncoherenceSettings()


def results_of(*vectors: str | None, **more: Any) -> list[dict[str, Any]]:
    return [{"task": "t", "attempt": str(n), "tests": vector, **more} for n, vector in enumerate(vectors)]


def parts(rows: list[dict[str, Any]], kind: str, name: str) -> tuple[list[float], list[float]]:
    found = decompose(attempts_of(only_group(rows), kind), name, SETTINGS)
    return found.error.tolist(), found.variance.tolist()


@pytest.mark.parametrize(
    ("rows", "kinds"),
    [
        (answered(("AB", "A")), ("answer", "passed")),
        (tried("10"), ("passed",)),
        (results_of("10", "11"), ("tests",)),
        ([{"task": "t", "reward": 1.0}], ()),
        ([row | {"answer": "A"} for row in tried("10")], ("passed",)),
        ([{"task": "t", "answer": "A"}], ("answer",)),
    ],
    ids=["answers", "passes", "tests", "nothing", "answers without target", "no target and nothing else"],
)
def test_the_most_telling_kind_comes_first(rows: list[dict[str, Any]], kinds: tuple[str, ...]) -> None:
    assert kinds_of(only_group(rows), SETTINGS) == kinds


def test_of_kinds_that_exclude_each_other_the_more_frequent_is_used() -> None:
    group = only_group([*answered(("AB", "A")), *results_of("10", "11", "01")])
    assert kinds_of(group, SETTINGS) == ("tests", "passed")
    assert attempts_of(group, "tests").left_out == {
        "only answer, not test results: outcomes.NAME.kind decides": 2
    }
    assert kinds_of(group, IncoherenceSettings(kinds={"d": "answer"})) == ("answer", "passed")
    assert attempts_of(group, "answer").left_out == {
        "only test results, not answer: outcomes.NAME.kind decides": 3
    }


def test_a_group_of_mixed_kinds_leaves_the_others_alone() -> None:
    mixed = [*answered(("AB", "A"), group="m"), *results_of("10", group="m")]
    evaluation = evaluate_outcomes(frame([*mixed, *answered(("AB", "A"), ("BC", "B"), group="w")]), SETTINGS)
    main = {row.group: row for row in evaluation.incoherence if row.main}
    assert [(name, row.kind, row.found.items) for name, row in main.items()] == [
        ("m", "answer", 1),
        ("w", "answer", 2),
    ]
    text = markdown(incoherence_tables(evaluation)[0])
    assert "1 only test results, not answer: outcomes.NAME.kind decides" in text


def test_attempts_that_have_both_kinds_are_not_mixed() -> None:
    rows = [row | {"tests": "10"} for row in answered(("AB", "A"))]
    assert kinds_of(only_group([*rows, *answered(("B", "A"), attempt="9")]), SETTINGS)[0] == "answer"


@pytest.mark.parametrize(
    ("rows", "kind", "left_out"),
    [
        ([{"task": "t", "passed": None}, *tried("01")], "passed", {"no outcome": 1}),
        ([*answered(("AB", "A")), {"task": "t9", "target": "A"}], "answer", {"no answer": 1}),
        ([*answered(("AB", "A")), {"task": "t9", "answer": "A"}], "answer", {"no target": 1}),
        (
            [*answered(("AB", "A")), *answered(("A", "C"), attempt="9")],
            "answer",
            {"task with different targets": 3},
        ),
        (results_of("10", None, "--"), "tests", {"no test results": 1, "no test has a result": 1}),
        (results_of("10", "101"), "tests", {"task with vectors of different lengths": 2}),
        (
            [{"task": "t", "number": 1.0, "target_number": float("inf")}],
            "number",
            {"number or target not finite or too large": 1},
        ),
        ([{"task": "t", "number": 1.0}], "number", {"no target": 1}),
        (
            [{"task": "t", "number": -1e200, "target_number": 0.0}],
            "number",
            {"number or target not finite or too large": 1},
        ),
    ],
    ids=[
        *("no outcome", "no answer", "no target", "two targets", "no results", "lengths", "infinite"),
        *("no number to aim at", "too large"),
    ],
)
def test_what_is_left_out_is_counted_by_reason(
    rows: list[dict[str, Any]], kind: str, left_out: dict[str, int]
) -> None:
    assert attempts_of(only_group(rows), kind).left_out == left_out


def test_a_task_all_of_whose_attempts_are_left_out_is_no_item() -> None:
    attempts = attempts_of(only_group(tried("-", "10", "--")), "passed")
    assert (attempts.items, attempts.tasks.tolist()) == (1, [1])


def test_answers_are_the_same_by_their_text() -> None:
    error, variance = parts(answered(("BBBAC", "A"), ("AAABC", "A")), "answer", "kohavi_wolpert")
    assert error == pytest.approx([0.8, 0.4])
    assert variance == pytest.approx([0.35, 0.35])


def test_tests_without_any_result_in_the_group_are_no_tests_of_the_task() -> None:
    # The third test has no result anywhere, the second one failed or did not run.
    error, variance = parts(results_of("11--", "1--1"), "tests", "tests")
    assert error == pytest.approx([1 / 3])
    assert variance == pytest.approx([2 * 0.5 / 3])


def test_vectors_of_other_characters_are_an_error() -> None:
    with pytest.raises(InputError, match=r"group 'g': `tests` has '1x'; give a character a test"):
        attempts_of(only_group(results_of("1x")), "tests")


def test_probabilities_over_all_options_of_the_task() -> None:
    given = ['{"A": 0.75, "B": 0.25}', '{"B": 1}']
    rows = [{"task": "t", "probabilities": text, "target": "A"} for text in given]
    error, variance = parts(rows, "probabilities", "brier")
    vectors = np.array([[0.75, 0.25], [0, 1]])
    assert error == pytest.approx([np.mean(((vectors - [1, 0]) ** 2).sum(axis=1))])
    assert variance == pytest.approx([((vectors - vectors.mean(axis=0)) ** 2).sum()])


def test_options_are_those_of_each_task() -> None:
    given = [("t1", '{"x": 1}'), ("t0", '{"A": 0.5, "C": 0.5}'), ("t1", '{"y": 1}'), ("t0", '{"B": 1}')]
    rows = [{"task": task, "probabilities": text, "target": "x"} for task, text in given]
    vectors = attempts_of(only_group(rows), "probabilities").vectors
    assert vectors is not None
    assert vectors.width.tolist() == [4, 2]
    assert vectors.values.tolist() == [0.5, 0, 0.5, 0, 0, 1, 0, 0, 1, 0, 0, 1]
    assert vectors.target.tolist() == [0, 0, 0, 1, 1, 0]


@pytest.mark.parametrize(("second", "is_near"), [(0.48, True), (0.52, True), (0.479, False), (0.521, False)])
def test_files_samples_and_parts_take_sums_equally_near_one(second: float, is_near: bool) -> None:
    given = {"A": 0.5, "B": second}
    rows = [{"task": "t", "probabilities": json.dumps(given), "target": "A"}]
    assert (cells.probabilities(json.dumps(given)) is not None) == is_near
    if not is_near:
        with pytest.raises(AnswerError):
            probabilities_of(given, {"A": "x", "B": "y"})
        with pytest.raises(InputError):
            attempts_of(only_group(rows), "probabilities")
        return
    assert sum(read_probabilities([json.dumps(given)])[0].values()) == pytest.approx(1)
    vectors = attempts_of(only_group(rows), "probabilities").vectors
    assert vectors is not None
    assert vectors.values.tolist() == pytest.approx([*probabilities_of(given, {"A": "x", "B": "y"}).values()])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nonsense", "must be JSON objects"),
        ('{"A": 0.5}', "add up to 0.5"),
        ('{"A": 1.5, "B": -0.5}', "between 0 and 1"),
        ("{}", "add up to 0"),
    ],
)
def test_what_are_no_probabilities_is_an_error(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=f"dataset 'd', group 'g': `probabilities` .*{reason}"):
        attempts_of(only_group([{"task": "t", "probabilities": text, "target": "A"}]), "probabilities")


def test_numbers() -> None:
    rows = [{"task": "t", "number": value, "target_number": 1.0} for value in (1.0, 3.0)]
    error, variance = parts(rows, "number", "squared_error")
    assert (error, variance) == ([2.0], [2.0])


@pytest.mark.parametrize("kind", ["answer", "tests"])
def test_some_of_the_attempts(kind: str) -> None:
    rows = [
        row | {"tests": "10" if row["passed"] else "011"[1:]} for row in answered(("ABB", "A"), ("BA", "A"))
    ]
    attempts = attempts_of(only_group(rows), kind)
    name = {"answer": "kohavi_wolpert", "tests": "tests"}[kind]
    some = decompose(attempts.only(np.array([True, False, True, False, True])), name, SETTINGS)
    assert some.n.tolist() == [2, 1]
    assert some.known.tolist() == [True, False]


@pytest.mark.parametrize(
    ("kind", "name"), [("answer", "kohavi_wolpert"), ("tests", "tests"), ("number", "squared_error")]
)
def test_contexts_part_scatter_within_them_from_scatter_between(kind: str, name: str) -> None:
    rows = [
        {
            "task": "t",
            "context": context,
            "answer": answer,
            "target": "A",
            "tests": {"A": "1", "B": "0"}[answer],
            "number": float(answer == "B"),
            "target_number": 0.0,
        }
        for context, answer in (("x", "A"), ("y", "B"), ("x", "A"), ("y", "B"))
    ]
    found = nested_parts(attempts_of(only_group(rows), kind), name, SETTINGS)
    assert found is not None
    assert (found.sampling[0], found.context[0]) == pytest.approx((0, 0.5))
    assert decompose(attempts_of(only_group(rows), kind), name, SETTINGS).variance[0] == pytest.approx(0.5)
    attempts = attempts_of(only_group(rows), kind)
    assert nested_parts(attempts, name, IncoherenceSettings(estimator="plug-in")) is None


def test_contexts_of_probabilities_keep_the_target_of_their_task() -> None:
    texts = ['{"A": 0.9, "B": 0.1}', '{"A": 0.9, "B": 0.1}', '{"A": 0.3, "B": 0.7}', '{"A": 0.3, "B": 0.7}']
    rows = [
        {"task": task, "context": context, "probabilities": text, "target": target}
        for task, target in (("t", "A"), ("u", "B"))
        for context, text in zip("xxyy", texts, strict=True)
    ]
    found = nested_parts(attempts_of(only_group(rows), "probabilities"), "brier", SETTINGS)
    assert found is not None
    assert found.sampling == pytest.approx([0, 0], abs=1e-12)
    assert found.context == pytest.approx([0.36, 0.36])
    assert found.parts.error == pytest.approx([(2 * 0.01 + 2 * 0.49) / 2, (2 * 0.81 + 2 * 0.09) / 2])


def test_an_unknown_context_is_one_of_its_own() -> None:
    rows = [{"task": "t", "answer": "A", "target": "A", "context": context} for context in ("x", None, None)]
    found = nested_parts(attempts_of(only_group(rows), "answer"), "kohavi_wolpert", SETTINGS)
    assert found is not None
    assert found.parts.known[0]
    assert np.isnan(found.sampling[0])
