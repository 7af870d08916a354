"""The reply store: each request with its reply in a file of its own, named by the request's key.

    <root>/<2 hex>/<key>.json             a good reply: the API answered with a message
    <root>/<2 hex>/<key>.failed-<n>.json  an attempt that failed, kept for the record and never served

Whether a good reply holds a usable answer is judged by whoever reads it, each time it is read.
"""

import logging
import os
import secrets
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, Final

from coherence.errors import InputError
from coherence.files import read_json, write_json
from coherence.llm.request import Request
from coherence.records import Record

REPLY_SCHEMA: Final = "coherence/reply/1"
_FAILED: Final = ".failed-"
log = logging.getLogger(__name__)


class Reply(Record, frozen=True):
    """A good reply and the request it answers; `message` is the API's JSON as it came, `time` is UTC."""

    key: str
    sample: int
    request: Request
    message: dict[str, Any]
    model: str
    stop_reason: str | None
    usage: dict[str, Any]
    request_id: str | None
    time: str
    schema: str = REPLY_SCHEMA


class Failure(Record, frozen=True):
    """A request that got no reply; `status` is the HTTP status where there was one, `time` is UTC.

    `usage` is what the API says it billed nevertheless.
    """

    key: str
    sample: int
    model: str
    detail: str
    time: str
    status: int | None = None
    request_id: str | None = None
    usage: dict[str, Any] = {}
    schema: str = REPLY_SCHEMA


class ReplyStore:
    """Replies by key; several processes may write to one store at once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.corrupt: list[Path] = []

    def path(self, key: str) -> Path:
        """Return where the reply with this key is or would be."""
        return self.root / key[:2] / f"{key}.json"

    def get(self, key: str) -> Reply | None:
        """Return the good reply with this key; a file that cannot be one is reported and counts as absent."""
        path = self.path(key)
        if not path.exists():
            return None
        try:
            reply = read_json(path, Reply)
        except InputError as error:
            self._report(path, str(error))
            return None
        if reply.key != key:
            self._report(path, f"{path}: holds the reply to another request, {reply.key}")
            return None
        return reply

    def put(self, reply: Reply) -> Reply:
        """Keep a good reply at once; where another process was faster, return its reply instead."""
        path = self.path(reply.key)
        if _create(path, reply):
            return reply
        earlier = self.get(reply.key)
        if earlier is None:
            write_json(path, reply)
        return earlier or reply

    def put_failure(self, failure: Failure) -> Failure:
        """Keep a failed attempt beside the place of its reply, under the next free number."""
        path = self.path(failure.key)
        next(n for n in count(1) if _create(path.with_name(f"{failure.key}{_FAILED}{n}.json"), failure))
        return failure

    def replies(self) -> Iterator[Path]:
        """Yield the files of good replies, in the order of their keys."""
        return (path for path in self._files() if _FAILED not in path.name)

    def failures(self) -> Iterator[Path]:
        """Yield the files of failed attempts, in the order of their keys."""
        return (path for path in self._files() if _FAILED in path.name)

    def _files(self) -> Iterator[Path]:
        return (path for path in sorted(self.root.glob("??/*.json")) if not path.name.startswith("."))

    def _report(self, path: Path, reason: str) -> None:
        if path not in self.corrupt:
            self.corrupt.append(path)
            log.warning("%s; the request counts as not yet answered", reason)


def key_of(path: Path) -> str:
    """Return the key in the name of a reply's or a failure's file."""
    return path.name.removesuffix(".json").split(_FAILED)[0]


def _create(path: Path, record: Record) -> bool:
    """Write a file whole unless it is there already; return whether it was written."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        write_json(temporary, record)
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        if path.exists():
            return False
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return True
