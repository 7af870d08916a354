"""The annotation sheet: what a filled one says, and every way in which it can be wrong."""

import csv
from io import StringIO
from pathlib import Path

import pytest

from coherence.errors import InputError
from coherence.judges.label_sheet import COLUMNS, Sheet, blank_sheet, counts, guarded, read_sheet, unguarded
from coherence.records import Call, Step, Thought, Transcript

FLAG = {
    "state": "flagged",
    "confidence": "4",
    "type": "other",
    "acknowledgment_step": "3",
    "acknowledgment_quote": "That is odd.",
    "action_step": "5",
    "action_quote": "Done anyway.",
}
CLEAN = {"state": "unflagged"}
TRANSCRIPTS = {
    name: Transcript(
        name,
        (
            Step(1, "user", "Do it."),
            Step(3, "agent", thoughts=(Thought("That is odd. I go on.", "reasoning"),)),
            Step(5, "agent", "Done anyway.", calls=(Call("sh", {"command": "-c 'x'"}),)),
        ),
    )
    for name in ("a", "b", "-c")
}


def transcript_of(dataset: str, trajectory: str) -> Transcript | None:
    return TRANSCRIPTS.get(trajectory) if dataset == "d" else None


def write(path: Path, *rows: dict[str, str], separator: str = ",", encoding: str = "utf-8-sig") -> Path:
    text = StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, delimiter=separator, restval="")
    writer.writeheader()
    writer.writerows({"trajectory": "a", "dataset": "d", **row} for row in rows)
    path.write_bytes(text.getvalue().encode(encoding))
    return path


def read(path: Path) -> Sheet:
    return read_sheet(path, transcript_of, ["d"])


def test_a_filled_row_is_a_verdict_as_recorded_judges_read_them(tmp_path: Path) -> None:
    sheet = read(
        write(tmp_path / "s.csv", {**FLAG, "remark": "Never settled."}, {"trajectory": "b", **CLEAN})
    )
    first, second = (label.line("ann") for label in sheet.labels)
    (span,) = first.pop("spans")
    assert first == {
        "dataset": "d",
        "reader": "ann",
        "state": "flagged",
        "summary": "Never settled.",
        "trajectory": "a",
    }
    assert (span.start_step, span.end_step, span.confidence, span.conflict_type) == (3, 5, 4, "other")
    assert (span.acknowledgment_quote, span.action_quote) == ("That is odd.", "Done anyway.")
    assert span.acknowledgment_check.verdict == "not_checkable"
    assert (second["state"], second["spans"]) == ("unflagged", ())


def test_blank_rows_are_no_labels(tmp_path: Path) -> None:
    sheet = read(write(tmp_path / "s.csv", {}, {"trajectory": "b", **CLEAN}))
    assert [label.trajectory for label in sheet.labels] == ["b"]
    assert sheet.listed == (("d", "a"), ("d", "b"))
    assert counts(sheet) == {"flagged": 0, "unflagged": 1, "unjudged": 0, "blank": 1}


def test_further_spans_are_further_rows(tmp_path: Path) -> None:
    more = {**FLAG, "acknowledgment_quote": "I go on.", "confidence": "", "type": "Environment vs premise"}
    (label,) = read(write(tmp_path / "s.csv", FLAG, more)).labels
    assert [span.span_id for span in label.spans] == [1, 2]
    assert [span.conflict_type for span in label.spans] == ["other", "environment_vs_premise"]
    assert [span.confidence for span in label.spans] == [4, None]


def test_what_could_not_be_judged_says_why(tmp_path: Path) -> None:
    (label,) = read(write(tmp_path / "s.csv", {"state": "unjudged", "remark": "In Greek."})).labels
    assert label.line("ann")["reason"] == "undecided"
    assert label.line("ann")["summary"] == "In Greek."


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"state": "yes"}, "row 2, state: 'yes' is no state; write flagged"),
        ({"state": ""}, "row 2, state: is blank, and other cells are not"),
        ({"type": ""}, "row 2, type: is blank; a flag needs"),
        ({"type": "odd"}, "row 2, type: 'odd' is none of tool_output_vs_plan"),
        ({"action_quote": ""}, "row 2, action_quote: is blank"),
        ({"acknowledgment_step": "2"}, "row 2, acknowledgment_step: '2' is no step of this trajectory"),
        ({"acknowledgment_step": "three"}, "row 2, acknowledgment_step: 'three' is no step"),
        ({"acknowledgment_step": "²"}, "row 2, acknowledgment_step: '²' is no step"),
        ({"acknowledgment_step": "5", "action_step": "3"}, "row 2, action_step: 3 comes before"),
        ({"confidence": "6"}, "row 2, confidence: '6'; write 1 to 5"),
        ({"confidence": "0"}, "row 2, confidence: '0'; write 1 to 5"),
        ({"state": "unflagged"}, "row 2, type: is filled, and the state is unflagged"),
        ({"state": "unjudged"}, "row 2, type: is filled, and the state is unjudged"),
        ({"acknowledgment_quote": "Never said so."}, "row 2, acknowledgment_quote: is nowhere in the agent"),
        ({"action_quote": "Do it."}, "row 2, action_quote: is nowhere in the agent"),  # the user's words
        ({"trajectory": "z"}, "row 2, trajectory: 'z' has no text in this dataset"),
        ({"dataset": "e"}, "row 2, dataset: 'e' is not one of d"),
    ],
    ids=lambda case: str(case)[:60],
)
def test_each_fault_is_named_with_row_and_column(changes: dict[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(write(tmp_path / "s.csv", {**FLAG, **changes}))
    assert said in str(caught.value)
    assert "nothing is imported" in str(caught.value)


@pytest.mark.parametrize(
    "second", [CLEAN, {"state": "unjudged", "remark": "?"}], ids=["unflagged", "unjudged"]
)
def test_two_rows_of_one_trajectory_must_agree(second: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="row 3, state: row 2 is on the same trajectory"):
        read(write(tmp_path / "s.csv", FLAG, second))
    with pytest.raises(InputError, match="row 3, state: row 2 is on the same trajectory"):
        read(write(tmp_path / "s.csv", second, second))


def test_all_faults_are_told_at_once_but_not_without_end(tmp_path: Path) -> None:
    rows = [{"trajectory": f"t{number}", **CLEAN} for number in range(30)]
    with pytest.raises(InputError) as caught:
        read(write(tmp_path / "s.csv", *rows))
    assert str(caught.value).count("has no text") == 20
    assert str(caught.value).endswith("and 10 more")


def test_a_quote_in_another_step_is_told_and_kept(tmp_path: Path) -> None:
    # Both steps are 5, the acknowledgment stands in 3.
    sheet = read(write(tmp_path / "s.csv", {**FLAG, "acknowledgment_step": "5"}))
    assert sheet.misplaced == ("row 2, acknowledgment_quote: is not in step 5 but in step 3",)
    assert len(sheet.labels) == 1


@pytest.mark.parametrize("cell", ["=1+1", "+x", "-c", "@x", "\tx", "\rx"], ids=ascii)
def test_no_cell_can_be_taken_for_a_formula(cell: str) -> None:
    assert guarded(cell).startswith("'")
    assert unguarded(guarded(cell)) == cell


@pytest.mark.parametrize("cell", ["plain", "'quoted'", "", "a=b"])
def test_other_cells_stay_as_they_are(cell: str) -> None:
    assert unguarded(guarded(cell)) == guarded(cell) == cell


def test_an_id_like_a_formula_comes_back_as_it_was(tmp_path: Path) -> None:
    data = blank_sheet([("-c", "d", "pages/-c.html")])
    assert b"\r\n" not in data
    assert data.decode("utf-8-sig").splitlines()[1].startswith("'-c,d,pages/-c.html,")
    (tmp_path / "s.csv").write_bytes(data.replace(b".html,,", b".html,unflagged,", 1))
    (label,) = read(tmp_path / "s.csv").labels
    assert label.trajectory == "-c"


@pytest.mark.parametrize("typed", ["'-c 'x'", "-c 'x'"], ids=["guarded", "plain"])
def test_the_apostrophe_before_a_quote_goes_only_where_it_is_not_the_agents(
    typed: str, tmp_path: Path
) -> None:
    (label,) = read(write(tmp_path / "s.csv", {**FLAG, "action_quote": typed})).labels
    assert label.spans[0].action_quote == "-c 'x'"


@pytest.mark.parametrize("separator", [";", "\t"])
def test_spreadsheets_of_other_countries_are_read(separator: str, tmp_path: Path) -> None:
    assert len(read(write(tmp_path / "s.csv", FLAG, separator=separator)).labels) == 1


def test_numbers_as_spreadsheets_write_them(tmp_path: Path) -> None:
    path = write(tmp_path / "s.csv", {**FLAG, "action_step": "5.0", "state": " Flagged "})
    assert read(path).labels[0].spans[0].action_step == 5


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "has no column 'trajectory'"),
        (b"a,b\n1,2\n", "has no column 'trajectory' and has a column 'a' of its own"),
        (",".join([*COLUMNS, "state"]).encode(), "has a column twice"),
        ((",".join(COLUMNS) + "\n" + "," * 11 + "x\n").encode(), "row 2: more cells than columns"),
        ((",".join(COLUMNS) + '\n"a"b,d\n').encode(), "is no CSV"),
        (",".join(COLUMNS).encode("utf-16"), "save the sheet as CSV in UTF-8"),
        (b"PK\x03\x04\xff\xfe", "save the sheet as CSV in UTF-8"),
    ],
    ids=["empty", "foreign", "twice", "long row", "broken", "utf-16", "xlsx"],
)
def test_what_is_no_sheet_is_refused(data: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_bytes(data)
    with pytest.raises(InputError, match=said):
        read(tmp_path / "s.csv")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"s\.csv: cannot be read"):
        read(tmp_path / "s.csv")
