"""The outcomes table on disk: one Parquet file, the same bytes for the same rows."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from coherence.errors import InputError, NoFileError
from coherence.files import replacing
from coherence.incoherence.contract import COLUMNS, TEXTS
from coherence.incoherence.outcomes import conform


def _type(name: str) -> Any:
    if name in TEXTS:
        return pa.dictionary(pa.int32(), pa.string())
    return pa.bool_() if name == "passed" else pa.float64()


SCHEMA: Final = pa.schema([(name, _type(name)) for name in COLUMNS])


def write_outcomes(path: Path, parts: Iterable[pd.DataFrame]) -> None:
    """Write conforming tables one after the other, whole or not at all; one at a time is in memory."""
    with replacing(path) as file, pyarrow.parquet.ParquetWriter(file, SCHEMA) as writer:
        for part in parts:
            writer.write_table(pa.Table.from_pandas(part, SCHEMA, preserve_index=False))


def stored_outcomes(path: Path, columns: Sequence[str] = COLUMNS) -> pd.DataFrame:
    """Return these columns of the table as it was written; InputError where the file is not one."""
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            missing = [name for name in columns if name not in file.schema_arrow.names]
            table = file.read(columns=[name for name in columns if name not in missing])
    except FileNotFoundError as error:
        raise NoFileError(path) from error
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"{path}: cannot be read: {error}; make it again with `coherence outcomes`"
        ) from error
    if missing:
        raise InputError(f"{path}: has no column {missing[0]!r}; make it again with `coherence outcomes`")
    table = table.unify_dictionaries()
    # A million rows are large: each column is let go when it has been read.
    frame = table.to_pandas(split_blocks=True, self_destruct=True)
    return conform(frame)[list(columns)]
