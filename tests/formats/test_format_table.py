import re
from pathlib import Path
from typing import Any

import pytest
from format_samples import codes, put, read_all, read_one

from coherence.errors import InputError
from coherence.formats import Source, load, table
from coherence.records import Judgement, Outcome, Span

TABLE = load("table")


def test_a_row_is_a_trial_without_text(tmp_path: Path) -> None:
    put(tmp_path / "runs.csv", "id,task,attempt,passed,weight,backbone\nr1,sum,2,1,2.5,m\n")
    trial = read_one("table", tmp_path / "runs.csv").trial
    assert trial.id.startswith("r1-")
    assert (trial.task, trial.attempt, trial.weight, trial.backbone) == ("sum", "2", 2.5, "m")
    assert (trial.status, trial.reason, trial.key) == ("no_text", "a row of a table", "runs.csv#r1")
    assert trial.outcome == Outcome("passed")


def test_columns_may_have_other_names(tmp_path: Path) -> None:
    put(tmp_path / "runs.csv", "instance,resolved,id\na__a-1,0,77\n")
    reading = read_one("table", tmp_path, columns={"id": "instance", "passed": "resolved"})
    assert reading.trial.task == reading.trial.attempt == "a__a-1"
    assert reading.trial.outcome == Outcome("failed")


@pytest.mark.parametrize(
    ("column", "cell", "outcome"),
    [
        ("passed", "true", Outcome("passed")),
        ("passed", "failed", Outcome("failed")),
        ("outcome", "passed", Outcome("passed")),
        ("outcome", "0", Outcome("failed")),
        ("failed", "1", Outcome("failed")),
        ("failed", "0", Outcome("passed")),
        ("failed", "failed", Outcome("failed")),
        ("failed", "", Outcome("unknown", reason="no outcome")),
        ("passed", "perhaps", Outcome("unknown", reason="no outcome")),
        ("reward", "1.0", Outcome("passed", 1.0)),
        ("reward", "0.7", Outcome("failed", 0.7)),
        ("reward", "", Outcome("unknown", reason="no reward")),
        ("other", "1", Outcome("unknown", reason="the table has no column of the outcome")),
    ],
)
def test_the_outcome_is_read_from_its_column(
    column: str, cell: str, outcome: Outcome, tmp_path: Path
) -> None:
    put(tmp_path / "runs.csv", f"id,{column}\nr1,{cell}\n")
    assert read_one("table", tmp_path).trial.outcome == outcome


def test_a_mapped_outcome_goes_before_one_found_by_name(tmp_path: Path) -> None:
    put(tmp_path / "runs.csv", "id,reward,lost,error\nr1,1,1,AgentTimeoutError\n")
    outcome = read_one("table", tmp_path, columns={"failed": "lost", "exception": "error"}).trial.outcome
    assert outcome == Outcome("failed", exception="AgentTimeoutError")


def test_features_are_numbers_or_unknown(tmp_path: Path) -> None:
    put(tmp_path / "runs.csv", "id,steps,errors,odd\nr1,12,,many\n")
    reading = read_one("table", tmp_path, feature_columns=("steps", "errors", "odd"))
    assert reading.features == {"steps": 12.0, "errors": None, "odd": None}
    assert codes(reading) == {"cell_unparsable"}


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"feature_columns": ("stepz",)}, "'stepz' (datasets.tested.feature_columns) among: id, steps"),
        ({"columns": {"outcome": "rewrd"}}, "'rewrd' (datasets.tested.columns.outcome) among: id, steps"),
        (
            {"columns": {"id": "key"}},
            "'key' for the id among: id, steps. Name the right one in `datasets.tested.columns.id`",
        ),
        (
            {"verdict_columns": {"human": {"flagged": "flag", "rating": "steps"}}},
            "'flag' (datasets.tested.verdict_columns.human.flagged) among: id, steps",
        ),
    ],
)
def test_a_column_that_is_not_there_is_named_by_its_key(tmp_path: Path, named: Any, said: str) -> None:
    put(tmp_path / "runs.csv", "id,steps\nr1,12\n")
    with pytest.raises(InputError, match=re.escape(f"runs.csv: there is no column {said}")):
        list(read_all("table", tmp_path / "runs.csv", **named))


def test_the_header_alone_is_checked_without_reading_the_rows(tmp_path: Path) -> None:
    put(tmp_path / "runs.tsv", '\ufeffid\t"two\nlines"\nr1\t' + "\u20ac" * table.BEGINNING)
    (unit,) = table.discover(tmp_path / "runs.tsv")
    source = Source("tested", "", feature_columns=("two\nlines",))
    table.check_header(tmp_path / "runs.tsv", unit, source)
    with pytest.raises(InputError, match="no column 'three'"):
        table.check_header(tmp_path / "runs.tsv", unit, Source("tested", "", feature_columns=("three",)))


def test_a_rating_without_a_flag_stands_by_itself(tmp_path: Path) -> None:
    put(tmp_path / "runs.csv", "id,coherence\nr1,2\nr2,\n")
    columns = {"generic": {"rating": "coherence"}}
    words = [reading.judgements[0] for reading in read_all("table", tmp_path, verdict_columns=columns)]
    assert [(word.state, word.reason, word.rating) for word in words] == [
        ("unjudged", "rating only", 2),
        ("unjudged", "missing", None),
    ]


VERDICT = {
    "flagged": "flag",
    "rating": "rating",
    "confidence": "sure",
    "type": "types",
    "acknowledgment_step": "named",
    "action_step": "acted",
    "reason": "why",
    "substrate": "read",
}


def span(number: int, conflict_type: Any) -> Span:
    return Span(number, 4, 9, 4, "", 9, "", conflict_type, 5)


@pytest.mark.parametrize(
    ("cells", "expected", "noted"),
    [
        ("0,4,,,,,,", {"state": "unflagged", "rating": 4}, set()),
        ("1,,,,,,,", {"state": "flagged", "spans_known": False}, set()),
        (
            "1,2,5,other,4,9,,",
            {"state": "flagged", "rating": 2, "spans": (span(1, "other"),)},
            set(),
        ),
        (
            "flagged,,5,inference_vs_inference;tool_output_vs_plan,4,9,,",
            {
                "state": "flagged",
                "spans": (span(1, "inference_vs_inference"), span(2, "tool_output_vs_plan")),
            },
            set(),
        ),
        ("1,,5,new_type,4,9,,", {"state": "flagged", "spans": (span(1, "other"),)}, {"cell_unparsable"}),
        (",,,,,,,", {"state": "unjudged", "reason": "missing"}, set()),
        (",,,,,,refusal,", {"state": "unjudged", "reason": "refusal"}, set()),
        ("unjudged,,,,,,truncated,", {"state": "unjudged", "reason": "truncated"}, set()),
        ("maybe,,,,,,,", {"state": "unjudged", "reason": "unparsable"}, {"cell_unparsable"}),
        ("0,9,,,,,,", {"state": "unflagged"}, {"cell_unparsable"}),
        ("0,,,,,,,none", {"state": "unflagged", "substrate": "none"}, set()),
        ("0,,,,,,,Thoughts", {"state": "unflagged", "substrate": "thoughts"}, set()),
        ("0,,,,,,,prose", {"state": "unflagged"}, {"cell_unparsable"}),
    ],
)
def test_recorded_verdicts_have_three_values(
    cells: str, expected: dict[str, Any], noted: set[str], tmp_path: Path
) -> None:
    put(tmp_path / "runs.csv", f"id,flag,rating,sure,types,named,acted,why,read\nr1,{cells}\n")
    reading = read_one("table", tmp_path, verdict_columns={"reader": VERDICT})
    expected = {"trajectory": reading.trial.id, "judge": "reader", "kind": "recorded", **expected}
    assert reading.judgements == (Judgement(**expected, basis="runs.csv"),)
    assert codes(reading) == noted


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "among: nothing"), ("name,passed\nr1,1\n", "no column 'id' for the id among: name, passed")],
)
def test_a_table_without_an_id_column_is_refused(text: str, message: str, tmp_path: Path) -> None:
    put(tmp_path / "runs.csv", text)
    with pytest.raises(InputError, match=message):
        list(read_all("table", tmp_path / "runs.csv"))


def test_a_foreign_table_in_a_folder_stops_no_other(tmp_path: Path) -> None:
    put(tmp_path / "foreign.csv", "name,passed\nx,1\n")
    put(tmp_path / "runs.csv", "id,passed\nr1,1\n")
    trials = [reading.trial for reading in read_all("table", tmp_path)]
    assert [(trial.key, trial.status) for trial in trials] == [
        ("foreign.csv", "unreadable"),
        ("runs.csv#r1", "no_text"),
    ]
    assert "no column 'id'" in (trials[0].reason or "")


def test_bad_rows_lose_no_others(tmp_path: Path) -> None:
    huge = "x" * 200_000
    put(
        tmp_path / "runs.csv",
        f"id,passed,weight\nr1,1,1\n,0,1\nr1,1,-2\nr4\nr5,1,1,9\nr6,{huge},1\n\nr7,0,x\n",
    )
    readings = list(read_all("table", tmp_path))
    assert [(reading.trial.key, codes(reading)) for reading in readings] == [
        ("runs.csv#r1", set()),
        ("runs.csv#row 2", {"id_missing"}),
        ("runs.csv#r1 (row 3)", {"id_repeated", "cell_unparsable"}),
        ("runs.csv#r4", {"row_length"}),
        ("runs.csv#r5", {"row_length"}),
        ("runs.csv#row 6", {"row_unreadable", "id_missing"}),
        ("runs.csv#r7", {"cell_unparsable"}),
    ]
    assert len({reading.trial.id for reading in readings}) == 7


def test_a_mark_odd_bytes_and_tabs_are_read(tmp_path: Path) -> None:
    put(tmp_path / "runs.tsv", b"\xef\xbb\xbfid\tpassed\r\ncaf\xe9\t1\r\n")
    reading = read_one("table", tmp_path)
    assert reading.trial.task == "caf\ufffd"
    assert codes(reading) == {"byte_order_mark", "invalid_utf8"}


def test_a_folder_gives_each_of_its_tables(tmp_path: Path) -> None:
    for name in ("b.csv", "a/c.tsv", "notes.txt"):
        put(tmp_path / name, "id\tpassed\n")
    assert [unit.key for unit in TABLE.discover(tmp_path)] == ["a/c.tsv", "b.csv"]
    assert [unit.files for unit in TABLE.discover(tmp_path / "b.csv")] == [("b.csv",)]


def test_a_missing_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file or folder"):
        list(TABLE.discover(tmp_path / "missing.csv"))
