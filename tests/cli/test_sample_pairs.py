"""Two scaffolds sampled with the same seeds: their rows pair by environment, from command to comparison."""

from pathlib import Path

import pytest
from sample_run import DATASET, sample, write_config

from coherence.evaluation.environment_pairs import BY_SEED, NONE_COMMON, NOT_SHARED
from coherence.evaluation.incoherence_paired import PairedRow, pairs
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.repeated import groups
from coherence.incoherence.reading import read_outcomes
from coherence.incoherence.source import OutcomeSource

# The environment, which the seed decides, makes the first agent wrong; the second is wrong once more.
AGENT = 'cat > item.json; echo "{\\"answer\\": $(( ($1 % 2) | ($1 == $2) ))}"'
ITEMS = [{"id": f"q{n}", "prompt": f"{n}?", "target": 0} for n in range(2)]


def sampled(folder: Path, scaffold: str, samples: int, wrong: int, seed: int) -> None:
    run = ["/bin/sh", "-c", AGENT, "agent", "{seed}", str(wrong)]
    command = {"run": run, "sandboxed": True, "seed": seed}
    write_config(folder, ITEMS, samples=samples, scaffold=scaffold, backbone="m", command=command)
    assert sample() == 0


def compared(folder: Path) -> PairedRow:
    path = folder / "results/samples" / DATASET / "outcomes.csv"
    frame = read_outcomes(path, OutcomeSource(DATASET)).frame
    (row,) = pairs(list(groups(frame)), IncoherenceSettings())
    return row


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_same_seeds_are_the_same_environments(folder: Path) -> None:
    sampled(folder, "one", samples=4, wrong=-1, seed=7)
    sampled(folder, "two", samples=5, wrong=8, seed=7)
    row = compared(folder)

    assert (row.paired_by, row.environments, row.found.items) == (BY_SEED, 8, 2)
    assert (row.first_used.left_out, row.second_used.left_out) == ({}, {NOT_SHARED: 2})
    assert row.found.error is not None
    assert row.found.error.value == pytest.approx(2 / 4 - 3 / 4)
    # Of seeds 7 to 10, 7 and 9 are wrong against 7, 8 and 9: a variance of 1/3 in the first.
    assert row.shared.covariance == pytest.approx((2 - 4 * 1 / 2 * 3 / 4) / 3)
    assert row.shared.first == pytest.approx(1 / 2)


def test_other_seeds_are_other_environments(folder: Path) -> None:
    sampled(folder, "one", samples=2, wrong=-1, seed=0)
    sampled(folder, "two", samples=2, wrong=-1, seed=10)
    row = compared(folder)

    assert row.by_task == NONE_COMMON
