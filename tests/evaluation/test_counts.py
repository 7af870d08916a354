"""Tables of counts: three-valued, complete, with the n they rest on."""

from msgspec.structs import replace

from coherence.evaluation.attrition import Attrition
from coherence.evaluation.counts import (
    attrition_table,
    count_deviations,
    count_judgements,
    deviation_table,
    judgement_table,
)
from coherence.records import (
    Entry,
    Judgement,
    JudgementState,
    Lost,
    Outcome,
    QuoteCheck,
    QuoteVerdict,
    Span,
    Substrate,
    Trial,
)


def word(
    state: JudgementState,
    reason: str | None = None,
    substrate: Substrate = "thoughts",
    spans: tuple[Span, ...] = (),
) -> Judgement:
    return Judgement("t", "detector", "llm", state, reason=reason, substrate=substrate, spans=spans)


def entry(name: str, **deviations: int) -> Entry:
    return Entry(Trial(name, "d", "task", name, "r", name, Outcome("failed"), "ok"), deviations=deviations)


def span(first: QuoteVerdict, second: QuoteVerdict) -> Span:
    return Span(
        1,
        1,
        2,
        1,
        "a",
        2,
        "b",
        "other",
        acknowledgment_check=QuoteCheck(first),
        action_check=QuoteCheck(second),
    )


def test_unjudged_is_counted_by_reason_and_never_as_unflagged() -> None:
    words = [word("flagged"), word("unflagged"), word("unflagged", substrate="none")]
    words += [word("unjudged", reason) for reason in ("truncated", "truncated", "refusal", None)]
    row = count_judgements("d", "detector", words)
    assert (row.n, row.flagged, row.unflagged, row.unjudged, row.without_thoughts) == (7, 1, 2, 4, 1)
    assert row.reasons == "no reason given 1, refusal 1, truncated 2"


def test_both_quotes_of_every_span_are_counted() -> None:
    words = [word("flagged", spans=(span("exact", "absent"), span("normalised", "exact")))]
    row = count_judgements("d", "detector", words)
    assert (row.spans, row.exact, row.normalised, row.absent, row.wrong_step) == (2, 2, 1, 1, 0)


def test_a_judge_without_judgements_has_a_row_of_zeros() -> None:
    table = judgement_table([count_judgements("d", "detector", [])], {})
    assert table.rows[0][2:6] == ("0", "0", "0", "0")


def test_deviations_are_counted_by_code_with_the_trials_they_are_in() -> None:
    entries = [entry("a", unknown_field=3, bad_json=1), entry("b", unknown_field=2), entry("c")]
    assert deviation_table(count_deviations("d", entries), {}).rows == (
        ("d", "unknown_field", "5", "2", "3"),
        ("d", "bad_json", "1", "1", "3"),
    )


def test_a_dataset_without_deviations_says_none() -> None:
    assert deviation_table(count_deviations("d", [entry("a")]), {}).rows == (("d", "none", "0", "0", "1"),)


def test_simulated_data_say_so_in_every_form_of_the_table() -> None:
    table = attrition_table([Attrition("d", "trajectory", 2, 2)], {"d": "made up"})
    assert "made up" in table.note
    assert (table.rows[0][0], table.records[0]["simulated"]) == ("d (simulated)", "made up")


def test_what_was_read_in_parts_asked_again_or_does_not_flag_is_counted() -> None:
    kept = replace(span("absent", "exact"), flags=False)
    words = [replace(word("flagged", spans=(kept, span("exact", "exact"))), windows=3, asked_again=2)]
    row = count_judgements("d", "detector", [*words, word("unflagged")])
    assert (row.spans, row.unverified, row.in_parts, row.asked_again) == (2, 1, 1, 1)


def test_a_flag_beside_a_part_without_an_answer_is_incomplete() -> None:
    lost = (Lost(2, "api"),)
    words = [replace(word("flagged"), lost=lost), word("flagged"), replace(word("unflagged"), lost=lost)]
    assert count_judgements("d", "detector", words).incomplete == 1
