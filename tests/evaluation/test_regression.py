import pytest
from msgspec.structs import replace

from coherence.evaluation.groups import splits
from coherence.evaluation.regression import ALONE, WITH_ALL, Term, table, terms
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, Verdict
from paper_rows import SETTINGS, rows


def fitted(made: list[Row], settings: EvaluationSettings = SETTINGS) -> dict[tuple[str, str], Term]:
    return {(row.model, row.name): row for row in terms(tuple(splits(made, settings)), settings)}


def test_the_flag_alone_is_the_two_by_two_table() -> None:
    found = fitted(rows())[ALONE, "flag"]
    assert found.coefficient is not None
    assert found.coefficient.value == pytest.approx(2.473525254, abs=1e-6)
    assert found.underpowered is None


def test_the_rivals_are_beside_it_and_the_model_says_that_it_is_underpowered() -> None:
    found = fitted(rows())
    assert [name for model, name in found if model == WITH_ALL] == ["flag", "think_chars", "lexical"]
    assert {row.underpowered for (model, _), row in found.items() if model == WITH_ALL} == {
        "underpowered: 16 events for 3 covariates"
    }
    # The fit without the flag stalls short of the finest precision here, and has a p all the same.
    assert all(row.coefficient and row.coefficient.p is not None for row in found.values())


def test_a_rating_and_task_categories_join() -> None:
    rated = [
        replace(row, verdicts={**row.verdicts, "generic": Verdict("unflagged", rating=1 + number * 7 % 5)})
        for number, row in enumerate(rows())
    ]
    settings = EvaluationSettings(
        judges=("detector", "generic"),
        rating_at_most={"generic": 3},
        covariates=("lexical",),
        task_categories={f"task{number:02}": "games" for number in range(0, 44, 3)},
    )
    assert [name for model, name in fitted(rated, settings) if model == WITH_ALL] == [
        "flag",
        "lexical",
        "generic rating",
        "category other",
    ]


def test_rows_without_a_covariate_are_left_out_of_the_second_model_only() -> None:
    made = [replace(row, features={**row.features, "lexical": None}) for row in rows()[:6]] + rows()[6:]
    found = fitted(made)
    assert [(found[model, "flag"].n, found[model, "flag"].left_out) for model in (ALONE, WITH_ALL)] == [
        (44, 0),
        (38, 6),
    ]


def test_no_model_has_a_reason() -> None:
    found = fitted([replace(row, outcome="failed") for row in rows()])[ALONE, "flag"]
    assert table([found]).rows[0][5] == "not applicable: all trajectories have one outcome"


def test_a_covariate_that_says_nothing_new_is_named() -> None:
    made = [replace(row, features={**row.features, "lexical": 7.0}) for row in rows()]
    found = fitted(made)[WITH_ALL, "lexical"]
    assert (found.coefficient, found.reason) == (None, "does not vary beside the others")
