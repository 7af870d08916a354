import csv
from itertools import chain, repeat
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.evaluation.failure_rates import FailureRate, failure_rate, table
from coherence.evaluation.groups import splits
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, Verdict
from coherence.records import OutcomeStatus
from coherence.stats.intervals import Bootstrap

FEW = EvaluationSettings(bootstrap=Bootstrap(resamples=20))
FLAGGED = Verdict("flagged", spans=1, max_confidence=4, substrate="thoughts")
CLEAN = Verdict("unflagged", substrate="thoughts")
SILENT = Verdict("unflagged", substrate="none")
# Gemma's detector as the paper's text determines it: 13 of 31 unflagged had no thought, 8 of them failed.
GEMMA = [
    (9, "failed", FLAGGED),
    (3, "passed", FLAGGED),
    (9, "failed", CLEAN),
    (9, "passed", CLEAN),
    (8, "failed", SILENT),
    (5, "passed", SILENT),
]
ROWS = st.lists(
    st.builds(
        Row,
        id=st.just("x"),
        dataset=st.sampled_from(["one", "two"]),
        task=st.just("t"),
        attempt=st.just("1"),
        outcome=st.sampled_from(["passed", "failed", "unknown"]),
        status=st.just("ok"),
        weight=st.sampled_from([None, 1.5, 2.0]),
        excluded=st.sampled_from([None, None, "no trajectory"]),
        features=st.fixed_dictionaries({"x": st.none() | st.integers(0, 4).map(float)}),
        verdicts=st.fixed_dictionaries(
            {
                "judge": st.builds(
                    Verdict,
                    state=st.sampled_from(["flagged", "unflagged", "unjudged"]),
                    spans=st.integers(0, 1),
                    rating=st.none() | st.integers(1, 5),
                    substrate=st.sampled_from(["thoughts", "none", "unknown"]),
                )
            }
        ),
    ),
    max_size=25,
)


def rows(*kinds: tuple[int, OutcomeStatus, Verdict], **more: Any) -> list[Row]:
    each = chain.from_iterable(repeat((outcome, verdict), count) for count, outcome, verdict in kinds)
    return [
        Row(str(number), "set", "t", "1", outcome, "ok", verdicts={"judge": verdict}, **more)
        for number, (outcome, verdict) in enumerate(each)
    ]


def rates(members: list[Row], settings: EvaluationSettings = FEW) -> list[FailureRate]:
    return [failure_rate(split, settings) for split in splits(members, settings)]


def replication(shared: Path, wave: str | None) -> list[Row]:
    """The 128 real runs that were read, or those of one wave."""
    with (shared / "replication" / "mini_swe_agent_gemini3.csv").open(encoding="utf-8", newline="") as file:
        runs = [run for run in csv.DictReader(file) if wave in (None, run["wave"])]
    return [
        Row(
            run["instance"],
            "replication",
            run["instance"],
            "1",
            "passed" if run["resolved"] == "1" else "failed",
            "no_text",
            weight=float(run["sampling_weight"]),
            verdicts={"judge": Verdict("flagged" if run["flagged"] == "1" else "unflagged")},
        )
        for run in runs
    ]


def gemma() -> list[Row]:
    return rows(*GEMMA)  # type: ignore[arg-type]


def test_the_papers_gemma_table_from_rows() -> None:
    (rate,) = rates(gemma())
    assert (rate.risky.count, rate.risky.n, rate.safe.count, rate.safe.n) == (9, 12, 17, 31)
    assert rate.comparison.points == 20
    assert rate.comparison.fisher_p == pytest.approx(0.3064586663, abs=1e-9)  # [R 4.2.2]


def test_the_gap_without_trajectories_without_thoughts_stands_beside() -> None:
    (rate,) = rates(gemma())
    assert rate.without_thoughts == 13
    assert rate.with_thoughts is not None
    assert rate.with_thoughts.gap == pytest.approx(25.0)  # 9/12 less 9/18


def test_where_thoughts_are_not_known_nothing_is_said_of_them() -> None:
    (rate,) = rates(rows((2, "failed", Verdict("flagged")), (3, "passed", Verdict("unflagged"))))
    assert (rate.without_thoughts, rate.with_thoughts) == (None, None)


def test_what_cannot_be_compared_is_counted() -> None:
    members = rows(
        (2, "failed", FLAGGED),
        (1, "unknown", FLAGGED),
        (3, "passed", CLEAN),
        (4, "failed", Verdict("unjudged", "refusal")),
    )
    members += rows((5, "failed", FLAGGED), excluded="superseded by a retry")
    (rate,) = rates(members)
    assert (rate.n, rate.unknown_outcome, rate.unjudged, rate.missing, rate.excluded) == (5, 1, 4, 0, 5)
    assert rate.left_out == "1 unknown outcome, 4 unjudged, 5 excluded"


def test_unjudged_rows_change_no_rate() -> None:
    (without,) = rates(gemma())
    (beside,) = rates(gemma() + rows((50, "failed", Verdict("unjudged", "api"))))
    assert (beside.risky, beside.safe, beside.comparison) == (without.risky, without.safe, without.comparison)


def test_one_empty_side_is_not_applicable() -> None:
    (rate,) = rates(rows((3, "failed", CLEAN), (2, "unknown", FLAGGED)))
    assert (rate.status, rate.comparison.reason) == ("not applicable", "no trajectory is risky")
    assert (rate.risky.value, rate.comparison.gap) == (None, None)
    assert table([rate], FEW).records[0]["rate_interval"] == "percentile bootstrap"  # the safe group has one


def test_weights_give_a_second_gap() -> None:
    members = rows((1, "failed", FLAGGED), (1, "failed", CLEAN), weight=1.0)
    members += rows((1, "passed", FLAGGED), weight=3.0) + rows((1, "passed", CLEAN), weight=1.0)
    (rate,) = rates(members)
    assert rate.comparison.gap == 0
    assert rate.weighted is not None
    assert rate.weighted.gap == pytest.approx(-25)


@pytest.mark.parametrize("weight", [None, 0.0, -1.0, float("nan"), float("inf")], ids=str)
def test_a_weight_that_is_none_takes_no_part(weight: float | None) -> None:
    members = rows((2, "failed", FLAGGED), (2, "passed", CLEAN), weight=2.0)
    members += rows((5, "passed", FLAGGED), weight=weight)
    (rate,) = rates(members)
    assert rate.weighted is not None
    assert (rate.weighted.risky.n, rate.weighted.risky.rate) == (2, 1.0)


def test_the_table_names_judge_status_and_what_is_simulated() -> None:
    settings = EvaluationSettings(simulated={"set": "planted verdicts"})
    made = table(rates(gemma(), settings), settings)
    record = made.records[0]
    assert [record[name] for name in ("dataset", "judge", "status", "simulated")] == [
        "set",
        "judge",
        "ok",
        "planted verdicts",
    ]
    assert [record[name] for name in ("risky_fail", "risky_n", "gap_points", "n_without_thoughts")] == [
        9,
        12,
        20,
        13,
    ]
    assert made.note == "set is simulated: planted verdicts."
    assert made.rows[0][0] == "set (simulated)"


def test_the_table_shows_n_and_interval_and_its_caption_the_methods() -> None:
    made = table(rates(gemma(), EvaluationSettings()), EvaluationSettings())
    shown = dict(zip(made.columns, made.rows[0], strict=True))
    assert shown["Risky failed"].startswith("9/12 (75 %; ")
    assert shown["Gap"] == "+20 (-12 to 44)"
    assert shown["p"] == "0.306"
    for method in (
        "percentile bootstrap",
        "1,000 resamples",
        "seed 0",
        "Newcombe",
        "Fisher exact",
        "Clopper-Pearson",
    ):
        assert method in made.caption


def test_an_empty_table_still_has_its_fields() -> None:
    made = table([], FEW)
    assert (made.records, made.rows) == ((), ())
    assert made.fields[:3] == ("dataset", "feature", "judge")


@pytest.mark.parametrize(
    ("wave", "risky", "safe", "p"),
    [(None, (26, 41), (38, 87), 0.058), ("1", (14, 19), (18, 45), 0.027), ("2", (12, 22), (20, 42), 0.79)],
    ids=["both", "wave 1", "wave 2"],
)
def test_the_replication_on_real_runs(
    shared: Path, wave: str | None, risky: tuple[int, int], safe: tuple[int, int], p: float
) -> None:
    (rate,) = rates(replication(shared, wave))  # published beside the data
    assert ((rate.risky.count, rate.risky.n), (rate.safe.count, rate.safe.n)) == (risky, safe)
    assert rate.comparison.fisher_p == pytest.approx(p, abs=0.006)


def test_the_replications_weights_restore_its_cohort(shared: Path) -> None:
    (rate,) = rates(replication(shared, None))
    assert rate.weighted is not None
    sizes = [
        sum(row.weight or 0 for row in replication(shared, None) if row.verdicts["judge"].state == state)
        for state in ("flagged", "unflagged")
    ]
    failed = rate.weighted.risky.rate * sizes[0] + rate.weighted.safe.rate * sizes[1]
    assert failed == pytest.approx(129, abs=0.01)  # of 500 runs
    assert sum(sizes) == pytest.approx(500, abs=0.01)


@given(ROWS)
def test_counts_add_up_to_all_rows(members: list[Row]) -> None:
    totals = {name: sum(row.dataset == name for row in members) for name in ("one", "two")}
    settings = EvaluationSettings(bootstrap=Bootstrap(resamples=5), rating_at_most={"judge": 3})
    for rate in rates(members, settings):
        left = rate.unknown_outcome + rate.unjudged + rate.missing + rate.excluded
        assert rate.n + left == totals[rate.reading.dataset]


@given(ROWS)
def test_every_unjudged_row_is_counted_as_such(members: list[Row]) -> None:
    for rate in rates(members, EvaluationSettings(bootstrap=Bootstrap(resamples=5), features=())):
        included = [r for r in members if r.dataset == rate.reading.dataset and r.excluded is None]
        assert rate.unjudged == sum(r.verdicts["judge"].state == "unjudged" for r in included)


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(members: list[Row], random: Random) -> None:
    settings = EvaluationSettings(bootstrap=Bootstrap(resamples=5))
    here, there = (
        {
            (rate.reading.dataset, rate.reading.name, rate.reading.label): rate
            for rate in rates(order, settings)
        }
        for order in (members, random.sample(members, len(members)))
    )
    assert here == there


def test_a_judge_that_read_nothing_says_so() -> None:
    unread = Verdict("unjudged", reason="not_run", substrate="thoughts")
    made = [
        Row(str(n), "set", "t", str(n), "failed", "ok", verdicts={"judge": word})
        for n, word in enumerate((SILENT, unread, unread))
    ]
    (split,) = splits(made, FEW)
    found = failure_rate(split, FEW)
    assert (found.comparison.reason, found.unjudged) == (
        "none of the trajectories that have thoughts was judged",
        2,
    )
