"""`published`: status and basis of each number, and what a run with the paper's datasets adds."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from coherence.evaluation.evaluate import Evaluation, evaluate
from coherence.evaluation.in_the_run import from_run
from coherence.evaluation.numbers import read_numbers
from coherence.evaluation.published import read_published
from coherence.evaluation.published_table import COUNTS, MEASURED, PLANTED, Beside, beside, table
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row
from paper_rows import SETTINGS, rows, timelines

FOLDER = Path(__file__).parents[2] / "data" / "published"


def found(made: list[Row], settings: EvaluationSettings = SETTINGS) -> dict[str, Beside]:
    evaluation = evaluation_of(made, settings)
    numbers, published = read_numbers(FOLDER / "numbers.csv"), read_published(FOLDER / "counts.toml")
    return {row.number.id: row for row in beside(numbers, published, evaluation, made)}


def evaluation_of(made: list[Row], settings: EvaluationSettings = SETTINGS) -> Evaluation:
    return evaluate(made, settings, timelines() if made else {})


def test_without_the_papers_datasets_nothing_rests_on_the_run() -> None:
    rows_ = found([])
    assert {row.basis for row in rows_.values()} == {COUNTS, "a setting of this workflow", "none"}
    assert all(row.run is None for row in rows_.values())
    assert rows_["qwen.gap_diff.generic"].status == "match"
    assert rows_["qwen.markers.max"].status == "not recomputable"
    assert rows_["qwen.markers.max"].reason == "needs the trajectories, which are not public"
    assert rows_["text.conflict_types"].status == "paper contradicts itself"
    assert rows_["qwen.overlap.neither"].status == "not printed"
    assert "differs" not in {row.status for row in rows_.values()}


def test_a_planted_number_says_so_and_a_measured_one_too() -> None:
    planted = found(rows())["qwen.markers.median"]
    assert (planted.basis, planted.status) == (PLANTED, "match")
    measured = found(rows(), replace(SETTINGS, simulated={}))["qwen.markers.median"]
    assert (measured.basis, measured.status) == (MEASURED, "match")


def test_counts_stay_the_basis_where_they_give_the_number() -> None:
    row = found(rows())["qwen.strained_coherence.gap"]
    assert (row.basis, row.status, row.run_status) == (COUNTS, "match", "match")


def test_a_run_that_differs_shows() -> None:
    turned = [replace(row, outcome="passed" if row.outcome == "failed" else "failed") for row in rows()]
    row = found(turned)["qwen.strained_coherence.gap"]
    assert (row.status, row.run_status) == ("match", "differs")


def test_the_run_is_read_by_the_papers_ids() -> None:
    made = from_run(evaluation_of(rows()), rows())
    assert made["qwen.fisher_p"].numbers == pytest.approx((0.002635,), abs=1e-6)
    assert list(made["qwen.N"].numbers) == [44]
    assert made["qwen.tertile.low.gap"].numbers == pytest.approx((-30.77,), abs=0.01)
    assert not from_run(evaluation_of([]), [])


def test_an_unjudged_trajectory_is_no_negative_in_the_tertiles() -> None:
    made = rows()
    judge = next(iter(made[0].verdicts))
    silent = [
        replace(row, verdicts={judge: replace(row.verdicts[judge], state="unjudged", reason="api")})
        if row.verdicts[judge].state == "unflagged"
        else row
        for row in made
    ]
    assert "qwen.tertile.mid.gap" not in from_run(evaluation_of(silent), silent)


def test_the_caption_counts_by_basis() -> None:
    made = table(list(found([]).values()), SETTINGS)
    assert "126 of 126 recomputed from published counts" in made.caption
    assert len(made.rows) == len(made.records) == 156
    assert made.note == ""
    simulated = table(list(found(rows()).values()), SETTINGS)
    assert "planted in the reconstruction" in simulated.caption
    assert simulated.note == "qwen in this run is simulated: counts."
