"""27 slices of real data against stored values: plug-in, with as many attempts as were found."""

import csv
import json
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from coherence.evaluation.error_incoherence import incoherence
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.repeated import groups
from coherence.incoherence.aggregates import Aggregate
from coherence.incoherence.divergence import kl_answers
from coherence.incoherence.outcomes import conform
from coherence.incoherence.parts import Parts
from coherence.incoherence.squares import BRIER, Vectors, answer_spread, squared, vector_spread
from coherence.incoherence.tallies import Tally, tally, tally_of_passes

Passes = dict[str, list[bool]]
BENCH = "terminal_bench"
LEAST = 3  # attempts with test results that a task of the stored slices has


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def of_passes(passes: Passes) -> Parts:
    rates = [(sum(given), len(given)) for given in passes.values()]
    passed, n = np.array(rates).T
    return squared(answer_spread(tally_of_passes(passed, n)), "plug-in")


def grouped(pairs: list[tuple[str, bool]]) -> Passes:
    passes: Passes = defaultdict(list)
    for task, passed in pairs:
        passes[task].append(passed)
    return passes


@cache
def bench_outcomes(root: Path) -> dict[str, Passes]:
    rows: dict[str, list[tuple[str, bool]]] = defaultdict(list)
    for row in read(root / BENCH / "DERIVED_outcomes.tsv"):
        rows[row["submission"]].append((row["task_id"], row["is_resolved"] == "True"))
    return {name: grouped(pairs) for name, pairs in rows.items()}


@cache
def bench_tests(root: Path) -> dict[str, dict[str, dict[str, dict[str, bool]]]]:
    found: dict[str, dict[str, dict[str, dict[str, bool]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(dict))
    )
    for row in read(root / BENCH / "DERIVED_tests.tsv"):
        attempts = found[row["submission"]][row["task_id"]]
        attempts[row["trial_name"]][row["test"]] = row["status"] == "passed"
    return found


def coverage(root: Path, name: str) -> Parts:
    """Every test any attempt at the task had; one without a result did not pass."""
    item: list[int] = []
    width: list[int] = []
    values: list[bool] = []
    for attempts in bench_tests(root)[name].values():
        if len(attempts) < LEAST:
            continue
        tests = sorted({test for results in attempts.values() for test in results})
        item += [len(width)] * len(attempts)
        width.append(len(tests))
        values += [results.get(test, False) for results in attempts.values() for test in tests]
    vectors = Vectors(np.array(item), np.array(width), np.array(values), np.ones(sum(width)))
    return squared(vector_spread(vectors, "mean"), "plug-in")


def tau_bench(root: Path) -> Passes:
    runs = json.loads((root / "tau_bench/historical_trajectories/gpt-4o-airline.json").read_bytes())
    return grouped([(str(run["task_id"]), run["reward"] == 1) for run in runs])


def game24(root: Path) -> Passes:
    path = root / "tot_game24/logs/game24/gpt-4_0.7_naive_cot_sample_100_start900_end1000.json"
    items = json.loads(path.read_bytes())
    return grouped([(str(item["idx"]), info["r"] == 1) for item in items for info in item["infos"]])


def masft(root: Path, name: str) -> Passes:
    model, design = name.split(" ")
    rows = read(root / "masft" / "DERIVED_ag2_gsmplus_outcomes.tsv")
    return grouped(
        [
            (row["instance_id"], row["correct"] == "True")
            for row in rows
            if (row["model"], row["config"]) == (model, design)
        ]
    )


def hot_mess(root: Path, name: str) -> list[dict[str, Any]]:
    path = root / "hot_mess_reward_hacking/results/phase1" / f"baseline_{name.split(' ', maxsplit=1)[0]}.json"
    items: list[dict[str, Any]] = json.loads(path.read_bytes())
    return items


def letters(root: Path, name: str) -> Tally:
    """By the letters: the stored correctness is stale for one model."""
    items = hot_mess(root, name)
    given = [["ABCD".index(each["answer"]) for each in item["answers"]] for item in items]
    item = np.repeat(np.arange(len(items)), [len(answers) for answers in given])
    target = np.array(["ABCD".index(item["correct_answer"]) for item in items])
    return tally(item, np.concatenate(given), target)


def decomposed(root: Path, corpus: str, name: str, metric: str) -> Parts:
    if corpus == BENCH:
        return of_passes(bench_outcomes(root)[name]) if metric.startswith("binary") else coverage(root, name)
    if corpus == "hot_mess_reward_hacking":
        counts = letters(root, name)
        if metric.startswith("KL"):
            return kl_answers(counts, np.full(counts.items, 4), "plug-in")
        if metric.startswith("Brier"):
            return squared(answer_spread(counts, BRIER), "plug-in")
        return of_passes({str(i): [True] * c + [False] * (n - c) for i, c, n in _rates(counts)})
    passes = {"tau_bench": tau_bench, "tot_game24": game24}
    return of_passes(masft(root, name) if corpus == "masft_ag2" else passes[corpus](root))


def _rates(counts: Tally) -> list[tuple[int, int, int]]:
    return [(i, int(c), int(n)) for i, (c, n) in enumerate(zip(counts.correct, counts.n, strict=True))]


def through_the_tables(rows: list[dict[str, Any]], kind: str, name: str) -> Aggregate:
    table = conform(pd.DataFrame([{"dataset": "d", "group": "g", **row} for row in rows]))
    settings = IncoherenceSettings(estimator="plug-in", decompositions=(name,), kinds={"d": kind})
    (row,) = [row for group in groups(table) for row in incoherence(group, settings)]
    return row.found


@pytest.mark.parametrize("model", ["gpt-4o-mini baseline", "haiku-4.5 baseline"])
@pytest.mark.parametrize(("name", "metric"), [("brier", "Brier 4-class one-hot"), ("kohavi_wolpert", "half")])
def test_answers_by_the_tables(shared: Path, model: str, name: str, metric: str) -> None:
    items = hot_mess(shared / "corpora", model)
    rows = [
        {"task": str(n), "attempt": str(k), "answer": each["answer"], "target": item["correct_answer"]}
        for n, item in enumerate(items)
        for k, each in enumerate(item["answers"])
    ]
    found = through_the_tables(rows, "answer", name)
    brier = stored(shared, model, "Brier 4-class one-hot")
    scale = 1.0 if metric.startswith("Brier") else 0.5
    assert found.items == 398
    assert [found.error, found.variance] == pytest.approx([scale * brier[0], scale * brier[1]], abs=1e-6)
    assert found.incoherence == pytest.approx(brier[2], abs=1e-6)


def test_vectors_of_tests_by_the_tables(shared: Path) -> None:
    name = "20250902_orchestrator_qwen-3-coder-480B"
    rows = []
    for task, attempts in bench_tests(shared / "corpora")[name].items():
        names = sorted({test for results in attempts.values() for test in results})
        for attempt, results in attempts.items() if len(attempts) >= LEAST else ():
            marks = ["-" if test not in results else "1" if results[test] else "0" for test in names]
            # A test that no attempt at the task has a result of is none of its tests.
            rows.append({"task": task, "attempt": attempt, "tests": "-" + "".join(marks)})
    found = through_the_tables(rows, "tests", "tests")
    expected = stored(shared, name, "coverage error")
    assert (found.error, found.variance, found.incoherence) == pytest.approx(expected, abs=1e-6)


def stored(shared: Path, name: str, metric: str) -> tuple[float, float, float]:
    (row,) = [
        row
        for row in read(shared / "reference" / "reference_decomposition.tsv")
        if row["slice"] == name and row["metric"].startswith(metric)
    ]
    error, variance, ratio = (float(row[f]) for f in ("mean_error", "mean_variance", "incoherence"))
    return error, variance, ratio


def test_every_stored_slice_to_its_digits(shared: Path) -> None:
    rows = read(shared / "reference" / "reference_decomposition.tsv")
    assert len(rows) == 27
    for row in rows:
        parts = decomposed(shared / "corpora", row["corpus"], row["slice"], row["metric"])
        found = (
            len(parts.n),
            parts.error.mean(),
            parts.bias.mean(),
            parts.variance.mean(),
            parts.variance.sum() / parts.error.sum(),
        )
        fields = ("n_tasks", "mean_error", "mean_bias2", "mean_variance", "incoherence")
        stored = [float(row[field]) for field in fields]
        assert found == pytest.approx(stored, abs=5.1e-7), (row["slice"], row["metric"])
