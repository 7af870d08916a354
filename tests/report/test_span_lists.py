"""The list of spans of one judge: ordered, bounded, and honest about what it leaves out."""

from report_samples import trial

from coherence.records import Judgement, Span
from coherence.report.blocks import SpanList
from coherence.report.span_lists import span_list

TRIALS = {name: trial(id=name) for name in ("a", "b", "c")}


def span(number: int, step: int) -> Span:
    return Span(number, step, step, step, "q", step, "q", "other")


def flagged(trajectory: str, *spans: Span, sample: int = 0) -> Judgement:
    return Judgement(trajectory, "detector", "rules", "flagged", spans=spans, sample=sample)


def listed(*judgements: Judgement, shown: int = 10) -> SpanList:
    found = span_list(judgements, TRIALS, {"a"}, shown)
    assert found is not None
    return found


def test_spans_come_by_trajectory_sample_and_step() -> None:
    words = (
        flagged("b", span(1, 3)),
        flagged("a", span(1, 9), span(2, 4)),
        flagged("a", span(1, 1), sample=1),
    )
    cards = listed(*words).cards
    assert [(card.trial.id, card.sample, card.span.acknowledgment_step) for card in cards] == [
        ("a", 0, 4),
        ("a", 0, 9),
        ("a", 1, 1),
        ("b", 0, 3),
    ]


def test_the_list_is_cut_and_counts_what_there_is() -> None:
    found = listed(flagged("a", span(1, 1), span(2, 2)), flagged("b", span(1, 1)), shown=2)
    assert (len(found.cards), found.total, found.trajectories) == (2, 3, 2)


def test_only_trajectories_with_a_page_are_linked() -> None:
    found = listed(flagged("a", span(1, 1)), flagged("b", span(1, 1)))
    assert [card.linked for card in found.cards] == [True, False]


def test_a_flag_without_a_span_is_counted() -> None:
    assert listed(flagged("a", span(1, 1)), flagged("c")).without_spans == 1


def test_the_list_knows_judge_and_dataset() -> None:
    found = listed(flagged("c"))
    assert (found.judge, found.dataset, found.cards) == ("detector", "d", ())


def test_without_a_flag_there_is_no_list() -> None:
    assert span_list([Judgement("a", "detector", "rules", "unflagged")], TRIALS, set()) is None
