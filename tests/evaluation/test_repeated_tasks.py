"""Tables that compare outcomes say of which datasets they take attempts at one task for independent."""

import pytest
from msgspec.structs import replace

from coherence.evaluation.evaluate import evaluate, further_tables, tables
from coherence.evaluation.repeated_tasks import COMPARING, independence, repeating, with_independence
from coherence.evaluation.table import Row
from paper_rows import SETTINGS, rows

SAID = (
    "Attempts at one task count as independent (again): the table tests has intervals with tasks resampled."
)


def twice() -> list[Row]:
    again = [replace(row, dataset="again", task=f"task{int(row.id[1:]) // 4}") for row in rows()]
    return [*rows(), *again]


def test_what_repeats_is_what_can_be_compared() -> None:
    assert repeating(twice()) == ("again",)
    assert repeating([replace(row, excluded="other") for row in twice()]) == ()
    assert repeating([replace(row, outcome="unknown") for row in twice()]) == ()
    assert repeating([]) == ()


@pytest.mark.parametrize(
    ("shown", "said"), [(("a", "again", "again"), SAID), (("a",), ""), ((), "")], ids=["one", "other", "none"]
)
def test_only_a_dataset_shown_is_named(shown: tuple[str, ...], said: str) -> None:
    assert independence(shown, ("again",)) == said


def test_captions_of_tables_that_compare_outcomes_say_so() -> None:
    plain = [*tables(evaluate(twice(), SETTINGS, {})), *further_tables(twice(), SETTINGS)]
    for before, after in zip(plain, with_independence(plain, twice()), strict=True):
        says = before.name in COMPARING and "again" in before.datasets
        assert after.caption == (f"{SAID} {before.caption}" if says else before.caption)
    names = {table.name for table in plain}
    assert names - COMPARING == {"description", "across", "lead_time"}


def test_tables_stay_as_they_are_where_no_task_repeats() -> None:
    plain = tables(evaluate(rows(), SETTINGS, {}))
    assert tuple(with_independence(plain, rows())) == plain
