"""Tables of counts: three-valued, complete, with the n they rest on."""

from report_samples import trial

from coherence.evaluation.attrition import Attrition
from coherence.records import Entry, Judgement, JudgementState, Substrate
from coherence.report.counts import attrition_table, deviation_table, judgement_table


def word(
    state: JudgementState, reason: str | None = None, substrate: Substrate = "thoughts", sample: int = 0
) -> Judgement:
    return Judgement("t", "detector", "llm", state, reason=reason, substrate=substrate, sample=sample)


def test_unjudged_is_counted_by_reason_and_never_as_unflagged() -> None:
    words = [
        word("flagged"),
        word("unflagged"),
        word("unflagged", substrate="none"),
        word("unjudged", "truncated"),
        word("unjudged", "truncated"),
        word("unjudged", "refusal"),
        word("unjudged"),
    ]
    assert judgement_table({"d": {"detector": words}}).rows == (
        ("d", "detector", "7", "1", "2", "1", "4", "truncated 2, reason unknown 1, refusal 1"),
    )


def test_a_judge_without_judgements_has_a_row_of_zeros() -> None:
    assert judgement_table({"d": {"detector": []}}).rows == (("d", "detector", "0", "0", "0", "0", "0", ""),)


def test_deviations_are_counted_by_code_with_the_trials_they_are_in() -> None:
    entries = [
        Entry(trial(id="a"), deviations={"unknown_field": 3, "bad_json": 1}),
        Entry(trial(id="b"), deviations={"unknown_field": 2}),
        Entry(trial(id="c")),
    ]
    assert deviation_table({"d": entries}).rows == (
        ("d", "unknown_field", "5", "2", "3"),
        ("d", "bad_json", "1", "1", "3"),
    )


def test_a_dataset_without_deviations_says_none() -> None:
    assert deviation_table({"d": [Entry(trial())]}).rows == (("d", "none", "0", "0", "1"),)


def test_attrition_is_told_by_dataset() -> None:
    table = attrition_table([Attrition("d", "no trajectory", 9, 1234), Attrition("e", "trajectory", 2, 2)])
    assert (table.rows, table.datasets) == (
        (("d", "no trajectory", "9", "1,234"), ("e", "trajectory", "2", "2")),
        ("d", "e"),
    )
