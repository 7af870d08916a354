"""Both tables of runs on the way, counted by hand from the samples."""

import pytest
from watched_samples import runs

from coherence.evaluation import monitor, prefix_table
from coherence.evaluation.monitor import Monitor, monitors
from coherence.evaluation.prefix_table import OnTheWay, on_the_way
from coherence.stats.proportions import CLOPPER_PEARSON


@pytest.fixture(scope="module")
def found() -> dict[str, OnTheWay]:
    return {row.of: row for row in on_the_way(runs().values())}


@pytest.mark.parametrize(
    ("of", "field", "counts"),
    [
        ("failures", "flagged", (3, 4)),  # in-time, after-a-gap, whole-unjudged of all but cannot-say
        ("passes", "flagged", (1, 4)),
        ("all", "flagged", (5, 9)),
        ("failures", "in_hindsight", (3, 4)),  # without whole-unjudged
        ("passes", "in_hindsight", (1, 4)),
        ("failures", "only", (1, 3)),
        ("passes", "only", (1, 1)),
        ("failures", "retracted", (0, 2)),
        ("passes", "retracted", (1, 1)),
        ("all", "retracted", (1, 4)),
    ],
)
def test_shares_leave_out_what_cannot_be_said(
    found: dict[str, OnTheWay], of: str, field: str, counts: tuple[int, int]
) -> None:
    share = getattr(found[of], field)
    assert (share.count, share.n) == counts
    assert share.interval.method == CLOPPER_PEARSON


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("runs", 10),
        ("looks", 30),
        ("unjudged_looks", 2),
        ("unjudged", 1),
        ("whole_unjudged", 1),
        ("not_placed", 1),
        ("not_looked_at", 1),
        ("unjudged_before", 1),
        ("wavered", 5),
    ],
)
def test_everything_is_counted(found: dict[str, OnTheWay], field: str, value: int) -> None:
    assert getattr(found["all"], field) == value


def test_the_gain_is_over_runs_flagged_both_ways(found: dict[str, OnTheWay]) -> None:
    gain, waited = found["all"].gain, found["all"].waited
    assert (gain.n, gain.median, gain.mean) == (3, 1.0, 1.0)  # 1, 2 and 0 steps
    assert (waited.n, waited.median) == (3, 0.0)
    assert found["passes"].gain.n == 0


@pytest.fixture(scope="module")
def halting() -> Monitor:
    (made,) = monitors(runs().values())
    return made


@pytest.mark.parametrize(
    ("field", "counts"),
    [("failures", (3, 4)), ("passes", (1, 4)), ("right", (3, 4)), ("base", (4, 8))],
)
def test_what_a_monitor_stops(halting: Monitor, field: str, counts: tuple[int, int]) -> None:
    share = getattr(halting, field)
    assert (share.count, share.n) == counts


def test_what_a_monitor_saves_and_destroys(halting: Monitor) -> None:
    assert (halting.saved_steps, halting.failure_steps) == (6 + 4 + 4, 10 + 8 + 10 + 8)
    assert (halting.lost_steps, halting.pass_steps) == (8, 12 + 6 + 2 + 8)
    assert halting.saved.median == 4.0
    assert (halting.unjudged_failures, halting.unjudged_passes) == (1, 0)
    assert (halting.halted_unknown, halting.unknown) == (1, 1)


def test_the_tables_say_what_is_not_real_and_by_which_methods() -> None:
    made = [
        prefix_table.table(tuple(on_the_way(runs().values()))),
        monitor.table(tuple(monitors(runs().values()))),
    ]
    for table in made:
        assert "made up" in table.note
        assert CLOPPER_PEARSON in table.caption
        assert "order statistics" in table.caption
    shown = dict(zip(made[1].columns, made[1].rows[0], strict=True))
    assert shown["It could not say of"] == "1 failed"
    assert shown["Steps saved"] == "14 of 36 (39 %)"
    assert shown["a pass lost"] == "8 (n = 1)"


def test_no_run_makes_an_empty_table() -> None:
    assert prefix_table.table(()).rows == monitor.table(()).rows == ()
