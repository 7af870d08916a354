"""The outcomes table and what an item's samples come to."""

from typing import Any

import pytest

from coherence.incoherence.contract import COLUMNS
from coherence.incoherence.stopping import Certify, Rule, Sprt
from coherence.sampling.items import Item
from coherence.sampling.rows import Source, by_item, marked, outcome_row, sampled, used_of
from coherence.sampling.samples import Sample

ITEM = Item("q", "q", "?", "choice", {"A": "x", "B": "y"}, "A", difficulty="hard")
SOURCE = Source("d", "agent + model", "agent", "model")


def drawn(*answers: str | None, **fields: Any) -> list[Sample]:
    return [
        Sample("q", n, "refusal", "no", **fields)
        if answer is None
        else Sample("q", n, answer=answer, passed=answer == "A", trajectory=f"t{n}", **fields)
        for n, answer in enumerate(answers)
    ]


def test_a_row_has_the_contract_s_columns_and_no_more() -> None:
    row = outcome_row(drawn("A")[0], ITEM, SOURCE)

    assert set(row) == set(COLUMNS)
    assert {name: value for name, value in row.items() if value is not None} == {
        "dataset": "d", "group": "agent + model", "scaffold": "agent", "backbone": "model", "task": "q",
        "attempt": "0", "passed": "true", "answer": "A", "target": "A", "trajectory": "t0",
    }  # fmt: skip


def test_a_sample_without_an_outcome_has_a_reason_and_no_failure() -> None:
    row = outcome_row(drawn(None)[0], ITEM, SOURCE)

    assert (row["passed"], row["answer"], row["stop_reason"], row["target"]) == (None, None, "refusal", "A")


def test_contexts_of_one_task_have_attempts_of_their_own() -> None:
    items = [Item(name, "q", "?", "text", context=name) for name in ("c1", "c2")]
    rows = [outcome_row(Sample(item.id, n), item, SOURCE) for item in items for n in range(2)]

    assert [(row["task"], row["context"], row["attempt"]) for row in rows] == [
        ("q", "c1", "c1/0"), ("q", "c1", "c1/1"), ("q", "c2", "c2/0"), ("q", "c2", "c2/1")
    ]  # fmt: skip


def test_a_number_and_probabilities_in_a_row() -> None:
    item = Item("q", "q", "?", "number", target="7.5")
    sample = Sample("q", 0, answer="8", number=8.0, passed=False, probabilities={"B": 0.25, "A": 0.75})
    row = outcome_row(sample, item, SOURCE)

    assert (row["number"], row["target_number"], row["passed"]) == (8.0, 7.5, "false")
    assert row["probabilities"] == '{"A":0.75,"B":0.25}'


@pytest.mark.parametrize(
    ("answers", "wanted"),
    [
        ("AAAB", {"error": 0.25, "modal_answer": "A", "agreement": 0.75, "bound": None}),
        ("AABB", {"error": 0.5, "modal_answer": None, "tied": ("A", "B"), "agreement": 0.5}),
        ("BBBB", {"error": 1.0, "modal_answer": "B", "agreement": 1.0}),
        (["A", None, "A", None], {"error": 0.0, "answered": 2, "unanswered": {"refusal": 2}, "bound": None}),
        ([None, None], {"error": None, "modal_answer": None, "agreement": None, "answered": 0, "tied": ()}),
    ],
)
def test_what_samples_come_to(answers: Any, wanted: dict[str, Any]) -> None:
    found = sampled(ITEM, drawn(*answers), len(answers), None)

    assert {name: getattr(found, name) for name in wanted} == wanted
    assert (found.difficulty, found.drawn, found.stop) == ("hard", len(answers), "fixed")


def test_a_preset_number_of_agreeing_samples_is_bounded() -> None:
    assert sampled(ITEM, drawn(*"A" * 10), 10, None).bound == pytest.approx(0.259, abs=5e-4)


@pytest.mark.parametrize(
    ("rule", "answers", "used", "stop", "bound"),
    [
        (Certify(0.46), "AAAAA", 5, "certified", 0.451),
        (Certify(0.42, any_peek=True), "A" * 10, 10, "certified", 0.417),
        (Certify(0.46), "AAAAB" + "A" * 15, 5, "all drawn", None),
        (Sprt(0.05, 0.3), "A" * 11, 11, "agrees", None),
        (Sprt(), "A" * 20, 20, "all drawn", None),
    ],
)
def test_the_reason_and_the_bound_of_each_item(
    rule: Rule, answers: str, used: int, stop: str, bound: float | None
) -> None:
    found = sampled(ITEM, drawn(*answers), used_of(20, rule), rule)

    assert (found.used, found.stop, found.drawn) == (used, stop, len(answers))
    assert found.bound == (None if bound is None else pytest.approx(bound, abs=5e-4))


def test_what_lies_beyond_the_first_samples_feeds_nothing() -> None:
    samples = drawn(*"AAAAB", *"B" * 15)
    found = sampled(ITEM, samples, 5, Certify(0.46))

    assert (found.error, found.agreement, len(found.trajectories)) == (0.2, 0.8, 5)
    assert [one.for_estimates for one in marked(samples, 5)] == [True] * 5 + [False] * 15


@pytest.mark.parametrize(
    ("counts", "actions"),
    [
        ([{"calls": 2}, {"calls": 5}, {"steps": 9}], 5.0),
        ([{"steps": 3.0}, {"steps": 4.0, "calls": 0}, {}], 1.5),
        ([{}, {}], None),
    ],
)
def test_the_median_number_of_actions(counts: list[dict[str, Any]], actions: float | None) -> None:
    samples = [Sample("q", n, answer="A", passed=True, **fields) for n, fields in enumerate(counts)]

    assert sampled(ITEM, samples, len(samples), None).actions == actions


def test_samples_come_by_item() -> None:
    samples = [Sample(name, n) for name in "ab" for n in range(2)]

    assert [(name, len(own)) for name, own in by_item(samples)] == [("a", 2), ("b", 2)]
