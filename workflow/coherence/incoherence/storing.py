"""The outcomes table on disk: one Parquet file, the same bytes for the same rows."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from coherence.errors import InputError
from coherence.files import replacing
from coherence.incoherence.contract import COLUMNS
from coherence.incoherence.outcomes import conform


def write_outcomes(path: Path, frame: pd.DataFrame) -> None:
    """Write a conforming table, whole or not at all."""
    with replacing(path) as file:
        pyarrow.parquet.write_table(pa.Table.from_pandas(frame, preserve_index=False), file)


def stored_outcomes(path: Path) -> pd.DataFrame:
    """Return the table as it was written; InputError where the file is not one."""
    try:
        frame = pyarrow.parquet.read_table(path).to_pandas()
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"{path}: cannot be read: {error}; make it again with `coherence outcomes`"
        ) from error
    missing = [name for name in COLUMNS if name not in frame]
    if missing:
        raise InputError(f"{path}: has no column {missing[0]!r}; make it again with `coherence outcomes`")
    return conform(frame)
