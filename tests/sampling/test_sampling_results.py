"""What a command writes: an outcome as it says, or the reason why there is none."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from coherence.incoherence.reading import read_outcomes
from coherence.incoherence.source import OutcomeSource
from coherence.sampling.items import Item
from coherence.sampling.results import reason_of, sample_of
from coherence.sampling.runs import Run
from coherence.sampling.samples import Sample

CHOICE = Item("q", "q", "?", "choice", {"A": "x", "B": "y"}, "A")
NUMBER = Item("q", "q", "?", "number", target="7")
HALVES = {"A": 0.5, "B": 0.5}
OPEN = Item("q", "q", "?", "text")


def read(output: Any, item: Item = CHOICE, pass_reward: float = 1.0, **fields: Any) -> Sample:
    text = output if isinstance(output, str) else json.dumps(output)
    run = Run("k", "q", 2, "9", ("x",), "", 1.5, 0, text, "", **fields)
    return sample_of(item, 2, run, pass_reward)


@pytest.mark.parametrize(
    ("result", "item", "wanted"),
    [
        ({"answer": "a"}, CHOICE, {"answer": "A", "passed": True}),
        ({"answer": "y"}, CHOICE, {"answer": "B", "passed": False}),
        ({"answer": 7.0}, NUMBER, {"answer": "7", "number": 7.0, "passed": True}),
        ({"number": 8}, NUMBER, {"answer": "8", "number": 8.0, "passed": False}),
        ({"answer": "x"}, OPEN, {"answer": "x", "passed": None}),
        ({"reward": 1}, OPEN, {"answer": None, "reward": 1.0, "passed": True}),
        ({"reward": 0.99}, OPEN, {"reward": 0.99, "passed": False}),
        ({"tests": "11"}, OPEN, {"tests": "11", "passed": True}),
        ({"tests": [True, False, None]}, OPEN, {"tests": "10-", "passed": False}),
        ({"tests": "1-"}, OPEN, {"tests": "1-", "passed": None}),
        ({"passed": False, "reward": 1}, OPEN, {"passed": False, "reward": 1.0}),
        ({"answer": "A", "reward": 0}, CHOICE, {"answer": "A", "passed": False, "reward": 0.0}),
        ({"answer": "A", "probabilities": HALVES}, CHOICE, {"probabilities": HALVES}),
        ({"answer": "A", "probabilities": {"A": 2}}, CHOICE, {"answer": "A", "probabilities": None}),
        ({"answer": "A", "calls": 3, "rubric": -1}, CHOICE, {"calls": 3, "rubric": -1}),
        ({"answer": "A", "seconds": 9, "cost_usd": 0.5}, CHOICE, {"seconds": 9, "cost_usd": 0.5}),
        ({"answer": "A", "trace": "runs/7.json"}, CHOICE, {"trajectory": "runs/7.json"}),
        ({"answer": "A", "trace": [{"step": 1}]}, CHOICE, {"trajectory": "k"}),
        ({"answer": "A", "trace": "a\x1b[0m"}, CHOICE, {"trajectory": "k"}),
        ({"answer": "A", "trace": "x" * 501}, CHOICE, {"trajectory": "k"}),
        ('log\n{"answer": "A"}\n\n', CHOICE, {"answer": "A"}),
        ('{\n "answer":\n "A"}', CHOICE, {"answer": "A"}),
        ('{"answer": "A", "trace": ["\\ud800"]}', CHOICE, {"answer": "A"}),
        ({"answer": "A", "odd": 1, "b": 2}, CHOICE, {"answer": "A", "detail": "not read: b, odd"}),
    ],
)  # fmt: skip
def test_an_outcome(result: Any, item: Item, wanted: dict[str, Any]) -> None:
    sample = read(result, item)

    assert sample.reason is None
    assert {name: getattr(sample, name) for name in wanted} == wanted


@pytest.mark.parametrize(
    ("output", "reason", "words"),
    [
        ("", "unreadable", "there is none"),
        ("rubbish \x1b[31m", "unreadable", "no JSON object"),
        ('{"answer": "A"', "unreadable", "no JSON object"),
        ('{"answer": "A"}\ndone', "unreadable", "'done'"),
        ("[1]", "unreadable", "no JSON object"),
        ({}, "unreadable", "none of answer"),
        ({"steps": 3}, "unreadable", "none of answer"),
        ({"reward": "high"}, "unreadable", "reward"),
        ('{"reward": NaN}', "unreadable", "no JSON object"),
        ({"tests": "1x"}, "unreadable", "tests"),
        ({"tests": ""}, "unreadable", "tests"),
        ({"tests": []}, "unreadable", "tests"),
        ({"tests": [1, 0]}, "unreadable", "tests"),
        ({"answer": "A", "calls": -1}, "unreadable", "calls"),
        ({"passed": 1}, "unreadable", "passed"),
        ("[" * 100_000, "unreadable", "no JSON object"),
        ({"answer": "C"}, "unparsable", "none of the choices"),
        ({"error": "no container\n\x1b"}, "reported", "no container"),
        ({"error": "x", "reward": 0}, "reported", "x"),
    ],
)
def test_no_outcome_is_no_failure(output: Any, reason: str, words: str) -> None:
    sample = read(output)

    assert (sample.reason, sample.passed, sample.reward, sample.answer) == (reason, None, None, None)
    assert words in sample.detail
    assert (sample.seconds, sample.seed, sample.trajectory) == (1.5, "9", "k")


def test_what_a_run_cost_is_kept_where_its_answer_is_not() -> None:
    assert read({"answer": "C", "cost_usd": 2.0, "calls": 4}).cost_usd == 2.0


def test_a_run_that_failed_is_not_read() -> None:
    sample = read('{"answer": "A"}', reason="exit", detail="exit code 1")

    assert (sample.reason, sample.detail, sample.answer) == ("exit", "exit code 1", None)


def test_files_and_samples_believe_the_same_evidence_first(tmp_path: Path) -> None:
    values = {
        "passed": (True, False),
        "reward": (1.0, 0.0),
        "answer": ("A", "B"),
        "tests": ("11", "10", "1-"),
    }
    cases = [
        {name: value for name, value in zip(values, case, strict=True) if value is not None}
        for case in product(*((None, *some) for some in values.values()))
    ]
    rows = pd.DataFrame([{"task": f"t{number}", "target": "A", **case} for number, case in enumerate(cases)])
    rows.to_csv(tmp_path / "x.csv", index=False)
    found = read_outcomes(tmp_path / "x.csv", OutcomeSource("s")).frame["passed"].astype(object)

    assert [read(case).passed for case in cases if case] == [None if p is pd.NA else p for p in found][1:]


def test_what_passes_is_decided_when_it_is_read() -> None:
    assert [read({"reward": 0.5}, OPEN, least).passed for least in (0.5, 0.6)] == [True, False]


@pytest.mark.parametrize(
    ("code", "limit", "reason"),
    [
        (0, None, None),
        (1, None, "exit"),
        (-9, None, "signal"),
        (None, "timeout", "timeout"),
        (None, "oversized", "oversized"),
    ],
)
def test_how_a_process_ended_in_words(code: int | None, limit: str | None, reason: str | None) -> None:
    assert reason_of(code, limit)[0] == reason
