"""Outcome files as users write them: what is read, what is counted, and what stops the run."""

import gzip
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from outcome_samples import column, counted, file_of, outcomes_of

from coherence.errors import InputError
from coherence.incoherence.contract import COLUMNS, NUMBERS, TEXTS
from coherence.incoherence.reading import read_outcomes
from coherence.incoherence.source import OutcomeSource


def test_every_column_is_there_with_its_type(tmp_path: Path) -> None:
    frame = outcomes_of(tmp_path, "task,passed\na,1\na,0\n").frame
    assert tuple(frame.columns) == COLUMNS
    assert {str(frame[name].dtype) for name in TEXTS} == {"category"}
    assert {str(frame[name].dtype) for name in NUMBERS} == {"Float64"}
    assert str(frame["passed"].dtype) == "boolean"
    assert frame.drop(columns=["dataset", "group", "task", "attempt", "passed"]).isna().all(axis=None)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.csv", b"task,passed\na,1\na,0\n"),
        ("x.csv", b"\xef\xbb\xbftask,passed\r\na,1\r\na,0\r\n"),
        ("x.tsv", b"task\tpassed\na\t1\na\t0\n"),
        ("x.csv.gz", gzip.compress(b"task,passed\na,1\na,0\n")),
        ("x.tsv.gz", gzip.compress(b"task\tpassed\na\t1\na\t0")),
        ("X.CSV", b'"task","passed"\n"a",true\n"a",FALSE\n'),
    ],
    ids=["csv", "mark and crlf", "tsv", "csv.gz", "tsv.gz", "quoted"],
)
def test_text_files_are_read_alike(name: str, data: bytes, tmp_path: Path) -> None:
    outcomes = outcomes_of(tmp_path, data, name)
    assert (column(outcomes, "task"), column(outcomes, "passed")) == (["a", "a"], [True, False])
    assert column(outcomes, "attempt") == ["1", "2"]
    assert outcomes.counted == ()


def test_parquet_is_read_with_its_types(tmp_path: Path) -> None:
    written = pd.DataFrame(
        {
            "task": [1, 2, 2],
            "group": pd.Categorical(["g", "g", "h"]),
            "passed": pd.array([True, None, False], dtype="boolean"),
            "reward": [1.0, float("nan"), 0.5],
            "answer": [1.0, 2.5, None],
            "steps": [3, 4, 5],
        }
    )
    written.to_parquet(tmp_path / "x.parquet")
    outcomes = read_outcomes(tmp_path / "x.parquet", OutcomeSource("s"))
    assert column(outcomes, "task") == ["1", "2", "2"]
    assert column(outcomes, "passed") == [True, None, False]
    assert column(outcomes, "answer") == ["1", "2.5", None]
    assert column(outcomes, "steps") == [3.0, 4.0, 5.0]
    assert counted(outcomes)["answer without target (kept)"] == (2, "rows", "row 1")


def test_integers_without_a_float_of_their_own_are_numbers(tmp_path: Path) -> None:
    pd.DataFrame({"task": ["a"], "reward": [2**62 + 1], "steps": [2**53 + 1]}).to_parquet(
        tmp_path / "x.parquet"
    )
    outcomes = read_outcomes(tmp_path / "x.parquet", OutcomeSource("s"))
    assert column(outcomes, "reward") == [2.0**62]
    assert column(outcomes, "passed") == [True]


def test_a_parquet_column_of_lists_is_named(tmp_path: Path) -> None:
    pd.DataFrame({"task": ["a"], "tests": [[True, False]]}).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(InputError, match=r"x\.parquet: column 'tests' holds list"):
        read_outcomes(tmp_path / "x.parquet", OutcomeSource("s"))


@pytest.mark.parametrize(
    ("data", "source", "message"),
    [
        ("", {}, r"x\.csv: row 1: there is no header"),
        ("task,passed\n", {}, r"x\.csv: holds no attempts: there are no rows"),
        ("task,passed\n,1\n", {}, r"holds no attempts: 1 row: no task"),
        ("question,passed\na,1\n", {}, r"no column 'task' among: question, passed\. Name the right one"),
        ("task,steps\na,1\n", {}, r"no column has an outcome .* among: task, steps"),
        ("task,task,passed\na,b,1\n", {}, r"row 1: two columns are named 'task'"),
        ("task,passed\na,1\n", {"columns": {"reward": "score"}}, r"no column 'score' among: task, passed"),
        (
            "task,passed\na,1\n\xff,0\n".encode("latin-1"),
            {},
            r"x\.csv: line 3: is not UTF-8",
        ),
        (
            "task,answer,target\na,x,y\nb,x,x\na,x,z\n",
            {},
            r"rows 2 and 4: task 'a' has two values of `target`",
        ),
        ("task,number,target_number\na,1,1\na,1,2\n", {}, r"rows 2 and 3: .* two values of `target_number`"),
        ("task,attempt,passed\na,1,1\nb,1,0\na,1,0\n", {}, r"rows 2 and 4: attempt '1' of task 'a' in group"),
        ("task,passed\na,1\n", {"kind": "tests"}, r"no row has what `kind: tests` needs: tests"),
        ("group,task,passed\ng,a,1\n", {"groups": ("z",)}, r"outcomes\.s\.groups: no group 'z' among: g"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else "",
)
def test_what_stops_the_run_is_named(
    data: str | bytes, source: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        outcomes_of(tmp_path, data, **source)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("x.csv.gz", b"\x1f\x8b\x08\x00junk", "cannot be read"),
        ("x.csv.gz", gzip.compress(b"task,passed\n" + b"a,1\n" * 99_999)[:-40], "ended before the end"),
        ("x.csv.gz", b"task,passed\na,1\n", "Not a gzipped file"),
        ("x.parquet", b"PAR1junk", "cannot be read"),
        ("x.xlsx", b"PK", r"outcomes are read from \.csv"),
    ],
    ids=["damaged", "cut", "no gzip", "parquet", "xlsx"],
)
def test_a_file_that_is_no_table_is_named(name: str, data: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"{name}: .*{message}"):
        outcomes_of(tmp_path, data, name)


@pytest.mark.parametrize(("name", "message"), [("gone.csv", "no such file"), (".", "not a file")])
def test_a_path_that_is_no_file_is_named(name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_outcomes(tmp_path / name, OutcomeSource("s"))


def test_columns_may_have_other_names_and_unknown_ones_are_counted(tmp_path: Path) -> None:
    data = "question,task,ok,note\nq1,ignored,1,x\nq1,ignored,0,y\n"
    outcomes = outcomes_of(tmp_path, data, columns={"task": "question", "passed": "ok"})
    assert column(outcomes, "task") == ["q1", "q1"]
    assert counted(outcomes) == {"column unknown": (2, "columns", "task, note")}


def test_a_row_of_another_width_is_left_out_with_its_number(tmp_path: Path) -> None:
    outcomes = outcomes_of(tmp_path, 'task,passed\n"a\nb",1\nb\nc,0,7\n\nd,0\n')
    assert column(outcomes, "task") == ["a\nb", "d"]
    # The empty line is a row of one empty cell: it is no broken row, and it has no task.
    assert counted(outcomes)["another number of cells than the header"] == (2, "rows", "row 3")


@pytest.mark.parametrize(
    ("header", "cells", "reason", "count", "where"),
    [
        ("reward", ["NaN", "1", "0"], "outcome unknown (kept)", 1, "row 2"),
        ("reward", ["1", "inf", "abc"], "reward: not a finite number", 2, "row 3"),
        ("passed", ["1", "0", "perhaps"], "passed: neither true nor false", 1, "row 4"),
        ("tests", ["101", "1-0", "abc"], "tests: not a string of 1, 0 and -", 1, "row 4"),
        ("tests", ["101", "10", "000"], "tests: another number of tests than the task has", 1, "row 3"),
        ("passed,steps", ["1,-5", "1,x", "1,1_0"], "steps: not a number of at least 0", 3, "row 2"),
    ],
)
def test_bad_cells_are_unknown_and_counted(
    header: str, cells: list[str], reason: str, count: int, where: str, tmp_path: Path
) -> None:
    rows = "".join(f"a,{cell}\n" for cell in cells)
    outcomes = outcomes_of(tmp_path, f"task,{header}\n{rows}")
    assert counted(outcomes)[reason][::2] == (count, where)
    assert len(outcomes.frame) == 3


@pytest.mark.parametrize(
    ("cell", "read"),
    [
        ('{"B": 0.25, "A": 0.75}', '{"A":0.75,"B":0.25}'),
        ('{"A": 0.333, "B": 0.333, "C": 0.333}', '{"A":0.333,"B":0.333,"C":0.333}'),
        ('{"A": 2}', None),
        ('{"A": 1.5, "B": -0.5}', None),
        ('{"A": NaN}', None),
        ("{}", None),
        ("[1]", None),
        ("{" * 5000, None),
    ],
)
def test_probabilities_are_an_object_that_sums_to_one(cell: str, read: str | None, tmp_path: Path) -> None:
    quoted = cell.replace('"', '""')
    outcomes = outcomes_of(tmp_path, f'task,target,probabilities,passed\na,A,"{quoted}",1\n')
    assert column(outcomes, "probabilities") == [read]


def test_passed_follows_from_reward_or_answer(tmp_path: Path) -> None:
    assert column(outcomes_of(tmp_path, "task,reward\na,1\na,0.5\n"), "passed") == [True, False]
    relaxed = outcomes_of(tmp_path, "task,reward\na,1\na,0.5\n", pass_reward=0.5)
    assert column(relaxed, "passed") == [True, True]
    answers = outcomes_of(tmp_path, "task,answer,target\na,x,x\na,y,x\na,,x\nb,1,\n")
    assert column(answers, "passed") == [True, False, None, None]
    assert counted(answers)["answer without target (kept)"] == (1, "rows", "row 5")


def test_passed_follows_from_tests_where_nothing_else_says_so(tmp_path: Path) -> None:
    outcomes = outcomes_of(tmp_path, "task,tests,passed\na,11,\na,10,\na,1-,\na,0-,\na,--,\na,,\na,10,1\n")
    assert column(outcomes, "passed") == [True, False, None, False, None, None, True]


def test_tests_without_any_result_are_no_outcome(tmp_path: Path) -> None:
    data = "task,answer,target,tests\na,x,x,\na,,,--\na,,,10\n"
    outcomes = outcomes_of(tmp_path, data)
    assert column(outcomes, "tests") == [None, None, "10"]
    assert counted(outcomes)["outcome unknown (kept)"] == (1, "rows", "row 3")
    failed = outcomes_of(tmp_path, data, null_as="failed")
    assert column(failed, "tests") == [None, "00", "10"]


def test_a_column_named_dataset_is_not_called_unknown(tmp_path: Path) -> None:
    outcomes = outcomes_of(tmp_path, "dataset,task,passed\nx,a,1\n")
    assert counted(outcomes) == {"the config names the dataset, not the file": (1, "columns", "dataset")}


def test_stale_grades_are_seen(tmp_path: Path) -> None:
    outcomes = outcomes_of(tmp_path, "task,answer,target,passed\na,x,x,1\na,x,x,0\na,y,x,0\n")
    assert counted(outcomes) == {"passed and answer disagree (kept)": (1, "rows", "row 3")}
    assert column(outcomes, "passed") == [True, False, False]


def test_mixed_outcomes_are_told_from_groups_without_the_kind(tmp_path: Path) -> None:
    data = "group,task,answer,target,passed\ng,a,x,x,\ng,a,,,1\nh,a,,,0\n"
    assert counted(outcomes_of(tmp_path, data)) == {
        "mixed outcome types in a group: no answer, but another outcome (kept)": (1, "rows", "row 3"),
        "group without any answer, but another outcome (kept)": (1, "rows", "row 4"),
    }


def test_a_repeated_row_is_left_out_once(tmp_path: Path) -> None:
    outcomes = outcomes_of(tmp_path, "task,attempt,passed\na,1,1\na,1,1\na,2,0\n")
    assert column(outcomes, "attempt") == ["1", "2"]
    assert counted(outcomes) == {"attempt repeated in every value": (1, "rows", "row 3")}


def test_attempts_are_numbered_within_group_task_and_context(tmp_path: Path) -> None:
    data = "group,task,context,passed\ng,a,p,1\ng,a,p,0\ng,a,q,1\nh,a,,1\nh,a,,0\n"
    assert column(outcomes_of(tmp_path, data), "attempt") == ["1", "2", "1", "1", "2"]
    named = outcomes_of(tmp_path, "task,attempt,passed\na,first,1\na,,0\n")
    assert column(named, "attempt") == ["first", "unnamed 2"]


@pytest.mark.parametrize(
    ("data", "source", "groups"),
    [
        ("task,passed\na,1\na,0\n", {}, ["s", "s"]),
        ("task,passed\na,1\na,0\n", {"scaffold": "x", "backbone": "m"}, ["x m", "x m"]),
        ("scaffold,backbone,task,passed\nx,m,a,1\n,n,a,0\n", {}, ["x m", "n"]),
        ("group,scaffold,task,passed\ng,x,a,1\nh,x,a,0\n", {}, ["g", "h"]),
        ("group,task,passed\ng,a,1\nh,a,0\n", {"groups": ("h",)}, ["h"]),
    ],
)
def test_groups(data: str, source: dict[str, Any], groups: list[str], tmp_path: Path) -> None:
    assert column(outcomes_of(tmp_path, data, **source), "group") == groups


def test_null_may_count_as_failed_in_the_tests_the_group_has(tmp_path: Path) -> None:
    data = "group,task,passed,tests\ng,a,1,1-1\ng,a,,\nh,a,0,01-\nh,b,,\ng,b,1,1\nk,a,1,\nk,a,,\n"
    read = outcomes_of(tmp_path, data, null_as="failed")
    assert column(read, "passed") == [True, False, False, False, True, True, False]
    # h has no result of b: it takes the tests others have; k has no vectors at all and gets none.
    assert column(read, "tests") == ["1-1", "0-0", "01-", "0", "1", None, None]
    assert counted(read)["no result, counted as failed (kept)"] == (3, "rows", "row 3")
    unknown = outcomes_of(tmp_path, data)
    assert column(unknown, "passed").count(None) == column(unknown, "tests").count(None) - 1 == 3


def test_hostile_cells_are_kept_as_they_are_and_messages_are_short(tmp_path: Path) -> None:
    cells = ["=cmd|calc", "a\x00b", "\x1b[2J", "\u202e", "<script>", "x" * 100_000]
    data = "task,passed\n" + "".join(f"{cell},1\n" for cell in cells)
    assert column(outcomes_of(tmp_path, data), "task") == cells
    with pytest.raises(InputError) as caught:
        outcomes_of(tmp_path, f"{'y' * 100_000},passed\na,1\n")
    assert len(str(caught.value)) < len(str(tmp_path)) + 400


def test_the_same_file_gives_the_same_table(tmp_path: Path) -> None:
    path = file_of(tmp_path, "task,passed,tests\nb,1,11\na,0,0-\nb,,1\n")
    first, second = (read_outcomes(path, OutcomeSource("s")) for _ in range(2))
    pd.testing.assert_frame_equal(first.frame, second.frame)
    assert first.counted == second.counted


def test_the_stale_grades_of_a_real_file_are_seen(shared: Path, tmp_path: Path) -> None:
    folder = shared / "corpora/hot_mess_reward_hacking/results/phase1"
    rows = [
        {
            "backbone": model,
            "task": question["question_idx"],
            "attempt": answer["sample"],
            "answer": answer["answer"],
            "target": question["correct_answer"],
            "passed": answer["correct"],
        }
        for model in ("gpt-4o-mini", "haiku-4.5")
        for question in json.loads((folder / f"baseline_{model}.json").read_bytes())
        for answer in question["answers"]
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "x.csv", index=False)
    outcomes = read_outcomes(tmp_path / "x.csv", OutcomeSource("s"))
    frame = outcomes.frame.astype({"answer": "str", "target": "str"})
    wrong = (frame["answer"] != frame["target"]).groupby(frame["group"], observed=True).mean()
    assert counted(outcomes)["passed and answer disagree (kept)"][0] == 68
    # The error of the letters, as computed from the same file elsewhere.
    assert wrong.to_dict() == pytest.approx({"gpt-4o-mini": 0.506533, "haiku-4.5": 0.295477}, abs=6e-7)
