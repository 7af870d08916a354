from coherence.evaluation.evaluate import evaluate, further_tables, tables
from coherence.evaluation.first_flags import Timeline
from coherence.evaluation.render import Table, markdown
from coherence.evaluation.table import Row
from coherence.files import encode
from paper_rows import SETTINGS, rows, timelines

NAMES = [
    *("failure_rates", "selectivity", "matched", "lead_time", "precision", "overlap", "tertiles"),
    *(
        "landmark",
        "description",
        "adjusted",
        "tests",
        "paired",
        "scores",
        "regression",
        "calibration",
        "across",
    ),
]
SEVERAL = {"across"}  # sets datasets side by side


def made(of: list[Row], times: dict[str, dict[str, Timeline]]) -> list[Table]:
    return [*tables(evaluate(of, SETTINGS, times)), *further_tables(of, SETTINGS)]


def test_every_table_has_rows_and_says_what_is_simulated() -> None:
    found = made(rows(), timelines())
    assert [table.name for table in found] == NAMES
    found = [table for table in found if table.name not in SEVERAL]
    assert all(table.rows and len(table.rows) <= len(table.records) for table in found)
    assert {table.note for table in found} == {"qwen is simulated: counts."}
    assert {table.datasets for table in found} == {("qwen",)}


def test_the_order_of_rows_changes_no_figure() -> None:
    one, two = made(rows(), timelines()), made(rows()[::-1], timelines())
    assert [markdown(table) for table in one] == [markdown(table) for table in two]


def test_same_rows_same_bytes() -> None:
    assert encode(made(rows(), timelines())) == encode(made(rows(), timelines()))


def test_datasets_are_apart() -> None:
    for table in made([*rows(), *rows("other")], timelines() | timelines("other")):
        if table.name not in SEVERAL:
            half = len(table.rows) // 2
            assert [row[1:] for row in table.rows[:half]] == [row[1:] for row in table.rows[half:]]


def test_no_rows_make_empty_tables() -> None:
    assert [table.rows for table in made([], {})] == [()] * len(NAMES)
