"""Hand-computed Kaplan-Meier; scipy's log-rank agrees with R."""

import pytest

from coherence.stats.survival import Run, Waiting, kaplan_meier, landmark, log_rank
from coherence.stats.tables import Counts

WAITS = [Waiting(1, True), Waiting(2, True), Waiting(5, True), Waiting(3, False), Waiting(6, False)]


def test_kaplan_meier_by_hand() -> None:
    curve = kaplan_meier(WAITS)
    assert curve is not None
    assert (curve.n, curve.flagged, curve.median) == (5, 3, 5)
    assert [point.share for point in curve.points] == pytest.approx([0.2, 0.4, 0.4, 0.7, 0.7])


def test_the_estimate_holds_until_the_next_event() -> None:
    curve = kaplan_meier(WAITS)
    assert curve is not None
    assert [curve.at(time).share for time in (0.5, 4.9, 100)] == pytest.approx([0, 0.4, 0.7])
    interval = curve.interval_at(4)
    assert interval is not None
    assert interval.low < 0.4 < interval.high


def test_no_flag_at_all() -> None:
    curve = kaplan_meier([Waiting(4, False), Waiting(9, False)])
    assert curve is not None
    assert (curve.at(9).share, curve.interval_at(9), curve.median) == (0, None, None)
    assert kaplan_meier([]) is None


def test_log_rank() -> None:
    early, late = [Waiting(t, True) for t in (1, 2, 3, 4)], [Waiting(t, True) for t in (8, 9, 10, 11)]
    p = log_rank(early, late)
    assert p is not None
    assert p < 0.01
    assert log_rank(early, early) == pytest.approx(1)
    assert log_rank(early, []) is None
    assert log_rank([Waiting(3, False)], [Waiting(4, False)]) is None


def test_a_landmark_looks_only_at_runs_that_go_on_and_flags_raised_by_then() -> None:
    runs = [
        Run(5, 2, True),  # over by step 5
        Run(9, 5, True),
        Run(9, 6, True),  # flagged too late
        Run(9, None, False),
    ]
    assert landmark(runs, 5) == Counts(1, 1, 1, 2)
    assert landmark(runs, 9) == Counts(0, 0, 0, 0)
