import pytest

from coherence.evaluation.groups import splits
from coherence.evaluation.selectivity import selectivity, table
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, Verdict
from coherence.records import OutcomeStatus

SETTINGS = EvaluationSettings()


def rows(count: int, outcome: OutcomeStatus, verdict: Verdict) -> list[Row]:
    return [Row("x", "qwen", "t", "1", outcome, "ok", verdicts={"detector": verdict}) for _ in range(count)]


def qwen() -> list[Row]:
    flagged, clean = Verdict("flagged", spans=1, max_confidence=4), Verdict("unflagged")
    return [
        *rows(15, "failed", flagged),
        *rows(1, "passed", flagged),
        *rows(13, "failed", clean),
        *rows(15, "passed", clean),
    ]


def test_the_papers_detector_on_qwen() -> None:
    (split,) = splits(qwen(), SETTINGS)
    row = selectivity(split, SETTINGS)
    assert (row.flagged.count, row.flagged.n) == (16, 44)  # published: 36 %
    assert (row.recall.count, row.recall.n) == (15, 28)
    assert (row.precision.count, row.precision.n) == (15, 16)  # published: 94 %
    assert row.precision.interval is not None
    assert row.precision.interval.low == pytest.approx(0.717, abs=5e-4)  # [Wilson, exact]


def test_a_flag_without_outcome_counts_as_flagged_only() -> None:
    members = qwen() + rows(4, "unknown", Verdict("flagged", spans=1, max_confidence=4))
    (split,) = splits(members, SETTINGS)
    row = selectivity(split, SETTINGS)
    assert (row.flagged.count, row.flagged.n, row.precision.n, row.recall.n) == (20, 48, 16, 28)
    assert row.unknown_outcome == 4


def test_unjudged_rows_are_in_no_share() -> None:
    (split,) = splits(qwen() + rows(6, "failed", Verdict("unjudged", "truncated")), SETTINGS)
    row = selectivity(split, SETTINGS)
    assert (row.flagged.n, row.recall.n, row.unjudged) == (44, 28, 6)


def test_the_table() -> None:
    (split,) = splits(qwen(), SETTINGS)
    made = table([selectivity(split, SETTINGS)])
    assert made.rows[0] == (
        "qwen",
        "detector",
        "flagged",
        "16/44 (36 %; 24 to 51)",
        "15/28 (54 %; 36 to 70)",
        "15/16 (94 %; 72 to 99)",
        "-",
    )
    assert made.records[0]["flagged"] == pytest.approx(16 / 44)
    assert "Wilson" in made.caption
