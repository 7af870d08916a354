from coherence.evaluation.first_flags import Elapsed, FirstFlag
from coherence.evaluation.lead_time import LeadTime, lead_times, table
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, Verdict
from coherence.records import OutcomeStatus

SETTINGS = EvaluationSettings(simulated={"set": "planted verdicts"})
ROWS = [Row("x", "set", "t", "1", "failed", "ok", verdicts={"judge": Verdict("unflagged")})]


def flag(outcome: OutcomeStatus, left: int | None) -> FirstFlag:
    elapsed = None if left is None else Elapsed(left, left // 2, 1 - left / 100)
    return FirstFlag("set", "judge", "x", outcome, 1, elapsed)


def found(flags: list[FirstFlag]) -> dict[tuple[str, str], LeadTime]:
    return {(row.of, row.measure): row for row in lead_times(ROWS, flags, SETTINGS)}


def test_failures_passes_and_all_are_summed_up_apart() -> None:
    rows = found([flag("failed", 10), flag("failed", 20), flag("passed", 60), flag("unknown", 90)])
    medians = {of: rows[of, "steps left"].summary.median for of in ("failures", "passes", "all")}
    assert medians == {"failures": 15, "passes": 60, "all": 40}


def test_the_interval_is_by_order_statistics() -> None:
    summary = found([flag("failed", left) for left in range(1, 16)])["failures", "steps left"].summary
    assert summary.interval is not None
    assert (summary.interval.low, summary.median, summary.interval.high) == (4, 8, 12)  # ranks 4 and 12 of 15


def test_a_flag_without_a_place_is_counted_and_left_out() -> None:
    row = found([flag("failed", 10), flag("failed", None)])["failures", "steps left"]
    assert (row.flagged, row.summary.n, row.not_placed) == (2, 1, 1)


def test_a_judge_that_flags_nothing_has_rows_with_n_0() -> None:
    rows = found([])
    assert len(rows) == 9
    assert {row.summary.n for row in rows.values()} == {0}


def test_flags_without_any_place_have_one_row_that_says_so() -> None:
    (row,) = found([flag("failed", None), flag("passed", None)]).values()
    assert (row.of, row.measure, row.flagged, row.not_placed) == ("all", "share elapsed", 2, 2)


def test_the_table() -> None:
    made = table(list(lead_times(ROWS, [flag("failed", 10), flag("failed", None)], SETTINGS)))
    shown = {(row[2], row[3]): row for row in made.rows}
    assert shown["failures", "share elapsed (%)"] == (
        "set (simulated)",
        "judge",
        "failures",
        "share elapsed (%)",
        "1",
        "90",
        "90",
        "1 not placed",
    )
    assert made.note == "set is simulated: planted verdicts."
    assert "order statistics" in made.caption
    assert {record["n_flagged"] for record in made.records if record["of"] == "all"} == {2}
