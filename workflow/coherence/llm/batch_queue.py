"""What waits in memory and on disk while batches run: items to work on again, requests to submit."""

import pickle
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final

import msgspec

from coherence.files import encode
from coherence.llm.batch_folder import Asked, line_of
from coherence.llm.request import headers

MOST_REQUESTS: Final = 10_000  # in a batch; the API takes 100,000
MOST_BYTES: Final = (
    64_000_000  # in a batch, as UTF-8; the API takes 256 MB, and escapes in JSON may triple it
)


class Limits(msgspec.Struct, frozen=True):
    """How large one batch may be: what is held in memory, however many items there are."""

    requests: int = MOST_REQUESTS
    data: int = MOST_BYTES


class Pending:
    """Requests that are in no batch yet, each once."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lines: dict[str, dict[str, bytes]] = {}
        self._size = 0

    def add(self, asked: Asked) -> None:
        """Add a request. Those with other headers go into another batch: it has one set of them."""
        line = line_of(asked)
        self._lines.setdefault(encode(headers(asked.request)).decode(), {})[asked.key] = line
        self._size += len(line)

    @property
    def is_full(self) -> bool:
        """Whether there is enough for a batch."""
        count = sum(map(len, self._lines.values()))
        return self._size >= self._limits.data or count >= self._limits.requests

    def take(self, only_full: bool = False) -> Iterator[dict[str, bytes]]:
        """Yield the lines of one batch after another, by key, and hold them no longer."""
        while self._lines and (self.is_full or not only_full):
            sent, lines = max(self._lines.items(), key=lambda group: len(group[1]))
            share = self._share(lines)
            if not lines:
                del self._lines[sent]
            yield share

    def _share(self, lines: dict[str, bytes]) -> dict[str, bytes]:
        share: dict[str, bytes] = {}
        size = 0
        for key, line in list(lines.items()):
            if share and (size + len(line) > self._limits.data or len(share) >= self._limits.requests):
                break
            share[key] = lines.pop(key)
            size += len(line)
        self._size -= size
        return share


class Spool:
    """Items kept in a nameless file, gone with the process, so that memory does not grow with them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._places: list[int] = []
        self._file: Any = None

    def __len__(self) -> int:
        return len(self._places)

    def add(self, item: Any) -> None:
        """Keep an item."""
        if self._file is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file = TemporaryFile(dir=self._folder)  # noqa: SIM115 - `close` closes it
        self._file.seek(0, 2)
        self._places.append(self._file.tell())
        pickle.dump(item, self._file)

    def __getitem__(self, index: int) -> Any:
        self._file.seek(self._places[index])
        return pickle.load(self._file)  # noqa: S301 - a file without a name, written by this process

    def close(self) -> None:
        """Delete the items."""
        if self._file is not None:
            self._file.close()
