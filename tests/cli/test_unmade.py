"""A file that no stage has made yet: the stage is named, and what to run first."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import pytest
from workspace import write_config, write_trial

from coherence.cli import COMMANDS, main
from coherence.cli.arguments import add_config_argument
from coherence.cli.config_files import read
from coherence.cli.layout import Layout
from coherence.cli.unmade import stage_of, told
from coherence.errors import InputError, NoFileError


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_trial(tmp_path / "runs", "sum", 1.0)
    return write_config(tmp_path, paraphrases={"said": {"kind": "rules", "of": "rules"}})


def made(layout: Layout) -> dict[str, tuple[Path, ...]]:
    """Files by the command that makes them, as the layout has them."""
    place = layout.paraphrased("small", "said")
    return {
        "plan": (layout.shard("small", "units", 0),),
        "ingest": (
            layout.shard("small", "index", 2),
            layout.shard("small", "reports", 2),
            layout.trajectory("small", "features-1"),
            layout.tests("small", "t"),
        ),
        "preprocess": (layout.shard("small", "preprocess", 0), layout.transcript("small", "t")),
        "features": (layout.shard("small", "features", 0),),
        "judge": (layout.shard("small", "judge-rules", 0),),
        "prefix": (layout.shard("small", "prefix-rules", 0),),
        "paraphrase": (
            layout.chosen("small", "said"),
            layout.shard(place, "rewrites", 0),
            layout.shard(place, "judge-rules", 0),
            layout.transcript(place, "t"),
        ),
        "gather judgements": (layout.judgements("small", "rules"),),
        "gather prefixes": (layout.prefixes("small", "rules"),),
        "evaluate": (layout.evaluation, layout.shown, layout.beside),
        "outcomes": (layout.outcomes, layout.outcome_sets, layout.outcomes_shown),
        "incoherence": (layout.incoherence, layout.incoherence_shown),
        "figures": (layout.figures / "published.svg", layout.figures / "small.gaps.svg"),
        "repeated_figures": (layout.figures / "meeting.svg", layout.figures / "repeats.votes.svg"),
    }


def test_every_file_a_command_reads_has_its_stage(config: Path) -> None:
    layout = Layout(read([config]))
    for stage, paths in made(layout).items():
        assert stage.split()[0] in COMMANDS
        assert {stage_of(layout, path) for path in paths} == {stage}


@pytest.mark.parametrize("path", ["mine.jsonl", "results/mine.jsonl", "/labels.jsonl"])
def test_a_file_of_the_users_has_none(config: Path, path: str) -> None:
    assert stage_of(Layout(read([config])), Path(path)) is None


@pytest.mark.parametrize(
    ("command", "stage"),
    [
        (["preprocess", "--shard", "0"], "ingest"),
        (["features", "--shard", "0"], "ingest"),
        (["judge"], "preprocess"),
        (["paraphrase"], "ingest"),
        (["gather", "judgements"], "judge"),
        (["table"], "ingest"),
        (["evaluate"], "ingest"),
        (["figures"], "evaluate"),
        (["incoherence"], "outcomes"),
        (["repeated_figures"], "incoherence"),
        (["report"], "evaluate"),
        (["agreement", "--labels", "labels.jsonl", "--judge", "rules"], "judge"),
        (["labels", "export", "sheets"], "ingest"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else value,
)
def test_a_command_before_its_stage_says_what_to_run(
    config: Path, capsys: pytest.CaptureFixture[str], command: list[str], stage: str
) -> None:
    Path("labels.jsonl").write_text('{"file": "c", "reader": 1, "flagged_spans": []}\n')
    assert main([*command, "--config", str(config)]) == 1
    said = capsys.readouterr().err
    assert f": not there: `coherence {stage}` makes it; " in said
    assert said.endswith(f"run `snakemake --cores 8 --configfile {config}` first\n")


def arguments(*given: str) -> Any:
    parser = ArgumentParser()
    add_config_argument(parser)
    return parser.parse_args(given)


def test_other_errors_are_told_as_they_are(config: Path) -> None:
    args = arguments("--config", str(config))
    assert told(InputError("x: broken"), args) == "x: broken"
    assert told(NoFileError(Path("mine.csv")), args) == "mine.csv: there is no such file"
    without = arguments("--config", "gone.yaml")
    assert told(NoFileError(Path("results/outcomes.json")), without).endswith("there is no such file")
