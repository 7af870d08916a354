"""Flags before and after: what counts, against what, and what is left out and said so."""

from collections.abc import Sequence

import pytest

from coherence.evaluation.paraphrase_tables import paraphrase_tables
from coherence.evaluation.paraphrased import (
    ALL,
    FAULTLESS,
    WITHOUT,
    Manipulated,
    Pair,
    Summary,
    first_paraphrase,
    pairs,
    side,
    summaries,
)
from coherence.paraphrase.checks import Checked, check
from coherence.paraphrase.choosing import CHOSEN, Considered
from coherence.paraphrase.rewriting import Manipulation, Rewrite, Rewritten
from coherence.records import Judgement, QuoteCheck, Span
from coherence.stats.proportions import CLOPPER_PEARSON
from coherence.vocabulary import ConflictType

BEFORE, AFTER = "But it is 7, so far.", "It is 7, up to here."


def span(kind: ConflictType = "other", confidence: int | None = 3, flags: bool = True) -> Span:
    check_ = QuoteCheck("exact", 2, "thought", 0, 0, 3)
    return Span(1, 2, 2, 2, "But", 2, "ls", kind, confidence, acknowledgment_check=check_, flags=flags)


def word(trajectory: str, *spans: Span, judge: str = "detector", sample: int = 0) -> Judgement:
    state = "flagged" if spans else "unflagged"
    return Judgement(trajectory, judge, "recorded", state, spans=spans, sample=sample)  # type: ignore[arg-type]


def unjudged(trajectory: str, reason: str) -> Judgement:
    return Judgement(trajectory, "detector", "recorded", "unjudged", reason=reason)


def checked(trajectory: str, after: str | None = AFTER) -> Checked:
    rewrite = Rewrite(2, 0, after, None if after else "refusal")
    made = Rewritten(trajectory, "paraphrase", (rewrite,), basis="p v1")
    return Checked(made, (check((2, 0), BEFORE, after, "paraphrase"),))


def manipulated(
    before: Sequence[Judgement],
    after: Sequence[Judgement],
    *rows: Checked,
    seeds: tuple[str, ...] = (),
    name: str = "p",
    manipulation: Manipulation = "paraphrase",
) -> Manipulated:
    ids = list(dict.fromkeys(one.trajectory for one in before))
    considered = [Considered(one, CHOSEN, one) for one in ids] + [Considered("x", "not among those compared")]
    return Manipulated(
        dataset="d",
        paraphrase=name,
        how="by hand",
        manipulation=manipulation,
        judge="detector",
        considered=tuple(considered),
        checked=rows or tuple(checked(one) for one in ids),
        before=tuple(before),
        after=tuple(after),
        tasks={one: f"task-{one}" for one in ids},
        seeds=seeds,
        simulated="made up",
    )


def summed(made: Manipulated) -> dict[str, Summary]:
    return {one.reading: one for one in summaries(made, pairs(made))}


def test_kept_flags_are_counted_with_an_exact_interval() -> None:
    made = manipulated([word(t, span()) for t in "abcdefgh"], [word(t, span()) for t in "abcdefgh"])
    kept = summed(made)[ALL].kept
    assert kept.interval is not None
    assert (kept.count, kept.n, kept.interval.method) == (8, 8, CLOPPER_PEARSON)
    assert kept.interval.low == pytest.approx(0.025 ** (1 / 8))  # 8 of 8: (alpha/2)^(1/n)


def test_unjudged_is_in_no_share_and_says_why() -> None:
    before = [word("a", span()), word("b", span()), word("c", span()), word("d", span())]
    after = [word("a", span()), unjudged("b", "not_rewritten"), word("c")]
    found = summed(manipulated(before, after))[ALL]
    assert (found.kept.count, found.kept.n) == (1, 2)
    assert found.unjudged == {"after not rewritten": 1, "after missing": 1}
    assert (found.spans_n, found.spans_before, found.spans_after) == (2, 2, 1)


def test_flags_that_come_are_counted_apart_from_flags_that_stay() -> None:
    found = summed(
        manipulated([word("a"), word("b"), word("c", span())], [word("a", span()), word("b"), word("c")])
    )
    one = found[ALL]
    assert (one.new.count, one.new.n, one.kept.count, one.kept.n) == (1, 2, 0, 1)


def test_types_are_compared_only_where_both_sides_have_one() -> None:
    before = [
        word("a", span("tool_output_vs_plan", 2), span("other", 4)),
        word("b", span("other")),
        word("c", span("other")),
    ]
    after = [word("a", span("other", 1)), word("b", span("inference_vs_inference")), word("c")]
    found = summed(manipulated(before, after))[ALL]
    assert (found.same_surest_type.count, found.same_surest_type.n) == (1, 2)
    assert (found.same_types.count, found.same_types.n) == (0, 2)


def test_spans_that_do_not_flag_are_no_spans() -> None:
    assert side(word("a", span(flags=False), span("other", 2))).spans == 1


def test_a_flag_that_does_not_say_where_has_unknown_spans() -> None:
    bare = Judgement("a", "detector", "recorded", "flagged", spans_known=False)
    found = summed(manipulated([bare], [word("a", span())]))[ALL]
    assert side(bare).spans is None
    assert (found.kept.count, found.spans_n, found.same_types.n) == (1, 0, 0)


def test_confidence_is_averaged_where_both_sides_give_one() -> None:
    before = [word("a", span(confidence=4)), word("b", span(confidence=None)), word("c", span(confidence=2))]
    after = [word(t, span(confidence=1)) for t in "abc"]
    found = summed(manipulated(before, after))[ALL]
    assert (found.confidence_n, found.confidence_before, found.confidence_after) == (2, 3, 1)


def test_the_majority_of_the_samples_counts_on_both_sides() -> None:
    before = [word("a", span(), sample=n) for n in range(3)]
    after = [word("a", span(), sample=0), word("a", sample=1), word("a", sample=2)]
    assert [(p.before.state, p.after.state) for p in pairs(manipulated(before, after))] == [
        ("flagged", "unflagged")
    ]


def test_seeds_and_faulty_rewrites_are_left_out_in_readings_of_their_own() -> None:
    before = [word(t, span()) for t in "abc"]
    rows = (checked("a"), checked("b", BEFORE + " " + BEFORE), checked("c"))
    found = summed(manipulated(before, before, *rows, seeds=("task-a",)))
    assert {reading: one.trajectories for reading, one in found.items()} == {ALL: 3, WITHOUT: 2, FAULTLESS: 2}


def test_a_reading_that_leaves_out_nothing_is_not_repeated() -> None:
    assert list(summed(manipulated([word("a", span())], [word("a", span())]))) == [ALL]


def only(made: Manipulated) -> Pair:
    (found,) = pairs(made)
    return found


def test_a_pair_sums_its_thoughts_and_knows_what_it_does_not_know() -> None:
    whole = only(manipulated([word("a", span())], [word("a", span())]))
    assert (whole.thoughts, whole.not_rewritten, whole.faulty) == (1, 0, 0)
    assert (whole.characters_before, whole.characters_after) == (len(BEFORE), len(AFTER))
    assert (whole.markers_before, whole.markers_after) == (1, 0)
    lost = only(manipulated([word("a", span())], [], checked("a", None)))
    assert (lost.not_rewritten, lost.faulty, lost.characters_after, lost.markers_after) == (1, 0, None, None)
    assert (lost.same_state, lost.same_types) == (None, None)
    bare = only(
        manipulated([word("a", span())], [], Checked(Rewritten("a", "paraphrase", has_text=False), ()))
    )
    assert (bare.thoughts, bare.faulty, bare.is_faultless) == (None, None, False)


def test_the_paper_is_set_beside_the_first_paraphrase_in_the_narrow_sense() -> None:
    said = [word("a", span())]
    kinds: list[tuple[str, Manipulation]] = [
        ("cut", "cue removal"),
        ("one", "paraphrase"),
        ("two", "paraphrase"),
    ]
    every = [
        row
        for name, kind in kinds
        for row in summed(manipulated(said, said, name=name, manipulation=kind)).values()
    ]
    assert first_paraphrase(every, "d", "detector")[ALL].paraphrase == "one"
    assert first_paraphrase(every, "d", "another") == {}


def test_without_a_paraphrase_there_is_no_table() -> None:
    assert paraphrase_tables([]) == ((), ())


def test_the_tables_say_what_is_simulated_how_intervals_are_made_and_what_proves_little() -> None:
    made = manipulated(
        [word("a", span()), word("b", span())], [word("a", span())], checked("a"), checked("b", None)
    )
    (summary, each, thoughts), _ = paraphrase_tables([made])
    assert all("made up" in table.note for table in (summary, each, thoughts))
    assert CLOPPER_PEARSON in summary.caption
    assert "proves little" in summary.caption
    assert summary.records[0]["unjudged"] == "1 after missing"
    assert summary.records[0]["not_chosen"] == "1 not among those compared"
    assert [row["state_after"] for row in each.records] == ["flagged", "unjudged"]
    assert [row["problems"] for row in thoughts.records] == ["", "not rewritten"]
    assert dict(zip(thoughts.columns, thoughts.rows[0], strict=True))["not rewritten"] == "1"


def test_thoughts_are_shown_once_for_several_judges() -> None:
    made = manipulated([word("a", span())], [word("a", span())])
    (_, each, thoughts), _ = paraphrase_tables([made, made])
    assert (len(each.rows), len(thoughts.rows), len(thoughts.records)) == (2, 1, 1)


def test_where_only_verdicts_are_known_no_check_was_made_and_none_is_shown() -> None:
    made = Checked(Rewritten("t1", "paraphrase", has_text=False), ())
    assert list(summed(manipulated([word("t1", span())], [word("t1", span())], made))) == [ALL]
