"""Whatever an outcome file holds, it is read or refused; nothing else happens."""

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from outcome_samples import outcomes_of

from coherence.errors import InputError
from coherence.incoherence.contract import COLUMNS, KEY

cells = st.sampled_from(["", "1", "0", "a", "b", "NaN", "inf", "1-0", '"{""A"": 1}"', "-3", "\x00", '"', "é"])
headers = st.lists(st.sampled_from([*COLUMNS, "other", ""]), min_size=1, max_size=6)


@given(headers, st.lists(st.lists(cells, max_size=7), max_size=8), st.sampled_from(["unknown", "failed"]))
def test_any_rows_are_read_or_refused(header: list[str], rows: list[list[str]], null_as: str) -> None:
    lines = [",".join(["task", "passed", *header]), *(",".join(row) for row in rows)]
    with tempfile.TemporaryDirectory() as folder:
        try:
            outcomes = outcomes_of(Path(folder), "\n".join(lines), null_as=null_as)
        except InputError:
            return
    frame = outcomes.frame
    assert tuple(frame.columns) == COLUMNS
    assert 0 < len(frame) <= len(rows)
    assert frame[["dataset", "group", "task", "attempt"]].notna().all(axis=None)
    assert not frame.duplicated(list(KEY)).any()


@given(st.binary(max_size=80), st.sampled_from(["x.csv", "x.csv.gz", "x.parquet", "x.tsv"]))
def test_any_bytes_are_read_or_refused(data: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            outcomes_of(Path(folder), b"task,passed\n" + data if name == "x.csv" else data, name)
        except InputError as error:
            assert name in str(error)
