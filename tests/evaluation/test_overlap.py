"""Flags beside the trajectories a feature puts first."""

from coherence.evaluation.groups import splits
from coherence.evaluation.overlap import Overlap, overlaps, table
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, Verdict
from coherence.records import OutcomeStatus
from paper_rows import SETTINGS, rows

FLAGGED, UNFLAGGED = Verdict("flagged", spans=1), Verdict("unflagged")


def row(name: str, outcome: OutcomeStatus, word: Verdict, markers: float | None) -> Row:
    return Row(name, "set", name, "1", outcome, "ok", features={"lexical": markers}, verdicts={"judge": word})


def found(of: list[Row], settings: EvaluationSettings | None = None) -> list[Overlap]:
    settings = settings or EvaluationSettings()
    return list(overlaps(tuple(splits(of, settings)), settings))


ROWS = [
    row("a", "failed", FLAGGED, 9),
    row("b", "passed", FLAGGED, 1),
    row("c", "failed", UNFLAGGED, 7),
    row("d", "passed", UNFLAGGED, 2),
    row("e", "unknown", FLAGGED, 99),
    row("f", "failed", FLAGGED, None),
]


def test_sides_and_their_medians() -> None:
    (one,) = found(ROWS)
    assert (one.k, one.n, one.left_out, one.tied) == (2, 4, 1, 0)
    sides = [(side.count, side.n) for side in (one.both, one.judge_only, one.feature_only, one.neither)]
    assert sides == [(1, 1), (0, 1), (1, 1), (0, 1)]
    assert (one.judge_only_median, one.feature_only_median) == (1, 7)


def test_the_sides_add_up_whatever_the_values() -> None:
    for one in found(rows(), SETTINGS):
        sides = (one.both, one.judge_only, one.feature_only, one.neither)
        assert sum(side.n for side in sides) == one.n == 44
        assert sum(side.count for side in sides) == 28
        assert one.judge_only.n == one.feature_only.n


def test_the_paper_s_interval_of_10_of_10() -> None:
    many = [row(f"m{n}", "failed", FLAGGED, 9) for n in range(10)]
    (one,) = found([*many, row("z", "passed", UNFLAGGED, 0)])
    assert one.both.interval is not None
    assert abs(one.both.interval.low - 0.025 ** (1 / 10)) < 1e-9


def test_ties_at_the_border_are_counted_and_taken_by_id() -> None:
    tied = [
        row(name, "failed", word, 5) for name, word in (("b", FLAGGED), ("a", UNFLAGGED), ("c", UNFLAGGED))
    ]
    (one,) = found(tied)
    assert (one.tied, one.both.n, one.feature_only.n) == (3, 0, 1)
    assert "3 tied" in table([one]).rows[0][-1]


def test_nothing_or_everything_flagged_has_no_row() -> None:
    assert found([row("a", "failed", UNFLAGGED, 1), row("b", "passed", UNFLAGGED, 2)]) == []
    assert found([row("a", "failed", FLAGGED, 1), row("b", "passed", FLAGGED, 2)]) == []
