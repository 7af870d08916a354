"""The repeated real runs that ship: the figures of data/tau-bench/README.md, as the default run has them."""

import csv
from collections import defaultdict
from functools import cache
from pathlib import Path
from statistics import mean

import pytest
from scipy.stats import kendalltau

from coherence.cli.judges_told import rating_limits
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.meeting import Judges, Meeting, meetings
from coherence.evaluation.repeated import groups
from coherence.features import FEATURES, measure
from coherence.formats import Source, tau_bench
from coherence.incoherence.from_runs import from_entries
from shipped_runs import ROOT, config, dataset, gathered, rates, readers_pair

NAME = "gpt-4o-airline"
FILE = ROOT / "data/tau-bench/airline.csv"


@cache
def met() -> dict[str, Meeting]:
    entries, rows = gathered(NAME)
    frame = from_entries(NAME, entries, {}).frame
    judges = Judges(tuple(config().judges_of(NAME)), rating_limits(config()))
    return {found.judge: found for found in meetings(groups(frame), rows, judges, IncoherenceSettings())}


@pytest.mark.parametrize(
    ("reading", "risky", "safe", "p"),
    [
        (("reader", "flagged"), (8, 9), (108, 191), 0.082),
        (("reader-2", "flagged"), (9, 11), (107, 189), 0.124),
        (("trajectory_length", "above median"), (66, 92), (50, 108), 0.0003),
    ],
    ids=["reader", "second reader", "length"],
)
def test_the_table(reading: tuple[str, str], risky: tuple[int, int], safe: tuple[int, int], p: float) -> None:
    row = rates(NAME)[reading]
    assert (row.risky.count, row.risky.n, row.safe.count, row.safe.n) == (*risky, *safe)
    assert row.comparison.fisher_p == pytest.approx(p, abs=0.0005)


def test_the_rating_separates_the_91_runs_that_have_thoughts() -> None:
    row = rates(NAME)["reader-generic", "rating at most 3"]
    assert (row.risky.count, row.risky.n, row.safe.count, row.safe.n) == (48, 66, 9, 25)
    assert row.comparison.fisher_p == pytest.approx(0.0017, abs=0.00005)


def test_a_run_without_thoughts_is_unflagged_and_not_rated() -> None:
    silent = [row for row in dataset(NAME) if row.verdicts["reader"].substrate == "none"]
    assert len(silent) == 109
    assert {row.verdicts["reader"].state for row in silent} == {"unflagged"}
    assert {row.verdicts["reader-generic"].state for row in silent} == {"unjudged"}


def test_two_readers_agree_on_89_of_91() -> None:
    rows = [row for row in dataset(NAME) if row.verdicts["reader"].substrate == "thoughts"]
    pair = readers_pair(rows)
    assert (pair.n, pair.both.n + pair.neither.n) == (91, 89)
    assert pair.kappa is not None
    assert pair.kappa.value == pytest.approx(0.89, abs=0.005)


def test_flags_go_with_neither_part_and_low_ratings_with_bias() -> None:
    flags, ratings = met()["reader"], met()["reader-generic"]
    assert (flags.flags, flags.attempts, flags.flagged.items, flags.others.items) == (9, 200, 6, 44)
    assert (flags.with_bias.p, flags.with_variance.p) == pytest.approx((0.460, 0.196), abs=0.001)
    assert (ratings.flags, ratings.attempts, ratings.tasks) == (66, 91, 41)
    assert (ratings.with_bias.tau, ratings.with_bias.p) == pytest.approx((0.32, 0.017), abs=0.005)
    assert (ratings.with_variance.tau, ratings.with_variance.p) == pytest.approx((-0.02, 0.895), abs=0.005)


def test_the_meeting_of_ratings_and_parts_follows_from_the_file_alone() -> None:
    failed, low = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
    for row in csv.DictReader(FILE.read_text("utf-8").splitlines()):
        failed[row["task"]].append(float(row["reward"] == "0"))
        if row["generic_coherence"]:
            low[row["task"]].append(float(int(row["generic_coherence"]) <= 3))
    share = {task: mean(said) for task, said in low.items()}
    # Of pass or fail, the unbiased variance is half the share of pairs that differ: p (1 - p) 4 / 3 of four.
    variance = {task: mean(failed[task]) * (1 - mean(failed[task])) * 4 / 3 for task in share}
    bias = {task: mean(failed[task]) - variance[task] for task in share}
    found = met()["reader-generic"]
    for parts, ours in ((bias, found.with_bias), (variance, found.with_variance)):
        tau = kendalltau(list(share.values()), [round(parts[task], 9) for task in share])
        assert (ours.tau, ours.p) == pytest.approx((tau.statistic, tau.pvalue), rel=1e-6)


def test_the_readme_has_the_same_figures() -> None:
    text = (FILE.parent / "README.md").read_text()
    for figures in ("8/9 (89 %) | 108/191", "9/11 (82 %) | 107/189", "48/66 (73 %) | 9/25", "kappa 0.89"):
        assert figures in text


def test_features_and_outcomes_are_those_of_the_published_runs(shared: Path) -> None:
    root = shared / "corpora/tau_bench"
    read = [
        reading
        for unit in tau_bench.discover(root)
        for reading in tau_bench.read(root, unit, Source(dataset=NAME, root=str(root)))
    ]
    rows = {row["run"]: row for row in csv.DictReader(FILE.read_text("utf-8").splitlines())}
    assert len(read) == len(rows) == 200
    for reading in read:
        row = rows[f"{reading.trial.task}-trial-{reading.trial.attempt}"]
        assert reading.trajectory is not None
        measured = measure(reading.trajectory)
        assert {name: int(row[name]) for name in FEATURES} == {name: measured[name] for name in FEATURES}
        assert float(row["reward"]) == reading.trial.outcome.reward
