"""Work on the trajectories of one shard, made again only where something it rests on has changed."""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import msgspec

from coherence.cli.code import code_digest
from coherence.cli.layout import Layout
from coherence.errors import InputError
from coherence.files import Memo, digest, read_bytes, read_lines
from coherence.records import Entry, Trajectory

Row = TypeVar("Row")


def read_index(layout: Layout, dataset: str, shard: int) -> Iterator[Entry]:
    """Yield the index rows of one shard."""
    return read_lines(layout.shard(dataset, "index", shard), Entry)


def decode(data: bytes, kind: type[Row], path: Any) -> Row:
    """Return one intermediate file's record; raise InputError where it is not one."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: damaged ({error}); delete it and run again") from error


def each_trajectory(
    layout: Layout,
    place: tuple[str, int],
    memo: Memo,
    stage: tuple[str, str],
    make: Callable[[Trajectory], Row],
    is_whole: Callable[[Row], bool] = lambda _: True,
) -> Iterator[tuple[Entry, Row]]:
    """Yield what `make` returns for each trajectory of the shard `place` = (dataset, number), or made before.

    `stage` is its name and the digest of its settings; `is_whole` whether an earlier result still stands.
    """
    for entry in read_index(layout, *place):
        if entry.trial.status != "ok":
            continue
        path = layout.trajectory(place[0], entry.trial.id)
        data = read_bytes(path)
        key = digest(data, code_digest(stage[0]), stage[1])
        row: Row | None = memo.get(entry.trial.id, key, is_whole)
        if row is None:
            row = make(decode(data, Trajectory, path))
            memo.put(entry.trial.id, key, row)
        yield entry, row
