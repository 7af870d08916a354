"""Variants of a judge beside it, on the paper's first dataset with a second and a third judge planted."""

import pytest
from msgspec.structs import replace

from coherence.evaluation.ablations import ELSEWHERE, Ablation, ablations, finding
from coherence.evaluation.ablations_table import table
from coherence.evaluation.cost import Cost
from coherence.evaluation.evaluate import evaluate
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, Verdict
from coherence.stats.intervals import Interval
from coherence.stats.paired import mcnemar
from coherence.stats.tables import Counts
from paper_rows import SETTINGS, rows

VARIANTS = {"detector": {"fewer": "drop: Definition", "silent": "drop: Examples", "elsewhere": "model: x"}}
ABLATED = replace(SETTINGS, ablations=VARIANTS)
NOT_RUN = Verdict("unjudged", "not_run")


def made() -> list[Row]:
    """The paper's rows; `fewer` flags what the detector flags with confidence 5, `silent` was not run."""

    def verdicts(row: Row) -> dict[str, Verdict]:
        word = row.verdicts["detector"]
        sure = word if word.max_confidence == 5 else Verdict("unflagged")
        return {"detector": word, "fewer": sure, "silent": NOT_RUN}

    return [replace(row, verdicts=verdicts(row)) for row in rows()]


def by_judge(
    made: list[Row], settings: EvaluationSettings = ABLATED, costs: tuple[Cost, ...] = ()
) -> dict[str, Ablation]:
    return {row.judge: row for row in ablations(made, settings, costs)}


def test_the_full_judge_comes_first_and_is_compared_with_nothing() -> None:
    found = list(ablations(made(), ABLATED))
    assert [row.judge for row in found] == ["detector", "fewer", "silent", "elsewhere"]
    assert (found[0].comparison.counts, found[0].k) == (Counts(15, 16, 13, 28), 16)
    assert (found[0].pair, found[0].changed, found[0].not_run) == (None, "", "")


def test_a_variant_is_compared_on_the_trajectories_both_judged() -> None:
    fewer = by_judge(made())["fewer"]
    assert (fewer.flagged.count, fewer.flagged.n) == (10, 44)
    assert fewer.comparison.counts == Counts(10, 10, 18, 34)
    assert fewer.pair is not None
    assert fewer.pair.flags == mcnemar(0, 6)
    assert fewer.pair.right == mcnemar(1, 5)  # of the six flags it lacks, five failed
    assert fewer.pair.points == pytest.approx(-400 / 44)
    assert (fewer.pair.n, fewer.pair.finding) == (44, "undecided")


def test_precision_is_at_the_number_of_flags_of_the_full_judge() -> None:
    fewer = by_judge(made())["fewer"]
    assert fewer.k == 16
    assert fewer.matched is not None
    assert fewer.matched.expected == pytest.approx(10 + 6 * 18 / 34)


def test_the_first_k_are_shown_with_the_number_they_are_the_first_of() -> None:
    shown = table([by_judge(made())["fewer"]], ABLATED)
    cell = dict(zip(shown.columns, shown.rows[0], strict=True))["Failed among the first k"]
    assert cell.endswith(", n = 44")


def test_holm_is_over_the_variants_that_ran() -> None:
    twice = [replace(row, verdicts={**row.verdicts, "silent": row.verdicts["fewer"]}) for row in made()]
    pair = by_judge(twice)["fewer"].pair
    assert pair is not None
    assert pair.holm_p == pytest.approx(2 * pair.right.exact_p)


@pytest.mark.parametrize("judge", ["silent", "elsewhere"])
def test_what_was_not_run_says_why_and_has_no_numbers(judge: str) -> None:
    found = by_judge(made())[judge]
    reason = {"silent": "no stored reply, and the run is offline", "elsewhere": ELSEWHERE}[judge]
    assert (found.not_run, found.flagged.n, found.comparison.gap, found.pair) == (reason, 0, None, None)
    assert found.unjudged == 44
    shown = dict(zip(table([found], ABLATED).columns, table([found], ABLATED).rows[0], strict=True))
    assert shown["Flagged"] == f"not run: {reason}"
    assert {shown[name] for name in ("Gap", "Failed among the first k", "Right, less full")} == {"-"}


def test_trajectories_without_a_thought_do_not_make_a_judge_that_ran() -> None:
    silent = Verdict("unflagged", substrate="none")
    some = [replace(row, verdicts={**row.verdicts, "silent": silent}) for row in made()[:3]] + made()[3:]
    assert by_judge(some)["silent"].not_run
    heard = [*some[:-1], replace(some[-1], verdicts={**some[-1].verdicts, "silent": Verdict("flagged")})]
    found = by_judge(heard)["silent"]
    assert (found.not_run, found.unjudged, found.flagged.count) == ("", 40, 1)


def test_without_the_full_judge_variants_stand_alone() -> None:
    lost = [replace(row, verdicts={**row.verdicts, "detector": NOT_RUN}) for row in made()]
    found = by_judge(lost)["fewer"]
    assert (found.k, found.pair, found.comparison.counts) == (None, None, Counts(10, 10, 18, 34))
    assert "no k: the full judge was not run" in table([found], ABLATED).rows[0]


def test_costs_are_summed_over_models_and_a_judge_without_calls_has_none() -> None:
    costs = (
        Cost("qwen", "fewer", "a", calls=2, dollars=0.5, input=10),
        Cost("qwen", "fewer", "b", calls=1, dollars=0.25, unknown=1),
        Cost("gemma", "fewer", "a", calls=9, dollars=9.0),
    )
    found = by_judge(made(), costs=costs)
    shown = table(list(found.values()), ABLATED)
    cells = [dict(zip(shown.columns, row, strict=True))["Cost"] for row in shown.rows]
    assert cells[:2] == ["calls no model", "0.75 $, 3 calls, 1 of unknown cost"]


@pytest.mark.parametrize(
    ("low", "high", "n", "expected"),
    [
        (1, 30, 60, "better"),
        (1, 9, 60, "better"),
        (-30, -1, 60, "worse"),
        (-10, 10, 60, "equal"),
        (-4, 6, 59, "undecided"),
        (-11, 5, 600, "undecided"),
        (-1, 12, 600, "undecided"),
    ],
)
def test_the_criteria(low: float, high: float, n: int, expected: str) -> None:
    assert finding(Interval(low, high, "m", n), n, ABLATED) == expected


def test_no_pair_decides_nothing() -> None:
    assert finding(None, 0, ABLATED) == "undecided"


def test_a_dataset_that_none_of_them_judges_has_no_row() -> None:
    other = [replace(row, dataset="other", verdicts={"rules": Verdict("flagged")}) for row in rows()]
    assert [row.dataset for row in ablations(other, ABLATED)] == []


def test_what_is_simulated_is_said() -> None:
    assert table(list(ablations(made(), ABLATED)), ABLATED).note == "qwen is simulated: counts."


def test_the_evaluation_holds_them() -> None:
    evaluation = evaluate(made(), ABLATED, {})
    assert [row.judge for row in evaluation.ablations] == ["detector", "fewer", "silent", "elsewhere"]
    assert {row.reading.judge for row in evaluation.failure_rates} == {"detector", "-"}


def test_a_judge_that_only_rates_did_run() -> None:
    rated = [
        replace(row, verdicts={"detector": Verdict("unjudged", "rating only", rating=3)}) for row in rows()
    ]
    found = by_judge(rated, replace(ABLATED, rating_at_most={"detector": 3}))
    assert (found["detector"].not_run, found["detector"].flagged.n) == ("", 44)
