"""A dataset whose files are made by a script: made before they are looked for, or an error says why not."""

from pathlib import Path

import pytest
from workspace import write_config, write_trial

from coherence.cli import main

SCRIPT = """
import pathlib, shutil, sys
shutil.copytree(sys.argv[1], sys.argv[2], dirs_exist_ok=True)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def generated(folder: Path, script: str) -> Path:
    (folder / "make.py").write_text(script)
    dataset = {"paths": "made", "format": "harbor", "generated_by": ["make.py", "model", "made"]}
    return write_config(folder, datasets={"small": dataset})


def test_the_files_are_made_before_they_are_looked_for(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_trial(folder / "model", "alpha", 1.0)
    assert main(["plan", "--config", str(generated(folder, SCRIPT))]) == 0
    assert "1 units" in "".join(capsys.readouterr())


def test_a_new_run_makes_what_is_gone(folder: Path) -> None:
    write_trial(folder / "model", "alpha", 1.0)
    config = str(generated(folder, SCRIPT))
    assert main(["plan", "--config", config]) == 0
    gone = next((folder / "made").rglob("trajectory.json"))
    gone.unlink()
    assert main(["plan", "--config", config]) == 0
    assert gone.is_file()


@pytest.mark.parametrize(
    ("script", "said"),
    [("raise SystemExit('no disk left')", "no disk left"), ("raise SystemExit(3)", "status 3")],
    ids=["with a word", "silent"],
)
def test_a_script_that_fails_is_named_with_what_it_said(
    script: str, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "--config", str(generated(folder, script))]) != 0
    shown = capsys.readouterr().err
    assert "datasets.small.generated_by" in shown
    assert said in shown
