"""The real runs that ship: the figures of data/replication/README.md, by the default run's own settings."""

from math import log

import pytest

from coherence.cli.evaluate import feature_names, settings_of
from coherence.evaluation.family import families
from coherence.evaluation.groups import splits
from shipped_runs import ROOT, config, dataset, rates, readers_pair

WHOLE, ONE, TWO = "gemini-swe-bench", "gemini-swe-bench-wave-1", "gemini-swe-bench-wave-2"


@pytest.mark.parametrize(
    ("name", "reading", "risky", "safe", "p"),
    [
        (ONE, ("reader", "flagged"), (14, 19), (18, 45), 0.027),
        (TWO, ("reader", "flagged"), (12, 22), (20, 42), 0.793),
        (WHOLE, ("reader", "flagged"), (26, 41), (38, 87), 0.058),
        (WHOLE, ("reader", "confidence at least 4"), (17, 24), (47, 104), 0.040),
        (WHOLE, ("reader-generic", "rating at most 3"), (21, 31), (43, 97), 0.038),
    ],
    ids=["wave 1", "wave 2", "both", "confident", "generic"],
)
def test_the_table(
    name: str, reading: tuple[str, str], risky: tuple[int, int], safe: tuple[int, int], p: float
) -> None:
    row = rates(name)[reading]
    assert (row.risky.count, row.risky.n, row.safe.count, row.safe.n) == (*risky, *safe)
    assert row.comparison.fisher_p == pytest.approx(p, abs=0.0005)


def test_the_flag_alone_has_the_log_odds_of_the_readme() -> None:
    assert log((26 * 49) / (15 * 38)) == pytest.approx(0.80, abs=0.005)
    assert rates(WHOLE)["reader", "flagged"].comparison.counts.n == 26 + 15 + 38 + 49


def test_two_readers_agree_on_19_of_24() -> None:
    pair = readers_pair(dataset(WHOLE))
    assert (pair.n, pair.both.n + pair.neither.n) == (24, 19)
    assert pair.kappa is not None
    assert pair.kappa.value == pytest.approx(0.58, abs=0.005)


def test_weighted_to_the_cohort_the_rates_fall_and_the_gap_stays() -> None:
    weighted = rates(WHOLE)["reader", "flagged"].weighted
    assert weighted is not None
    assert weighted.gap == pytest.approx(16, abs=0.6)
    weights = [row.weight for row in dataset(WHOLE) if row.weight]
    assert sum(weights) == pytest.approx(500, abs=0.1)


def test_the_real_runs_come_first_and_are_not_marked() -> None:
    first = next(iter(config().datasets))
    assert first == WHOLE
    assert not any(config().datasets[name].simulated for name in (WHOLE, ONE, TWO))
    for word in ("0.058", "0.79", "takes all of the flag's effect", "0.80", "-0.03"):
        assert word in config().datasets[first].notes


def test_variants_are_outside_the_family() -> None:
    rows = list(dataset(WHOLE))
    settings = settings_of(config(), rows)
    members = families(tuple(splits(rows, settings)), settings)[WHOLE]
    assert [(one.reading.name, one.reading.label[:6]) for one in members] == [
        ("reader", "flagge"),
        ("reader-generic", "rating"),
        ("reader-2", "flagge"),
        ("agent_steps", "above "),
    ]
    assert "agent_steps" in feature_names(rows)


def test_the_readme_has_the_same_figures() -> None:
    text = (ROOT / "data/replication/README.md").read_text()
    for figures in ("14/19 | 18/45", "12/22 | 20/42", "17/24 (71 %) | 47/104", "21/31 (68 %) | 43/97"):
        assert figures in text
    assert "26/41 against 38/87, p = 0.058" in text
