"""The stored table is the table, and its bytes are those of its rows."""

from pathlib import Path

import pandas as pd
import pytest
from outcome_samples import outcomes_of

from coherence.errors import InputError
from coherence.incoherence.contract import COLUMNS
from coherence.incoherence.outcomes import conform, datasets_in
from coherence.incoherence.storing import stored_outcomes, write_outcomes


def parts(folder: Path) -> list[pd.DataFrame]:
    first = outcomes_of(folder, "group,task,passed,tests,steps\ng,a,1,11,3\ng,a,,10,\n").frame
    second = outcomes_of(folder, "group,task,answer,target\nh,b,x,y\nh,b,,y\n").frame
    return [first, conform(pd.DataFrame()), second.assign(dataset=pd.Categorical(["t", "t"]))]


def test_what_is_stored_is_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "o.parquet"
    written = parts(tmp_path)
    write_outcomes(path, written)
    read = dict(datasets_in(stored_outcomes(path)))
    assert list(read) == ["s", "t"]
    for name, part in zip(("s", "t"), (written[0], written[2]), strict=True):
        pd.testing.assert_frame_equal(
            read[name].astype("object"), part.astype("object"), check_column_type=False
        )
        assert [str(kind) for kind in read[name].dtypes] == [str(kind) for kind in part.dtypes]


def test_columns_can_be_read_alone(tmp_path: Path) -> None:
    write_outcomes(tmp_path / "o.parquet", parts(tmp_path))
    assert list(stored_outcomes(tmp_path / "o.parquet", ("task", "passed")).columns) == ["task", "passed"]


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_outcomes(tmp_path / name, parts(tmp_path))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_nothing_can_be_stored(tmp_path: Path) -> None:
    write_outcomes(tmp_path / "o.parquet", [])
    read = stored_outcomes(tmp_path / "o.parquet")
    assert (len(read), tuple(read.columns)) == (0, COLUMNS)


def test_a_file_that_is_no_such_table_is_named(tmp_path: Path) -> None:
    (tmp_path / "o.parquet").write_bytes(b"no")
    with pytest.raises(InputError, match=r"o\.parquet: .*`coherence outcomes`"):
        stored_outcomes(tmp_path / "o.parquet")
    pd.DataFrame({"task": ["a"]}).to_parquet(tmp_path / "p.parquet")
    with pytest.raises(InputError, match=r"p\.parquet: has no column 'dataset'"):
        stored_outcomes(tmp_path / "p.parquet")
