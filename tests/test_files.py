"""Files: atomic, stable, and honest about what they cannot read."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.errors import InputError, NoFileError
from coherence.files import (
    Memo,
    csv_text,
    digest,
    read_bytes,
    read_json,
    read_lines,
    without_surrogates,
    write_bytes,
    write_json,
    write_lines,
    write_readable,
)
from coherence.records import Deviation
from coherence.stats.agreement import Estimate
from coherence.stats.intervals import Interval


@given(st.lists(st.text()), st.lists(st.text()))
def test_digests_of_different_lists_differ(first: list[str], second: list[str]) -> None:
    assert (digest(*first) == digest(*second)) == (first == second)


@given(st.text(st.characters()))
def test_any_text_becomes_writable(text: str) -> None:
    without_surrogates(text + "\ud83d").encode()


def test_a_surrogate_pair_is_kept_as_its_character() -> None:
    assert without_surrogates("\ud83d\ude00 \ud83d!") == "😀 \N{REPLACEMENT CHARACTER}!"


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_bytes(path, b"old")
    with pytest.raises(TypeError):
        write_bytes(path, "not bytes")  # type: ignore[arg-type]
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("a.json", b"old")]


def test_json_is_stable_and_round_trips(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", Deviation("f", "c", "é"))
    write_json(tmp_path / "b.json", {"file": "f", "detail": "é", "code": "c"})
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert read_json(tmp_path / "a.json", Deviation) == Deviation("f", "c", "é")


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    write_lines(path, [Deviation("f", "c")])
    path.write_bytes(path.read_bytes() + b"\n{broken\n")
    with pytest.raises(InputError, match=r"x\.jsonl:3: "):
        list(read_lines(path, Deviation))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.json"):
        read_json(tmp_path / "gone.json", Deviation)


@given(st.lists(st.text(st.characters(codec="utf-8")), min_size=2, max_size=2))
def test_any_text_survives_csv(cells: list[str]) -> None:
    text = csv_text([dict(zip("ab", cells, strict=True))], ["a", "b"])
    assert list(csv.reader(io.StringIO(text, newline="")))[1:] == [cells]


def test_csv_lines_end_in_one_newline() -> None:
    assert csv_text([{"a": "x\r", "b": None}], ["a", "b"]) == 'a,b\n"x\r",\n'


def test_csv_refuses_columns_it_was_not_given() -> None:
    with pytest.raises(ValueError, match="other"):
        csv_text([{"a": 1, "other": 2}], ["a"])


def test_a_memo_serves_only_the_same_key_and_forgets_what_is_gone(tmp_path: Path) -> None:
    with Memo(tmp_path / "m.json", Deviation) as first:
        first.put("kept", "k1", Deviation("f", "1"))
        first.put("changed", "k1", Deviation("f", "2"))
        first.put("gone", "k1", Deviation("f", "3"))
    with Memo(tmp_path / "m.json", Deviation) as second:
        assert second.get("kept", "k1") == Deviation("f", "1")
        assert second.get("changed", "k2") is None
        second.put("changed", "k2", Deviation("f", "4"))
    third = Memo(tmp_path / "m.json", Deviation)
    assert third.get("gone", "k1") is None
    assert third.get("changed", "k2") == Deviation("f", "4")


def test_an_interrupted_memo_keeps_what_was_made_and_what_was_not_asked_for(tmp_path: Path) -> None:
    with Memo(tmp_path / "m.json", Deviation) as first:
        first.put("later", "k", Deviation("f", "1"))
    with pytest.raises(KeyboardInterrupt), Memo(tmp_path / "m.json", Deviation) as second:
        second.put("made", "k", Deviation("f", "2"))
        raise KeyboardInterrupt
    third = Memo(tmp_path / "m.json", Deviation)
    assert [third.get(item, "k") for item in ("later", "made")] == [Deviation("f", "1"), Deviation("f", "2")]


def test_what_is_no_longer_whole_is_made_again(tmp_path: Path) -> None:
    with Memo(tmp_path / "m.json", Deviation) as first:
        first.put("a", "k", Deviation("f", "1"))
    second = Memo(tmp_path / "m.json", Deviation)
    assert (second.get("a", "k", lambda _: False), second.kept) == (None, 0)


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff", b'{"a": ["k", 3]}'], ids=repr)
def test_a_damaged_memo_is_no_memo(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m.json").write_bytes(content)
    assert Memo(tmp_path / "m.json", Deviation).get("a", "k") is None


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"a": [1.0, {"b": float("inf")}]}, r"a\[1\]\.b is inf"),
        (Estimate(1.0, Interval(float("nan"), 2.0, "t", 3)), r"interval\.low is nan"),
        ([-float("inf")], r"\[0\] is -inf"),
    ],
    ids=["inside", "a record", "a list"],
)
def test_what_json_cannot_hold_is_named_and_not_written(value: object, place: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=rf"x\.json: {place}, which JSON cannot hold"):
        write_readable(tmp_path / "x.json", value)
    assert not (tmp_path / "x.json").exists()


def test_what_is_readable_is_written_as_any_json(tmp_path: Path) -> None:
    value = {"a": [1.5, None, "x", True], "b": {"c": 2}}
    assert write_readable(tmp_path / "x.json", value) == write_json(tmp_path / "y.json", value)


@pytest.mark.parametrize(
    "read",
    [read_bytes, lambda path: read_json(path, int), lambda path: list(read_lines(path, int))],
    ids=["bytes", "json", "lines"],
)
def test_no_file_is_told_from_one_that_cannot_be_read(tmp_path: Path, read: Callable[[Path], Any]) -> None:
    with pytest.raises(NoFileError, match=r"gone: there is no such file") as told:
        read(tmp_path / "gone")
    assert told.value.path == tmp_path / "gone"
    with pytest.raises(InputError, match="cannot be read") as other:
        read(tmp_path)
    assert not isinstance(other.value, NoFileError)
