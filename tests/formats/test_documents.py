import hashlib
import os
from pathlib import Path
from typing import Any

import pytest
from format_samples import put

from coherence.formats.documents import load


@pytest.mark.parametrize(
    ("data", "value", "codes"),
    [
        (b'{"a": "caf\xc3\xa9 \\u0000 \\u001b[31m"}', {"a": "café \0 \x1b[31m"}, set()),
        (b'{"a": 1, "a": 2}', {"a": 2}, set()),
        (b'{"unknown": [1, 2]}', {"unknown": [1, 2]}, set()),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}, {"byte_order_mark"}),
        ('{"a": "é"}'.encode("utf-16"), {"a": "é"}, {"byte_order_mark"}),
        (b'{"a": "\xff\xfe!"}', {"a": "\ufffd\ufffd!"}, {"invalid_utf8"}),
        (b'{"a": "\\ud83d cut", "\\uDE00": 1}', {"a": "\ufffd cut", "\ufffd": 1}, {"lone_surrogate"}),
        (b'["\\ud83d\\ude00", Infinity]', ["\U0001f600", float("inf")], {"json_not_strict"}),
        (b'{"a": "raw\nline\x00"}', {"a": "raw\nline\0"}, {"json_not_strict"}),
        (b'[1e999, "\\ud800"]', [float("inf"), "\ufffd"], {"lone_surrogate"}),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_json_is_read_as_tolerantly_as_can_be(
    data: bytes, value: Any, codes: set[str], tmp_path: Path
) -> None:
    put(tmp_path / "a.json", data)
    document = load(tmp_path, "a.json")
    assert (document.value, document.problem) == (value, None)
    assert {record.code for record in document.notes.records()} == codes


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "the file is empty"),
        (b" \n\t", "the file is empty"),
        (b'{"steps": [{"step_id": 1, "mess', "not JSON: "),
        (b'{"a": 1}\n{"a": 2}', "not JSON: Extra data"),
        (b"version https://git-lfs.github.com/spec/v1", "not JSON: "),
        (b"[" * 100_000, "not JSON: nested too deeply"),
        (b"9" * 10_000 + b"\x00", "not JSON: "),
    ],
    ids=["empty", "blank", "truncated", "two", "pointer", "deep", "digits"],
)
def test_a_broken_file_has_a_problem_and_a_digest(data: bytes, problem: str, tmp_path: Path) -> None:
    put(tmp_path / "a.json", data)
    document = load(tmp_path, "a.json")
    assert document.problem is not None
    assert document.problem.startswith(problem)
    assert document.source is not None
    assert document.source.sha256 == hashlib.sha256(data).hexdigest()


def test_what_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "loop.json").symlink_to(tmp_path / "loop.json")
    for name in ("folder.json", "pipe.json", "loop.json", "missing.json", "nul\0.json"):
        document = load(tmp_path, name)
        assert document.problem is not None
        assert document.problem.startswith("cannot be opened: ")
        assert str(tmp_path) not in document.problem
