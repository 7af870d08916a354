import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.formats.identity import existing, relative_key, safe_id, trial_name


@pytest.mark.parametrize(
    ("name", "readable"),
    [
        ("chess-best-move__aB3xYz1", "chess-best-move__aB3xYz1"),
        ("naïve-café_日本語", "naïve-café_日本語"),
        ("cafe\u0301", "café"),
        ("../../etc/passwd", "_.._etc_passwd"),
        ("..", "_"),
        ("", "_"),
        ("a/b\\c:d*e?f", "a_b_c_d_e_f"),
        ("tab\tand\nline\0nul", "tab_and_line_nul"),
        ("CON", "_CON"),
        ("nul.txt", "_nul.txt"),
        ("console", "console"),
        ("half \ud83d pair", "half___pair"),
        ("x" * 300, "x" * 120),
        ("é" * 100, "é" * 60),
    ],
)
def test_ids_are_readable_and_safe(name: str, readable: str) -> None:
    framed = (3).to_bytes(8, "big") + b"key"
    assert safe_id(name, "key") == f"{readable}-{hashlib.sha256(framed).hexdigest()[:12]}"


@given(st.text(), st.text())
def test_any_name_gives_one_portable_path_component(name: str, key: str) -> None:
    made = safe_id(name, key)
    assert made == Path(made).name
    assert not made.startswith(".")
    assert len(made.encode()) <= 133  # 120, a hyphen and 12 digits
    assert not set(made) & set('/\\:*?"<>|\0')


def test_equal_names_under_different_keys_differ() -> None:
    assert safe_id("trial", "job-1/trial") != safe_id("trial", "job-2/trial")


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("job/sum__aB1/agent/trajectory.json", "sum__aB1"),
        ("agent/trajectory.json", "root"),
        ("runs/first.json", "first"),
        ("other/trajectory.json", "trajectory"),
    ],
)
def test_a_trajectory_is_named_by_its_trial_folder_or_its_file(key: str, name: str) -> None:
    assert trial_name(Path("/somewhere/root"), key) == name


def test_a_file_name_that_is_not_utf8_gives_a_writable_key(tmp_path: Path) -> None:
    odd = tmp_path / "run-\udcff.json"
    odd.touch()
    key = relative_key(odd, tmp_path)
    assert key == "run-\\xff.json"
    assert existing(tmp_path, [key]) == ()
