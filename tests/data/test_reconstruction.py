"""The reconstruction has the paper's numbers: in its plans, in the files made of them, and in the tables.

`PUBLISHED` is copied from the list of the paper's numbers, by their ids there.
"""

import csv
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from math import comb, floor
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

import pytest
import yaml

from coherence.cli import main
from coherence.features import measure
from coherence.formats import Source, harbor
from coherence.records import Trajectory
from coherence.stats.tertiles import tertiles

ROOT = Path(__file__).parents[2]
HERE = ROOT / "data/reconstruction"
DATASETS = "qwen", "gemma"
FAILURES: dict[str, tuple[int, int, int, int]] = {  # Tables 1 and 2: risky failed, n, safe failed, n
    "qwen.strained_coherence": (15, 16, 13, 28),
    "qwen.lexical": (19, 21, 9, 23),
    "qwen.generic_coherence": (26, 38, 2, 6),
    "qwen.trajectory_length": (16, 21, 12, 23),
    "qwen.think_calls": (15, 20, 13, 24),
    "qwen.tool_errors": (10, 13, 18, 31),
    "gemma.strained_coherence": (9, 12, 17, 31),
    "gemma.lexical": (15, 21, 11, 22),
    "gemma.generic_coherence": (21, 32, 5, 11),
    "gemma.tool_errors": (14, 20, 12, 23),
    "gemma.trajectory_length": (12, 21, 14, 22),
    "gemma.think_calls": (9, 17, 17, 26),
}
PERCENT_AND_GAP: dict[str, tuple[int, int, int]] = {  # .risky.fail_pct, .safe.fail_pct, .gap
    "qwen.strained_coherence": (94, 46, 47),
    "qwen.lexical": (90, 39, 51),
    "qwen.generic_coherence": (68, 33, 35),
    "qwen.trajectory_length": (76, 52, 24),
    "qwen.think_calls": (75, 54, 21),
    "qwen.tool_errors": (77, 58, 19),
    "gemma.strained_coherence": (75, 55, 20),
    "gemma.lexical": (71, 50, 21),
    "gemma.generic_coherence": (66, 45, 20),
    "gemma.tool_errors": (70, 52, 18),
    "gemma.trajectory_length": (57, 64, -6),
    "gemma.think_calls": (53, 65, -12),
}
PUBLISHED: dict[str, Any] = {
    "qwen.N": 44,
    "qwen.fail": 28,
    "qwen.pass": 16,
    "qwen.base_rate": 64,
    "qwen.trials": 53,
    "qwen.initial_completed": 24,
    "qwen.crashed": 29,
    "qwen.retry_recovered": 20,
    "gemma.N": 43,
    "gemma.fail": 26,
    "gemma.pass": 17,
    "gemma.base_rate": 60,
    "qwen.seed.n": [3, 3],
    "qwen.seedexcl.flagged": [12, 13],
    "qwen.selectivity.detector": 36,
    "qwen.selectivity.generic": 86,
    "qwen.selectivity.lexical": 48,
    "qwen.selectivity.intersection": 23,
    "qwen.k16.lexical_precision": 88,
    "qwen.overlap.both": [10, 10],
    "qwen.overlap.detector_only": [6, 5],
    "qwen.overlap.lexical_only": [6, 4],
    "qwen.overlap.neither": [22, 9],
    "qwen.overlap.detector_only.median_markers": 4.5,
    "qwen.overlap.lexical_only.median_markers": 43.5,
    "qwen.examples.markers": {
        "protein-assembly": 2,
        "rstan-to-pystan": 4,
        "bn-fit-modify": 5,
        "cobol-modernization": 46,
        "headless-terminal": 8,
    },
    "qwen.tertile.gaps": [-31, 40, 40],
    "gemma.tertile.gaps": [38, -12, 30],
    "qwen.tertile.ranges_chars": [(0, 843), (912, 3228), (3951, None)],
    "gemma.zero_think": [13, 8, 5],
    "qwen.zero_think": 4,
    "qwen.with_think": 40,
    "gemma.with_think": 30,
    "qwen.markers.median": 2,
    "gemma.markers.median": 11,
    "qwen.markers.mean": 40.5,
    "gemma.markers.mean": 38.8,
    "qwen.markers.max": 842,
    "qwen.think_chars.median": 2333,
    "gemma.think_chars.median": 5434,
    "qwen.lead.median_frac": 84,
    "qwen.lead.median_steps": 9,
    "qwen.lead.mean_steps": 23,
    "gemma.lead.median_frac": 83,
    "gemma.lead.median_steps": 5,
    "gemma.flagged_passed": {"password-recovery": "", "reshard-c4-data": "2", "vulnerable-secret": "3"},
    "paraphrase.flag_preserved": 8,
    "paraphrase.spans": [13, 11],
    "paraphrase.type_identical": 5,
    "paraphrase.nonseed": 6,
    "qwen.missed_failures": 13,
}
FISHER = {"qwen": 0.002635, "qwen without seeds": 0.006140, "gemma": 0.306459}  # .fisher_p, in full

Row = dict[str, str]


class Job(NamedTuple):
    """One dataset's plan: all trials, and those with a trajectory."""

    trials: list[Row]
    runs: list[Row]

    def numbers(self, column: str) -> list[int]:
        return [int(row[column]) for row in self.runs]

    def flagged(self, outcome: str = "") -> list[Row]:
        return [row for row in self.runs if row["flagged"] == "1" and outcome in ("", row["outcome"])]


def read_plan(name: str) -> Job:
    with (HERE / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
        trials = list(csv.DictReader(lines))
    return Job(trials, [row for row in trials if row["has_trajectory"] == "1"])


PLANS = {name: read_plan(name) for name in DATASETS}
QWEN, GEMMA = PLANS["qwen"], PLANS["gemma"]


def half_up(value: float) -> int:
    return floor(value + 0.5)


def percent(count: int, n: int) -> int:
    return half_up(100 * count / n)


def failed(rows: Iterable[Row]) -> int:
    return sum(row["outcome"] == "failed" for row in rows)


def n_failed(rows: Sequence[Row]) -> list[int]:
    return [len(rows), failed(rows)]


def risky(job: Job, feature: str) -> list[Row]:
    """The paper's risky group: flagged, rated 3 or less, or strictly above the median."""
    if feature == "strained_coherence":
        return job.flagged()
    if feature == "generic_coherence":
        return [row for row in job.runs if int(row["rating"]) <= 3]
    column = {"lexical": "markers", "trajectory_length": "length"}.get(feature, feature)
    cut = median(job.numbers(column))
    return [row for row in job.runs if int(row[column]) > cut]


def table_of(job: Job, feature: str) -> tuple[int, int, int, int]:
    chosen = risky(job, feature)
    safe = [row for row in job.runs if row not in chosen]
    return failed(chosen), len(chosen), failed(safe), len(safe)


def gap(group: Sequence[Row]) -> int:
    """The gap between flagged and unflagged runs in points, rounded after subtracting."""
    flagged = [row for row in group if row["flagged"] == "1"]
    rest = [row for row in group if row["flagged"] == "0"]
    return half_up(100 * (failed(flagged) / len(flagged) - failed(rest) / len(rest)))


def thirds(job: Job) -> list[list[Row]]:
    by_task = {row["task"]: row for row in job.runs}
    cut = tertiles({task: float(row["think_chars"]) for task, row in by_task.items()})
    return [[by_task[task] for task in third.members] for third in cut]


def thought_ranges(job: Job) -> list[tuple[int, int | None]]:
    spans = [[int(row["think_chars"]) for row in third] for third in thirds(job)]
    return [(min(low), max(low)) for low in spans[:2]] + [(min(spans[2]), None)]


def lead(job: Job) -> list[tuple[int, int]]:
    """(steps left, length) of the flagged failures."""
    ends = [(int(row["first_acknowledgment"]), int(row["length"])) for row in job.flagged("failed")]
    return [(length - step, length) for step, length in ends]


def median_share(job: Job) -> int:
    return half_up(100 * median(1 - left / length for left, length in lead(job)))


def quadrant(flagged: bool, marked: bool) -> list[Row]:
    top = sorted(QWEN.runs, key=lambda row: -int(row["markers"]))[:16]
    return [row for row in QWEN.runs if (row["flagged"] == "1") == flagged and (row in top) == marked]


def markers_of(rows: Sequence[Row]) -> float:
    return median(int(row["markers"]) for row in rows)


def outcomes(prefix: str, job: Job) -> dict[str, Any]:
    none = [row for row in job.runs if row["think_chars"] == "0"]
    bad = failed(none)
    return {
        f"{prefix}.N": len(job.runs),
        f"{prefix}.fail": failed(job.runs),
        f"{prefix}.pass": len(job.runs) - failed(job.runs),
        f"{prefix}.base_rate": percent(failed(job.runs), len(job.runs)),
        f"{prefix}.with_think": len(job.runs) - len(none),
        f"{prefix}.zero_think": len(none) if prefix == "qwen" else [len(none), bad, len(none) - bad],
        f"{prefix}.markers.median": median(job.numbers("markers")),
        f"{prefix}.markers.mean": floor(10 * fmean(job.numbers("markers")) + 0.5) / 10,
        f"{prefix}.think_chars.median": median(job.numbers("think_chars")),
        f"{prefix}.tertile.gaps": [gap(third) for third in thirds(job)],
        f"{prefix}.lead.median_frac": median_share(job),
        f"{prefix}.lead.median_steps": median(left for left, _ in lead(job)),
    }


def only_qwen() -> dict[str, Any]:
    seeds = [row for row in QWEN.flagged() if row["seed"] == "1"]
    unseen = [row for row in QWEN.flagged() if row["seed"] != "1"]
    both, n = quadrant(True, True), len(QWEN.runs)
    top = both + quadrant(False, True)
    by_name = {row["task"]: int(row["markers"]) for row in QWEN.runs}
    return {
        "qwen.trials": len(QWEN.trials),
        "qwen.initial_completed": sum(row["job"] == "qwen" for row in QWEN.runs),
        "qwen.crashed": sum(row["job"] == "qwen-retry" for row in QWEN.trials),
        "qwen.retry_recovered": sum(row["job"] == "qwen-retry" for row in QWEN.runs),
        "qwen.seed.n": n_failed(seeds),
        "qwen.seedexcl.flagged": [failed(unseen), len(unseen)],
        "qwen.selectivity.detector": percent(len(QWEN.flagged()), n),
        "qwen.selectivity.generic": percent(len(risky(QWEN, "generic_coherence")), n),
        "qwen.selectivity.lexical": percent(len(risky(QWEN, "lexical")), n),
        "qwen.selectivity.intersection": percent(len(both), n),
        "qwen.k16.lexical_precision": percent(failed(top), len(top)),
        "qwen.overlap.both": n_failed(both),
        "qwen.overlap.detector_only": n_failed(quadrant(True, False)),
        "qwen.overlap.lexical_only": n_failed(quadrant(False, True)),
        "qwen.overlap.neither": n_failed(quadrant(False, False)),
        "qwen.overlap.detector_only.median_markers": markers_of(quadrant(True, False)),
        "qwen.overlap.lexical_only.median_markers": markers_of(quadrant(False, True)),
        "qwen.examples.markers": {task: by_name.get(task) for task in PUBLISHED["qwen.examples.markers"]},
        "qwen.tertile.ranges_chars": thought_ranges(QWEN),
        "qwen.markers.max": max(QWEN.numbers("markers")),
        "qwen.lead.mean_steps": fmean(left for left, _ in lead(QWEN)),
        "qwen.missed_failures": failed(QWEN.runs) - failed(QWEN.flagged()),
    }


def paraphrased() -> dict[str, Any]:
    eight = [row for row in QWEN.flagged() if row["paraphrase_spans"]]
    before = sum(len(row["conflict_types"].split(";")) for row in eight)
    after = [int(row["paraphrase_spans"]) for row in eight]
    return {
        "paraphrase.flag_preserved": sum(spans > 0 for spans in after),
        "paraphrase.spans": [before, sum(after)],
        "paraphrase.type_identical": sum(row["paraphrase_same_type"] == "1" for row in eight),
        "paraphrase.nonseed": sum(row["seed"] != "1" for row in eight),
        "gemma.flagged_passed": {row["task"]: row["confidence"] for row in GEMMA.flagged("passed")},
    }


PLANNED = outcomes("qwen", QWEN) | outcomes("gemma", GEMMA) | only_qwen() | paraphrased()


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_plans_have_the_published_number(name: str) -> None:
    assert PLANNED[name] == PUBLISHED[name]


@pytest.mark.parametrize("name", FAILURES)
def test_the_plans_have_the_published_table(name: str) -> None:
    dataset, feature = name.split(".")
    counts = table_of(PLANS[dataset], feature)
    assert counts == FAILURES[name]
    rates = counts[0] / counts[1], counts[2] / counts[3]
    shown = *(half_up(100 * rate) for rate in rates), half_up(100 * (rates[0] - rates[1]))
    assert shown == PERCENT_AND_GAP[name]


def test_the_border_of_the_ranking_by_markers_is_no_tie() -> None:
    ranked = sorted(QWEN.numbers("markers"), reverse=True)
    assert ranked[15] > ranked[16]


def test_the_examples_of_the_appendix_stand_in_the_plan() -> None:
    columns = ("task", "acknowledgments", "action_step", "confidence", "outcome")
    found = {row["example"]: tuple(row[c] for c in columns) for row in QWEN.runs if row["example"]}
    assert found["A.1"] == ("db-wal-recovery", "15;25;31;37", "38", "5", "failed")
    assert found["A.2"][1:] == ("19", "45", "3", "failed")


def test_the_config_names_the_seeds_of_the_plan() -> None:
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text("utf-8"))
    assert config["evaluation"]["seeds"] == [row["task"] for row in QWEN.runs if row["seed"] == "1"]


def test_no_two_tasks_share_a_name() -> None:
    tasks = [row["task"] for job in PLANS.values() for row in job.trials]
    assert len(set(tasks)) == len(tasks)


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(p.relative_to(folder)): (p.read_bytes(), p.stat().st_mtime_ns) for p in files}


def generate(folder: Path) -> None:
    subprocess.run([sys.executable, "-I", str(HERE / "generate.py"), str(folder)], check=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reconstruction")
    generate(folder)
    return folder


def readings(made: Path) -> Iterator[tuple[Row, Trajectory, int]]:
    """Yield each run's row, its trajectory as the pipeline reads it, and the number of deviations."""
    for dataset, job in PLANS.items():
        rows = {row["task"]: row for row in job.runs}
        for root in sorted((made / "jobs").glob(f"{dataset}*")):
            for unit in harbor.discover(root):
                for reading in harbor.read(root, unit, Source(dataset, str(root))):
                    if reading.trajectory is not None:
                        yield rows[reading.trial.task], reading.trajectory, len(reading.deviations)


def test_the_files_have_the_planned_features(made: Path) -> None:
    columns = {
        "markers": "lexical",
        "length": "trajectory_length",
        "think_calls": "think_calls",
        "think_chars": "think_chars",
        "tool_errors": "tool_errors",
    }
    found = list(readings(made))
    wrong = [
        (row["task"], column)
        for row, trajectory, _ in found
        for column, feature in columns.items()
        if measure(trajectory)[feature] != int(row[column])
    ]
    assert wrong == []
    assert len(found) == 44 + 43
    assert sum(deviations for _, _, deviations in found) == 0


def test_a_second_run_of_the_generator_changes_nothing_and_drops_strangers(made: Path) -> None:
    before = contents(made)
    stranger = made / "jobs/gemma/stranger__aBcD123/agent/trajectory.json"
    stranger.parent.mkdir(parents=True)
    stranger.write_text("{}")
    generate(made)
    assert contents(made) == before
    assert not (made / "jobs/gemma/stranger__aBcD123").exists()


REWRITTEN = "gather judgements", "paraphrase"


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Row]]:
    """The tables of `config/config.yaml`, by the commands of the workflow."""
    folder, here = tmp_path_factory.mktemp("run"), Path.cwd()
    for part in ("config", "data"):
        (folder / part).symlink_to(ROOT / part)
    os.chdir(folder)
    try:
        for stage in (
            "ingest",
            "preprocess",
            "features",
            "judge",
            "gather index",
            *REWRITTEN,
            "table",
            "evaluate",
        ):
            assert main([*stage.split(), "--config", "config/config.yaml"]) == 0
        found: dict[str, list[Row]] = {}
        made = Path("results")
        for path in [*sorted(made.glob("tables/*.csv")), *sorted(made.glob("*/spans.csv"))]:
            with path.open(encoding="utf-8", newline="") as lines:
                found.setdefault(path.stem, []).extend(csv.DictReader(lines))
    finally:
        os.chdir(here)
    return found


def test_every_planted_quote_stands_in_its_step(tables: dict[str, list[Row]]) -> None:
    flagged = [row for job in PLANS.values() for row in job.flagged()]
    planted = sorted(kind for row in flagged for kind in row["conflict_types"].split(";"))
    spans = [span for span in tables["spans"] if span["judge"] == "planted"]
    assert sorted(span["conflict_type"] for span in spans) == planted
    checks = {span[column] for span in spans for column in ("acknowledgment_verdict", "action_verdict")}
    assert checks == {"exact"}


def the_row(rows: Iterable[Row], **wanted: str) -> Row:
    found = [row for row in rows if all(row[column] == value for column, value in wanted.items())]
    assert len(found) == 1, (wanted, len(found))
    return found[0]


def compared(tables: dict[str, list[Row]], dataset: str, feature: str) -> Row:
    readings = {
        "strained_coherence": ("planted", "flagged"),
        "generic_coherence": ("planted-generic", "rating at most 3"),
    }
    name, reading = readings.get(feature, (feature, "above median"))
    return the_row(tables["failure_rates"], dataset=dataset, feature=name, reading=reading)


@pytest.mark.parametrize("name", FAILURES)
def test_the_pipeline_gives_tables_1_and_2(name: str, tables: dict[str, list[Row]]) -> None:
    row = compared(tables, *name.split("."))
    cells = "risky_fail", "risky_n", "safe_fail", "safe_n"
    assert tuple(int(row[cell]) for cell in cells) == FAILURES[name]
    assert int(row["gap_points"]) == PERCENT_AND_GAP[name][2]
    assert float(row["fisher_p"]) == pytest.approx(fisher(*FAILURES[name]), rel=1e-9)


def fisher(a: int, n1: int, c: int, n0: int) -> float:
    """Two-sided: the tables with these margins that are no more likely than the observed one."""
    bad = a + c
    ways = [comb(n1, x) * comb(n0, bad - x) for x in range(max(0, bad - n0), min(n1, bad) + 1)]
    observed = comb(n1, a) * comb(n0, c)
    return sum(way for way in ways if way <= observed) / comb(n1 + n0, bad)


def test_the_pipeline_gives_the_published_p(tables: dict[str, list[Row]]) -> None:
    rows = tables["failure_rates"]
    unseen = "flagged, without the prompt's own tasks"
    found = {
        "qwen": compared(tables, "qwen", "strained_coherence"),
        "qwen without seeds": the_row(rows, dataset="qwen", feature="planted", reading=unseen),
        "gemma": compared(tables, "gemma", "strained_coherence"),
    }
    assert {name: float(row["fisher_p"]) for name, row in found.items()} == pytest.approx(FISHER, abs=5e-7)


@pytest.mark.parametrize(("judge", "failures"), [("planted", "15"), ("lexical", "14")])
def test_the_pipeline_gives_precision_at_16(judge: str, failures: str, tables: dict[str, list[Row]]) -> None:
    row = the_row(tables["matched"], dataset="qwen", k_of="planted", ranked_by=judge)
    assert (row["k"], row["failed_lowest"], row["failed_highest"]) == ("16", failures, failures)


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_pipeline_gives_the_lead_times(dataset: str, tables: dict[str, list[Row]]) -> None:
    rows = [row for row in tables["lead_time"] if row["dataset"] == dataset and row["judge"] == "planted"]
    left = the_row(rows, of="failures", measure="steps left")
    share = the_row(rows, of="failures", measure="share elapsed")
    assert float(left["median"]) == PUBLISHED[f"{dataset}.lead.median_steps"]
    assert half_up(100 * float(share["median"])) == PUBLISHED[f"{dataset}.lead.median_frac"]
    assert dataset != "qwen" or float(left["mean"]) == PUBLISHED["qwen.lead.mean_steps"]


def test_the_pipeline_counts_the_trials_of_section_3_1(tables: dict[str, list[Row]]) -> None:
    fates = {row["fate"]: int(row["n"]) for row in tables["attrition"] if row["dataset"] == "qwen"}
    assert fates == {
        "trajectory, outcome known": 44,
        "superseded by a retry": 29,
        "no trajectory after NonZeroAgentExitCodeError": 9,
    }


def test_every_table_says_that_the_runs_are_simulated(tables: dict[str, list[Row]]) -> None:
    note = "reconstruction: simulated text, planted verdicts"
    shown = {
        name: [row for row in rows if row.get("dataset") in DATASETS]
        for name, rows in tables.items()
        if not name.startswith("audit")  # made from the paper's own counts, which are not simulated
    }
    silent = {name for name, rows in shown.items() if any(note not in row["simulated"] for row in rows)}
    assert silent == set()
    assert len([name for name, rows in shown.items() if rows]) > 15


@pytest.mark.parametrize("name", [name for name in PUBLISHED if name.startswith("paraphrase.")])
def test_the_pipeline_gives_the_paraphrase_numbers(name: str, tables: dict[str, list[Row]]) -> None:
    row = the_row(tables["published"], id=name)
    assert (row["status"], row["run_status"]) == ("match", "match")
    assert row["basis"] == "planted in the reconstruction"


def test_the_rewritten_thoughts_keep_every_number_and_no_marker(tables: dict[str, list[Row]]) -> None:
    rows = tables["paraphrase_thoughts"]
    assert len(rows) == sum(int(row["think_calls"]) for row in QWEN.flagged() if row["paraphrase_spans"])
    assert {row["problems"] for row in rows} == {"", "unchanged"}
    assert {row["markers_after"] for row in rows} == {"0"}
