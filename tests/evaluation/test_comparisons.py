from paper_rows import SETTINGS, rows, timelines

from coherence.evaluation.comparisons import further_tables
from coherence.evaluation.render import markdown
from coherence.files import encode

NAMES = ["tests", "adjusted", "paired", "scores", "regression", "calibration", "landmark"]


def test_every_table_has_rows_and_says_what_is_simulated() -> None:
    made = further_tables(rows(), SETTINGS, timelines())
    assert [table.name for table in made] == NAMES
    assert all(table.rows and len(table.rows) == len(table.records) for table in made)
    assert {table.note for table in made} == {"qwen is simulated: counts."}
    assert {table.datasets for table in made} == {("qwen",)}


def test_the_order_of_rows_changes_no_figure() -> None:
    one = further_tables(rows(), SETTINGS, timelines())
    two = further_tables(rows()[::-1], SETTINGS, timelines())
    assert [markdown(table) for table in one] == [markdown(table) for table in two]


def test_same_rows_same_bytes() -> None:
    assert encode(further_tables(rows(), SETTINGS, timelines())) == encode(
        further_tables(rows(), SETTINGS, timelines())
    )


def test_datasets_are_apart() -> None:
    made = further_tables([*rows(), *rows("other")], SETTINGS, timelines() | timelines("other"))
    for table in made:
        half = len(table.rows) // 2
        assert [row[1:] for row in table.rows[:half]] == [row[1:] for row in table.rows[half:]]


def test_no_rows_make_empty_tables() -> None:
    assert [table.rows for table in further_tables([], SETTINGS, {})] == [()] * len(NAMES)
