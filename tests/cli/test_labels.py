"""From trajectories to a reader's sheet and back, as verdicts that a recorded judge repeats."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from workspace import ROOT

from coherence.cli import main
from coherence.files import read_lines
from coherence.judges.recorded import RecordedJudge
from coherence.records import Entry, Judgement, Transcript

DATASETS = {
    name: {
        "paths": str(ROOT / f"data/examples/jobs/example-{name}"),
        "format": "harbor",
        "simulated": "written for this project",
    }
    for name in ("a", "b")
}
JUDGES = {
    "rules": {"kind": "rules", "settings": {"resolution_check": False, "minimum_score": 2}},
    "authored": {"kind": "recorded", "path": str(ROOT / "data/examples/verdicts.jsonl")},
}


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The examples judged; verdicts of the examples name datasets by other names, and match none here."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "c.json"
    path.write_text(json.dumps({"datasets": DATASETS, "judges": {"rules": JUDGES["rules"]}}))
    for stage in (["ingest"], ["preprocess"], ["features"], ["judge"]):
        assert main([*stage, "--config", str(path)]) == 0
    return str(path)


def labels(*arguments: str, config: str, code: int = 0) -> None:
    assert main(["labels", *arguments, "--config", config]) == code


def sheet(folder: str) -> list[dict[str, str]]:
    text = (Path(folder) / "sheet.csv").read_text("utf-8-sig")
    return list(csv.DictReader(text.splitlines()))


def fill(folder: str, filled: dict[str, dict[str, str]]) -> str:
    rows = [{**row, **filled.get(row["trajectory"], {})} for row in sheet(folder)]
    path = Path(folder) / "filled.csv"
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def rules_words(dataset: str = "a") -> list[Judgement]:
    (path,) = Path(f"results/{dataset}/shards").glob("judge-rules-*.jsonl")
    return list(read_lines(path, Judgement))


def copied(word: Judgement) -> dict[str, str]:
    """What a reader would write who sees just what the judge saw."""
    if word.state != "flagged":
        return {"state": word.state}
    span = word.spans[0]
    return {
        "state": "flagged",
        "confidence": str(span.confidence),
        "type": span.conflict_type,
        "acknowledgment_step": str(span.acknowledgment_step),
        "acknowledgment_quote": span.acknowledgment_quote,
        "action_step": str(span.action_step),
        "action_quote": span.action_quote,
    }


def repeated(path: str, reader: str, dataset: str = "a") -> dict[str, Judgement]:
    """What a recorded judge makes of the labels."""
    trials = {
        entry.trial.id: entry.trial
        for file in Path(f"results/{dataset}/shards").glob("index-*.jsonl")
        for entry in read_lines(file, Entry)
    }
    judge = RecordedJudge("human", Path(path), trials, reader=reader)
    files = sorted(Path(f"results/{dataset}/preprocessed").glob("*.json"))
    transcripts = (json.loads(file.read_bytes())["id"] for file in files)
    return {word.trajectory: word for word in judge.judge(Transcript(name, ()) for name in transcripts)}


def test_there_and_back(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    labels("export", "given", "--dataset", "a", config=config)
    words = {word.trajectory: word for word in rules_words()}
    assert [row["trajectory"] for row in sheet("given")] == sorted(words)
    assert sorted(Path("given/pages").iterdir()) == [
        Path(f"given/pages/{name}.html") for name in sorted(words)
    ]
    filled = fill("given", {name: copied(word) for name, word in words.items()})
    labels("import", filled, "-o", "labels.jsonl", "--reader", "ann", config=config)
    back = repeated("labels.jsonl", "ann")
    assert {name: word.state for name, word in back.items()} == {n: word.state for n, word in words.items()}
    assert any(word.state == "flagged" for word in words.values())
    for name, word in words.items():
        if word.spans:
            ours, theirs = back[name].spans[0], word.spans[0]
            assert ours.acknowledgment_quote == theirs.acknowledgment_quote
            assert ours.action_quote == theirs.action_quote
    capsys.readouterr()
    arguments = ["agreement", "--judge", "rules", "--labels", "labels.jsonl", "--dataset", "a"]
    assert main([*arguments, "--config", config]) == 0
    assert "1.00" in capsys.readouterr().out  # kappa of a judge with its own words
    with Path("labels.jsonl").open("a") as lines:
        cut = {"trajectory": next(iter(words)), "reader": "ann", "after_step": 2, "state": "unflagged"}
        lines.write(json.dumps(cut) + "\n")
    assert main([*arguments, "--config", config]) == 0
    told = capsys.readouterr()
    assert "not on whole trajectories: 1 of the labels of reader ann" in told.err
    assert "1 reference verdicts on prefixes" in told.out


def test_what_is_left_blank_is_missing_and_never_unflagged(config: str) -> None:
    labels("export", "given", "--dataset", "a", config=config)
    first, second, *others = [row["trajectory"] for row in sheet("given")]
    filled = fill("given", {first: {"state": "unflagged"}, second: {"state": "unjudged", "remark": "why"}})
    labels("import", filled, "-o", "labels.jsonl", "--reader", "ann", config=config)
    back = repeated("labels.jsonl", "ann")
    assert (back[first].state, back[second].state, back[second].reason) == (
        "unflagged",
        "unjudged",
        "undecided",
    )
    assert {(back[name].state, back[name].reason) for name in others} == {("unjudged", "missing")}


def test_several_readers_share_a_file_and_a_second_import_replaces_the_first(config: str) -> None:
    for dataset in ("a", "b"):
        labels("export", dataset, "--dataset", dataset, config=config)
    (name, *_), (other, *_) = ([row["trajectory"] for row in sheet(folder)] for folder in ("a", "b"))

    def imported(folder: str, reader: str, filled: dict[str, dict[str, str]]) -> None:
        labels("import", fill(folder, filled), "-o", "l.jsonl", "--reader", reader, config=config)

    imported("a", "ann", {name: {"state": "unflagged", "remark": "first"}})
    imported("a", "bob", {name: {"state": "unjudged", "remark": "no idea"}})
    imported("b", "ann", {other: {"state": "unflagged"}})
    imported("a", "ann", {name: {"state": "unflagged", "remark": "second"}})
    found = [json.loads(line) for line in Path("l.jsonl").read_text().splitlines()]
    assert [(line["reader"], line["dataset"], line["state"]) for line in found] == [
        ("ann", "a", "unflagged"),
        ("ann", "b", "unflagged"),
        ("bob", "a", "unjudged"),
    ]
    assert found[0]["summary"] == "second"
    imported("a", "ann", {})
    assert [json.loads(line)["reader"] for line in Path("l.jsonl").read_text().splitlines()] == ["ann", "bob"]
    assert repeated("l.jsonl", "ann")[name].reason == "missing"


def test_the_pages_of_a_sample_tell_neither_outcome_nor_verdict(
    config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    labels("export", "given", "--dataset", "a", "--sample", "6", "--seed", "3", config=config)
    told = capsys.readouterr().err
    assert "3 of 5 flagged, 3 of 9 unflagged" in told
    assert [row["state"] for row in sheet("given")] == [""] * 6
    for path in Path("given").rglob("*"):
        text = path.read_text("utf-8-sig") if path.is_file() else ""
        for word in ("VerifierTimeoutError", "✗ failed", "✓ passed", "⚑", 'example-model-a"', "rules/"):
            assert word not in text
    labels("export", "again", "--dataset", "a", "--sample", "6", "--seed", "3", config=config)
    assert (Path("given") / "sheet.csv").read_bytes() == (Path("again") / "sheet.csv").read_bytes()


def test_a_filled_sheet_is_never_written_over(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    labels("export", "given", "--dataset", "a", config=config)
    before = Path("given/sheet.csv").read_bytes()
    labels("export", "given", "--dataset", "b", config=config, code=1)
    assert "is there already and may be filled" in capsys.readouterr().err
    assert Path("given/sheet.csv").read_bytes() == before


def test_a_faulty_sheet_changes_nothing(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    labels("export", "given", "--dataset", "a", config=config)
    name = sheet("given")[0]["trajectory"]
    Path("labels.jsonl").write_text('{"reader": "ann", "trajectory": "x", "state": "unflagged"}\n')
    filled = fill("given", {name: {"state": "flagged"}})
    labels("import", filled, "-o", "labels.jsonl", "--reader", "ann", config=config, code=1)
    assert "row 2, type: is blank; a flag needs" in capsys.readouterr().err
    assert Path("labels.jsonl").read_text().count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["export", "x"], "--dataset: name one of a, b"),
        (["export", "x", "--dataset", "c"], "--dataset c: not in the config"),
        (["export", "x", "--dataset", "a", "--trajectories", "no-such"], "--trajectories no-such: none of"),
        (["export", "x", "--dataset", "a", "--sample", "2", "--judge", "z"], "--judge z: the judges"),
        (["import", "gone.csv", "-o", "l.jsonl", "--reader", "ann"], "gone.csv: cannot be read"),
        (["import", "gone.csv", "-o", "l.jsonl", "--reader", " "], "--reader: give the reader a name"),
    ],
    ids=["no dataset", "dataset", "trajectory", "judge", "sheet", "reader"],
)
def test_what_cannot_be_done_is_said(
    arguments: list[str], said: str, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    labels(*arguments, config=config, code=1)
    assert said in capsys.readouterr().err
    assert not Path("x").exists()


def test_trajectories_are_chosen_by_name(config: str) -> None:
    names = [word.trajectory for word in rules_words()][:2]
    labels("export", "two", "--dataset", "a", "--trajectories", ",".join(names), config=config)
    assert [row["trajectory"] for row in sheet("two")] == sorted(names)


def test_a_sample_needs_to_know_whose_flags(tmp_path: Path, config: str, capsys: Any) -> None:
    both = tmp_path / "both.json"
    both.write_text(json.dumps({"datasets": DATASETS, "judges": JUDGES}))
    labels("export", "x", "--dataset", "a", "--sample", "2", config=str(both), code=1)
    assert "whose flags part the sample? One of rules, authored" in capsys.readouterr().err
