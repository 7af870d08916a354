"""Every ranking cut at the same k."""

from coherence.evaluation.evaluate import evaluate
from coherence.evaluation.matched import Matched, matched, precision, table
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, Verdict
from coherence.records import OutcomeStatus

FLAGGED, UNFLAGGED = Verdict("flagged", spans=1, max_confidence=3), Verdict("unflagged")


def row(name: str, outcome: OutcomeStatus, word: Verdict, markers: float | None) -> Row:
    return Row(name, "set", "t", name, outcome, "ok", features={"lexical": markers}, verdicts={"judge": word})


ROWS = [
    row("a", "failed", FLAGGED, 9),
    row("b", "failed", Verdict("flagged", spans=1, max_confidence=5), 1),
    row("c", "passed", UNFLAGGED, 9),
    row("d", "failed", UNFLAGGED, 5),
    row("e", "unknown", FLAGGED, 99),
]


def found(rows: list[Row], **settings: object) -> dict[tuple[int, str], Matched]:
    chosen = EvaluationSettings(**settings)  # type: ignore[arg-type]
    return {(item.k, item.ranked_by): item for item in matched(rows, chosen)}


def said(item: Matched) -> str:
    return precision(item.result, item.k)


def test_k_is_what_the_judge_flags_among_known_outcomes() -> None:
    assert {key: said(item) for key, item in found(ROWS).items()} == {
        (2, "judge"): "2/2 (100 %)",
        (2, "lexical"): "1/2 (50 %)",
    }


def test_k_can_be_set() -> None:
    assert said(found(ROWS, matched_k=1)[1, "lexical"]) == "0.5/1 (50 %; 0 to 1 of 1, 2 tied)"


def test_confidence_orders_the_flags() -> None:
    result = found([ROWS[0], row("x", "passed", FLAGGED, 1), ROWS[1]], matched_k=1)[1, "judge"].result
    assert result is not None
    assert (result.expected, result.tied) == (1, 0)


def test_unjudged_and_unmeasured_rows_are_left_out_and_counted() -> None:
    rows = [*ROWS, row("f", "failed", Verdict("unjudged", reason="api"), None)]
    items = found(rows)
    assert [items[2, name].left_out for name in ("judge", "lexical")] == [1, 1]


def test_more_than_there_are_is_not_applicable() -> None:
    assert said(found(ROWS, matched_k=9)[9, "judge"]) == "not applicable: fewer than k trajectories"


def test_the_table_and_the_evaluation_carry_it() -> None:
    evaluation = evaluate(ROWS, EvaluationSettings(simulated={"set": "made up"}), {})
    made = table(evaluation.matched)
    assert made.rows[0][0] == "set (simulated)"
    assert len(made.records) == 2
