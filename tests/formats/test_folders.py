from pathlib import Path

import pytest

from coherence.errors import InputError
from coherence.formats.folders import base_of, listing, walk


def test_links_are_followed_and_loops_end(tmp_path: Path) -> None:
    real = tmp_path / "data" / "real"
    real.mkdir(parents=True)
    (real / "back").symlink_to(tmp_path / "data")
    (tmp_path / "linked").symlink_to(real)
    seen = [folder.path.relative_to(tmp_path).as_posix() for folder in walk(tmp_path)]
    assert seen == [".", "data", "data/real"]


def test_hidden_names_are_left_out_and_dead_links_are_kept(tmp_path: Path) -> None:
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".x.json").touch()
    (tmp_path / "b.json").touch()
    (tmp_path / "a.json").symlink_to(tmp_path / "gone")
    (tmp_path / "self").symlink_to(tmp_path / "self")
    assert listing(tmp_path).files == ("a.json", "b.json", "self")
    assert listing(tmp_path).folders == ()


@pytest.mark.parametrize("function", [listing, lambda path: list(walk(path))])
def test_a_folder_that_cannot_be_read_is_named(function: object, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="missing: the folder cannot be read"):
        function(tmp_path / "missing")  # type: ignore[operator]


def test_keys_are_relative_to_the_folder_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.json").touch()
    assert base_of(tmp_path / "a.json") == base_of(tmp_path) == tmp_path
