"""The annotation sheet: a CSV with a row a trajectory, which a person fills and a recorded judge repeats.

A row left blank is no verdict. Further spans of a trajectory are further rows with its id.
"""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from coherence.errors import InputError
from coherence.files import csv_text
from coherence.judges import quotes
from coherence.judges.label_rows import STATES, RowError, filled, span_of
from coherence.records import QuoteCheck, Record, Span, Transcript

COLUMNS: Final = (
    *("trajectory", "dataset", "page", "state", "confidence", "type"),
    *("acknowledgment_step", "acknowledgment_quote", "action_step", "action_quote", "remark"),
)
OURS: Final = frozenset({"trajectory", "dataset", "page"})
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet may take for a formula at the start
MOST_FAULTS: Final = 20
UNCHECKED: Final = dict.fromkeys(("acknowledgment_check", "action_check"), QuoteCheck("not_checkable"))
ABSENT: Final = "is nowhere in the agent's words; copy it from the page, from one thought, message or call"


class SheetRow(Record, frozen=True):
    """One row: its number in the file as a spreadsheet counts, and its cells without outer white space."""

    number: int
    cells: dict[str, str]


class Label(Record, frozen=True):
    """What a sheet says of one trajectory; `rows` are the numbers of its rows."""

    dataset: str
    trajectory: str
    state: str
    remark: str
    spans: tuple[Span, ...]
    rows: tuple[int, ...]

    def line(self, reader: str) -> dict[str, Any]:
        """Return the label as a line of recorded verdicts; quotes are looked up anew by whoever reads it."""
        said: dict[str, Any] = {
            "dataset": self.dataset,
            "reader": reader,
            "spans": tuple(replace(span, **UNCHECKED) for span in self.spans),
            "state": self.state,
            "summary": self.remark,
            "trajectory": self.trajectory,
        }
        return said if self.state != "unjudged" else {**said, "reason": "undecided"}


class Sheet(Record, frozen=True):
    """A sheet read: the labels, and the (dataset, trajectory) pairs of all rows, filled or not.

    `misplaced` says which quotes stand in another step than the one named.
    """

    labels: tuple[Label, ...]
    listed: tuple[tuple[str, str], ...]
    misplaced: tuple[str, ...]


def guarded(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(FORMULA) else cell


def unguarded(cell: str) -> str:
    """Return the cell that `guarded` was given."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA) else cell


def blank_sheet(rows: Iterable[tuple[str, str, str]]) -> bytes:
    """Return a sheet with a blank row for each (trajectory, dataset, page)."""
    blank = dict.fromkeys(COLUMNS, "")
    cells = ({**blank, **dict(zip(COLUMNS, map(guarded, row), strict=False))} for row in rows)
    return csv_text(cells, COLUMNS).encode("utf-8-sig")  # with a mark, by which spreadsheets know UTF-8


def read_rows(path: Path) -> list[SheetRow]:
    """Return the rows of a sheet, empty ones left out; InputError where it is no sheet."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error}); save the sheet as CSV in UTF-8") from error
    head = text.partition("\n")[0]
    separator = max(",;\t", key=head.count)
    lines = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        names = [name.strip() for name in next(lines, [])]
        _check_columns(path, names)
        rows = list(enumerate(lines, 2))
    except csv.Error as error:
        raise InputError(f"{path}: is no CSV ({error}); save the sheet as CSV in UTF-8") from error
    long = [number for number, row in rows if len(row) > len(names)]
    if long:
        raise InputError(f"{path}: row {long[0]}: more cells than columns; put quotation marks around a cell")
    cells = ((n, {name: cell.strip() for name, cell in zip(names, row, strict=False)}) for n, row in rows)
    blank = dict.fromkeys(COLUMNS, "")
    return [SheetRow(number, {**blank, **row}) for number, row in cells if any(row.values())]


def read_sheet(
    path: Path, transcript_of: Callable[[str, str], Transcript | None], datasets: Sequence[str]
) -> Sheet:
    """Return what a sheet says; InputError names each faulty row and column and what to do.

    `transcript_of` gives the transcript of a (dataset, trajectory), None where there is none.
    """
    groups: dict[tuple[str, str], list[SheetRow]] = {}
    for row in read_rows(path):
        name = (unguarded(row.cells["dataset"]), unguarded(row.cells["trajectory"]))
        groups.setdefault(name, []).append(row)
    faults, labels = list[str](), list[Label]()
    for (dataset, trajectory), rows in groups.items():
        transcript = transcript_of(dataset, trajectory) if dataset in datasets else None
        try:
            if transcript is None:
                raise _stranger(rows[0], dataset, trajectory, datasets)
            label = _label(dataset, rows, transcript)
        except RowError as fault:
            faults.append(str(fault))
            continue
        if label is not None:
            faults += _absent(label)
            labels.append(label)
    if faults:
        more = len(faults) - MOST_FAULTS
        shown = [*faults[:MOST_FAULTS], *([f"and {more} more"] if more > 0 else [])]
        raise InputError(f"{path}: nothing is imported:\n  " + "\n  ".join(shown))
    misplaced = (remark for label in labels for remark in _misplaced(label))
    return Sheet(tuple(labels), tuple(groups), tuple(misplaced))


def _check_columns(path: Path, names: Sequence[str]) -> None:
    missing = [name for name in COLUMNS if name not in names]
    strange = [name for name in names if name not in COLUMNS and name]
    if missing or strange or len(set(names)) < len(names):
        wrong = [f"has no column {name!r}" for name in missing[:1]]
        wrong += [f"has a column {name!r} of its own" for name in strange[:1]]
        said = " and ".join(wrong) or "has a column twice"
        raise InputError(f"{path}: {said}; keep the columns of the sheet that was exported")


def _stranger(row: SheetRow, dataset: str, trajectory: str, datasets: Sequence[str]) -> RowError:
    if dataset not in datasets:
        return RowError(row.number, "dataset", f"{dataset!r} is not one of {', '.join(datasets)}")
    return RowError(row.number, "trajectory", f"{trajectory!r} has no text in this dataset; restore its id")


def _label(dataset: str, rows: Sequence[SheetRow], transcript: Transcript) -> Label | None:
    """Return what the rows of one trajectory say, None where all are blank."""
    said = [row for row in rows if any(text for name, text in row.cells.items() if name not in OURS)]
    if not said:
        return None
    for row in said:
        filled(row.number, row.cells)
    states = {row.cells["state"].lower() for row in said}
    if len(states) > 1 or (len(said) > 1 and states != {"flagged"}):
        raise RowError(
            said[1].number,
            "state",
            f"row {said[0].number} is on the same trajectory; several rows are several spans of a flag",
        )
    (state,) = states
    spans = [span_of(place, row.number, row.cells, transcript) for place, row in enumerate(said, 1)]
    return Label(
        dataset=dataset,
        trajectory=transcript.id,
        state=state,
        remark="; ".join(filter(None, (row.cells["remark"] for row in said))),
        spans=quotes.checked([span for span in spans if span is not None], transcript),
        rows=tuple(row.number for row in said),
    )


def _quotes(label: Label) -> Iterator[tuple[int, str, int, Any]]:
    """Yield (row, column, step named, check) of each quote."""
    for row, span in zip(label.rows, label.spans, strict=False):
        yield row, "acknowledgment_quote", span.acknowledgment_step, span.acknowledgment_check
        yield row, "action_quote", span.action_step, span.action_check


def _absent(label: Label) -> Iterator[str]:
    for row, column, _, check in _quotes(label):
        if check.verdict == "absent":
            yield str(RowError(row, column, ABSENT))


def _misplaced(label: Label) -> Iterator[str]:
    for row, column, step, check in _quotes(label):
        if check.verdict == "wrong_step":
            yield f"row {row}, {column}: is not in step {step} but in step {check.step}"


def counts(sheet: Sheet) -> Mapping[str, int]:
    """Return how many trajectories have each state, and how many are left blank."""
    states = [label.state for label in sheet.labels]
    return {**{state: states.count(state) for state in STATES}, "blank": len(sheet.listed) - len(states)}
