"""A backbone added by config alone, as docs/new-backbone.md says, and set beside the one that was there."""

import csv
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from workspace import ROOT, lay_out, ran, snakemake, write_config, write_trial

DOC = ROOT / "docs/new-backbone.md"
ODD = "I am baffled by this output. Anyway, I go on."
FINE = "The output is as it should be."
# By (flagged, failed): how many runs. Gaps: 6/8 - 3/8 = 37.5 points, and 2/6 - 4/10 = -6.7.
OLD = {(True, True): 6, (True, False): 2, (False, True): 3, (False, False): 5}
NEW = {(True, True): 2, (True, False): 4, (False, True): 4, (False, False): 6}
JUDGE = {"kind": "rules", "settings": {"resolution_check": False, "minimum_score": 2}}


def write_runs(folder: Path, counts: dict[tuple[bool, bool], int]) -> None:
    for (flagged, failed), count in counts.items():
        for number in range(count):
            name = f"{'odd' if flagged else 'fine'}-{'failed' if failed else 'passed'}-{number}"
            write_trial(folder, name, 0.0 if failed else 1.0, ODD if flagged else FINE, steps=3 + number)


def entry() -> dict[str, Any]:
    """The config file that the walk-through has its reader write."""
    (block,) = re.findall(r"```yaml\n(.*?)```", DOC.read_text(), re.DOTALL)
    written: dict[str, Any] = yaml.safe_load(block)
    return written


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"results/tables/{name}.csv").open() as lines:
        return list(csv.DictReader(lines))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[str], list[str]]]:
    """A finished run of one backbone, then of both; with the rules that ran each time."""
    folder = lay_out(tmp_path_factory.mktemp("backbones"))
    old = {"paths": "runs/old", "format": "harbor", "backbone": "old", "scaffold": "openhands-sdk"}
    write_runs(folder / "runs/old", OLD)
    config = write_config(
        folder, datasets={"old": old}, judges={"rules": JUDGE}, prefixes={"rules": {"parts": 2}}
    )
    before = snakemake(folder, "--configfile", config.name)
    assert before.returncode == 0, before.stderr
    write_runs(folder / entry()["datasets"]["new-backbone"]["paths"], NEW)
    (folder / "new-backbone.yaml").write_text(yaml.safe_dump(entry()))
    after = snakemake(folder, "--configfile", config.name, "new-backbone.yaml")
    assert after.returncode == 0, after.stderr
    yield folder, ran(before), ran(after)
    shutil.rmtree(folder)


def test_only_the_new_dataset_is_worked_on(run: tuple[Path, list[str], list[str]]) -> None:
    _, _, after = run
    per_dataset = ("ingest", "gather_index", "preprocess", "features", "gather_features")
    judged = ("judge", "gather_judgements", "prefix", "gather_prefixes", "table")
    counts = Counter(after)
    assert {name: counts[name] for name in (*per_dataset, *judged)} == dict.fromkeys(
        (*per_dataset, *judged), 1
    )
    assert set(counts.values()) == {1}


def test_its_gap_stands_beside_the_old_one(run: tuple[Path, list[str], list[str]]) -> None:
    (row,) = [
        row for row in rows(run[0], "across") if (row["feature"], row["reading"]) == ("rules", "flagged")
    ]
    assert (row["first"], row["second"]) == ("old", "new-backbone")
    for side, counts in (("one", OLD), ("two", NEW)):
        found = {
            cell: int(row[f"{side}_{cell}"]) for cell in ("risky_fail", "risky_n", "safe_fail", "safe_n")
        }
        assert found == {
            "risky_fail": counts[True, True],
            "risky_n": counts[True, True] + counts[True, False],
            "safe_fail": counts[False, True],
            "safe_n": counts[False, True] + counts[False, False],
        }
    assert float(row["difference"]) == pytest.approx(100 * ((6 / 8 - 3 / 8) - (2 / 6 - 4 / 10)))
    assert float(row["difference_low"]) < float(row["difference"]) < float(row["difference_high"])
    assert 0 < float(row["zelen_p"]) <= 1
    assert float(row["two_gap"]) < float(row["pooled_gap"]) < float(row["one_gap"])


def test_every_reading_of_both_is_compared(run: tuple[Path, list[str], list[str]]) -> None:
    compared = {row["feature"] for row in rows(run[0], "across")}
    assert {"rules", "lexical", "trajectory_length", "think_calls", "tool_errors"} <= compared


@pytest.mark.parametrize(
    "name", ["failure_rates", "description", "attrition", "judgements", "lead_time", "prefix", "monitor"]
)
def test_every_table_has_both(name: str, run: tuple[Path, list[str], list[str]]) -> None:
    assert {row["dataset"] for row in rows(run[0], name)} == {"old", "new-backbone"}


def test_figures_and_report_have_both(run: tuple[Path, list[str], list[str]]) -> None:
    figures = {path.name for path in (run[0] / "results/figures").iterdir()}
    kinds = {name.split(".", 1)[1] for name in figures if name.startswith("old.")}
    assert kinds == {name.split(".", 1)[1] for name in figures if name.startswith("new-backbone.")}
    report = (run[0] / "results/report.html").read_text()
    assert "The same reading across datasets" in report
    assert report.count("&lt;provider&gt;/&lt;model&gt;") >= 1  # its backbone, as the entry names it


def test_the_first_run_had_nothing_to_compare(run: tuple[Path, list[str], list[str]]) -> None:
    assert run[1].count("judge") == 1


def test_the_walk_through_names_commands_and_tables_that_exist() -> None:
    from coherence.cli import COMMANDS  # noqa: PLC0415 - beside what it is compared with
    from coherence.cli.workflow import PREFIX_TABLES, TABLES  # noqa: PLC0415

    text = DOC.read_text()
    commands = set(re.findall(r"`?coherence (\w+)", text))
    assert commands <= set(COMMANDS)
    first_cells = " ".join(re.findall(r"^\| (`.*?) \|", text, re.MULTILINE))
    assert set(re.findall(r"`(\w+)`", first_cells)) <= {*TABLES, *PREFIX_TABLES}
    assert "docs/new-backbone.md" in (ROOT / "README.md").read_text()
