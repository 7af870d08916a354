"""Agreement of judges; the coefficients themselves are proven in tests/stats."""

import pytest
from judge_words import SETTINGS, rows, span, words
from msgspec.structs import replace

from coherence.evaluation.agreement import kappa
from coherence.evaluation.cross_judge import JudgePair, cross_judge, table
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.type_confusion import NO_SPAN, type_confusion
from coherence.evaluation.type_confusion import table as confusion_table
from coherence.records import Judgement

REFERENCE = replace(SETTINGS, references=("a",))


def pairs(
    judged: dict[str, dict[str, Judgement]], settings: EvaluationSettings = SETTINGS, outcomes: str = "FFPPFP"
) -> list[JudgePair]:
    return list(cross_judge(rows(outcomes, judged), settings, {"set": judged}))


def test_two_judges_on_what_both_judged() -> None:
    (found,) = pairs({"a": words("ffuuf?"), "b": words("fufuu.")})
    assert (found.first, found.second, found.n) == ("a", "b", 5)
    assert (found.both, found.first_only, found.second_only, found.neither) == (1, 2, 1, 1)
    assert (found.agreed.count, found.agreed.n) == (2, 5)
    assert found.kappa == kappa(1, 2, 1, 1)
    assert (found.left_out, found.without_thoughts) == (0, 1)
    assert (found.precision, found.recall) == (None, None)


def test_alpha_and_ac1_are_those_of_the_pairs() -> None:
    (same,) = pairs({"a": words("ffuuff"), "b": words("ffuuff")})
    assert (same.ac1.value, same.alpha.value) == pytest.approx((1, 1))
    (other,) = pairs({"a": words("fffuuu"), "b": words("uuufff")})
    assert other.alpha.value == pytest.approx(1 - 1 / (72 / 132))
    assert other.ac1.value == pytest.approx((0 - 0.5) / 0.5)


def test_a_reference_is_second_and_has_precision_and_recall_with_exact_intervals() -> None:
    (found,) = pairs({"a": words("fffuuu"), "b": words("ffuuuf")}, REFERENCE)
    assert (found.first, found.second) == ("b", "a")
    assert found.precision is not None and found.recall is not None
    assert (found.precision.count, found.precision.n, found.recall.count, found.recall.n) == (2, 3, 2, 3)
    assert found.precision.interval is not None
    assert found.precision.interval.method == "Clopper-Pearson"


def test_three_judges_have_three_pairs_and_a_row_for_all() -> None:
    found = pairs({"a": words("ffuu?u"), "b": words("fuuu?u"), "c": words("ffufuu")})
    assert [(row.first, row.second) for row in found[:3]] == [("a", "b"), ("a", "c"), ("b", "c")]
    everyone = found[3]
    assert (everyone.first, everyone.second, everyone.n) == ("all 3: a, b, c", "", 5)
    assert (everyone.agreed.count, everyone.kappa, everyone.left_out) == (3, None, 1)


def test_a_trajectory_without_thoughts_is_left_out_of_the_pairs_that_do_not_judge_it_and_no_others() -> None:
    found = pairs({"a": words("ffuu.."), "b": words("fuuuf?"), "c": words("ffufuf")})
    left = {(row.first, row.second): (row.n, row.without_thoughts, row.left_out) for row in found}
    assert left == {
        ("a", "b"): (4, 2, 0),
        ("a", "c"): (4, 2, 0),
        ("b", "c"): (5, 0, 1),
        ("all 3: a, b, c", ""): (5, 1, 0),
    }


def test_judges_without_a_common_trajectory_say_nothing() -> None:
    (found,) = pairs({"a": words("ff????"), "b": words("??ffuu")})
    assert (found.n, found.ac1.value, found.alpha.value, found.left_out) == (0, None, None, 6)
    assert found.kappa is not None and found.kappa.reason == "no trajectory was judged by both"
    assert table([found], SETTINGS).rows[0][3] == "0"


def test_spans_meet_where_they_share_a_step() -> None:
    one = words("ffuuuu", spans=(span(2, 4, "tool_output_vs_plan"), span(9, 9)))
    two = words("fufuuu", spans=(span(4, 6, "inference_vs_inference"),))
    (found,) = pairs({"a": one, "b": two})
    assert found.spans is not None
    assert (found.spans.first.count, found.spans.first.n) == (1, 4)
    assert (found.spans.second.count, found.spans.second.n) == (1, 2)
    assert (found.spans.types.count, found.spans.types.n) == (0, 1)


@pytest.mark.parametrize("flags", ["ffuuuu", "uuuuuf"])
def test_a_judge_that_never_says_where_has_no_place_to_compare(flags: str) -> None:
    (found,) = pairs({"a": words("ffuuuu", spans=(span(1, 2),)), "b": words(flags, spans_known=False)})
    assert found.spans is None
    assert found.n == 6


def test_a_rating_judge_is_compared_by_its_threshold() -> None:
    rated = {
        name: replace(word, rating=2 if word.state == "flagged" else 5)
        for name, word in words("ffuuuu").items()
    }
    (found,) = pairs({"a": words("fuuuuu"), "b": rated}, replace(SETTINGS, rating_at_most={"b": 2}))
    assert (found.both, found.second_only) == (1, 1)


def test_variants_of_a_judge_are_no_judges_of_their_own() -> None:
    chosen = replace(SETTINGS, judges=("a", "b"))
    assert len(pairs({"a": words("ffuuuu"), "b": words("ffuuuu"), "c": words("ffuuuu")}, chosen)) == 1


def test_the_confusion_counts_every_span_once() -> None:
    one = words("fuuuuu", spans=(span(2, 4, "tool_output_vs_plan"), span(9, 9)))
    two = words("ffuuuu", spans=(span(4, 6, "inference_vs_inference"), span(20, 21)))
    judged = {"a": one, "b": two}
    found = list(type_confusion(rows("FFPPFP", judged), SETTINGS, {"set": judged}))
    cells = {(row.first_type, row.second_type): row.spans for row in found}
    assert cells == {
        ("tool_output_vs_plan", "inference_vs_inference"): 1,
        ("other", NO_SPAN): 1,
        (NO_SPAN, "inference_vs_inference"): 1,
        (NO_SPAN, "other"): 2,
    }
    assert {row.n for row in found} == {5}
    assert confusion_table(found).rows[0][-1].endswith("/5")


def test_the_caption_names_methods_references_and_draws() -> None:
    made = table(pairs({"a": words("fu"), "b": words("fu")}, REFERENCE, "FP"), REFERENCE)
    expected = (
        "Cohen's",
        "Gwet's",
        "Krippendorff's",
        "Clopper-Pearson",
        "100 resamples, seed 1",
        "reference (a)",
    )
    assert [text for text in expected if text not in made.caption] == []
    assert made.note == "set is simulated: made up."
