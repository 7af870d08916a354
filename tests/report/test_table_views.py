"""Tables as printed: grouped where the first column repeats, nothing lost but columns that say nothing."""

from coherence.report.blocks import Table
from coherence.report.table_views import Cell, cell, table_view


def test_rows_are_grouped_under_a_repeated_first_cell() -> None:
    table = Table("T", "c", ("Dataset", "n"), (("a", "1"), ("a", "2"), ("b", "3")))
    view = table_view(table)
    assert view.columns == ("n",)
    assert [(g.heading, [row[0].text for row in g.rows]) for g in view.groups] == [
        ("a", ["1", "2"]),
        ("b", ["3"]),
    ]


def test_rows_with_first_cells_of_their_own_are_not_grouped() -> None:
    view = table_view(Table("T", "c", ("Dataset", "n"), (("a", "1"), ("b", "2"))))
    assert (view.columns, [group.heading for group in view.groups]) == (("Dataset", "n"), [""])


def test_a_column_without_any_value_is_left_out() -> None:
    view = table_view(Table("T", "c", ("a", "empty", "b"), (("x", "-", "1"), ("y", "", "2"))))
    assert view.columns == ("a", "b")


def test_a_table_without_rows_keeps_its_columns() -> None:
    view = table_view(Table("T", "c", ("a", "b"), ()))
    assert (view.columns, view.groups) == (("a", "b"), ())


def test_a_bracket_behind_a_value_is_its_detail() -> None:
    assert cell("5/6 (83 %; 50 to 100)") == Cell("5/6", "83 %; 50 to 100")


def test_other_text_is_left_whole() -> None:
    texts = ("not applicable: no trajectory is risky", "(a)", "f(x) (y)", "-")
    assert [cell(text).text for text in texts] == [*texts[:3], "–"]


def test_numbers_are_told_from_text() -> None:
    view = table_view(Table("T", "c", ("a", "n", "t"), (("x", "1,234", "5 trials"), ("y", "-", "6"))))
    assert view.kinds == ("word", "number", "word")


def test_a_column_of_long_cells_is_prose() -> None:
    rows = (("a", "short"), ("b", "left out for a reason that takes a whole sentence to say"))
    assert table_view(Table("T", "C", ("Name", "Note"), rows)).kinds == ("word", "prose")
