from msgspec.structs import replace

from coherence.evaluation.judge_tables import judge_tables
from paper_rows import SETTINGS, rows


def test_judges_are_compared_with_each_other_in_tables_of_their_own() -> None:
    two = [replace(row, verdicts={**row.verdicts, "other": row.verdicts["detector"]}) for row in rows()]
    made = judge_tables(two, replace(SETTINGS, judges=("detector", "other")), {})
    assert [(table.name, len(table.rows)) for table in made] == [
        ("cross_judge", 1),
        ("type_confusion", 0),
        ("ensembles", 4),
        ("complementary", 0),
        ("proxy_goal", 0),
    ]
    assert {table.note for table in made if table.rows} == {"qwen is simulated: counts."}


def test_no_rows_make_empty_tables() -> None:
    assert [table.rows for table in judge_tables([], SETTINGS, {})] == [()] * 5
