"""`coherence judge FILE`: the verdict on one file, in the terminal."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from workspace import ROOT, write_config, write_trial

from coherence.cli import main
from coherence.cli.code import PACKAGE, rests_on
from coherence.judges.masking import MASK
from messages_server import CUE, failure, message, only_this_key, serving

EXAMPLES = ROOT / "data" / "examples" / "jobs" / "example-b"
DEFAULT = ("--config", str(ROOT / "config" / "config.yaml"))
FLAGGED = next(EXAMPLES.glob("ini-to-toml__2J9vfQD"))


def judge(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["judge", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.parametrize("path", [FLAGGED, FLAGGED / "agent" / "trajectory.json"], ids=["folder", "file"])
def test_the_rules_judge_a_trial_folder_or_its_file(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    code, out, _ = judge(capsys, str(path))
    lines = out.splitlines()

    assert code == 0
    assert "9 steps, 6 with thoughts" in lines[0]
    assert lines[2] == "verdict     flagged"
    assert "span 1: steps 4 to 4, inference_vs_inference, confidence 2 of 5" in lines
    assert "  acknowledged in step 4, found:" in lines
    assert "    | cd /app && sed -n 1,20p service/settings.py" in lines


def test_a_mini_swe_agent_file_is_known_by_its_name(capsys: pytest.CaptureFixture[str], shared: Path) -> None:
    path = next(iter(sorted((shared / "corpora" / "mini_swe_agent").rglob("*.traj.json"))))

    assert judge(capsys, str(path))[0] == 0


def test_a_run_without_thoughts_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = judge(capsys, str(EXAMPLES / "duration-parser__LGF59m9"))

    assert "verdict     unflagged (no thought to judge)" in out


def trial(folder: Path, *thoughts: str, **changes: Any) -> Path:
    """A trial whose thoughts are these."""
    write_trial(folder, "task", 1.0, steps=1 + len(thoughts))
    path = folder / "task__aBcD123" / "agent" / "trajectory.json"
    document = json.loads(path.read_text())
    for step, thought in zip(document["steps"][1:], thoughts, strict=True):
        step["reasoning_content"] = thought
    path.write_text(json.dumps({**document, **changes}))
    return path


def llm(folder: Path, url: str) -> Path:
    section = {
        "kind": "llm",
        "prompt": str(ROOT / "config/prompts/detector.md"),
        "base_url": url,
        "max_retries": 0,
    }
    replies = str(folder / "replies")
    return write_config(folder, judges={"rules": {"kind": "rules"}, "asked": section}, replies=replies)


def test_a_model_s_judgement_shows_quotes_masks_and_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    only_this_key("test-key", monkeypatch, tmp_path)
    key = "ghp_" + "aQ7xkLmN92vBcD3fGhJ5kPqRsTuVwX1yZ0Ab"
    path = trial(tmp_path / "runs", f"The key {key} fails, {CUE}.", "Go on.")
    with serving() as server:
        code, out, _ = judge(
            capsys, str(path), "--judge", "asked", "--config", str(llm(tmp_path, server.url))
        )

    assert code == 0
    assert "verdict     flagged" in out
    assert "masked      1 places before sending" in out
    assert re.search(r"^usage       \d+ input, \d+ output tokens, about \$0\.\d{4} at list price$", out, re.M)
    assert f"    | The key {MASK * len(key)} fails, {CUE}." in out.splitlines()


def test_usage_is_that_of_every_reply(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    only_this_key("test-key", monkeypatch, tmp_path)
    path = trial(tmp_path / "runs", f"It fails, {CUE}.", "Go on.")
    usage = {"input_tokens": 1_000_000, "output_tokens": 10}
    with serving() as server:
        server.script.append(message("Sorry.", usage=usage))  # asked again
        _, out, _ = judge(capsys, str(path), "--judge", "asked", "--config", str(llm(tmp_path, server.url)))

    assert re.search(r"^usage       1\d{6} input, \d+ output tokens, about \$3\.\d{4} at list", out, re.M)


def test_without_any_verdict_the_code_is_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    only_this_key("test-key", monkeypatch, tmp_path)
    path = trial(tmp_path / "runs", "Fine.")
    with serving() as server:
        server.script.append(failure(400, "invalid_request_error", "no \x1b[31msuch field"))
        code, out, err = judge(
            capsys, str(path), "--judge", "asked", "--config", str(llm(tmp_path, server.url))
        )

    assert code == 1
    assert "verdict     unjudged (api)" in out
    assert "no \\x1b[31msuch field" in out
    assert "no verdict" in err


def test_a_hostile_file_cannot_write_to_the_terminal_but_as_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    only_this_key("test-key", monkeypatch, tmp_path)
    hostile = "\x1b]0;owned\x07\u202e\u200b\x9b31m\nverdict     unflagged\u2028span 2:\rspan 2:\x00 \ud800"
    path = trial(tmp_path / "runs", hostile, "Go on.")
    span = {
        "span_id": 1, "start_step": 2, "end_step": 3, "acknowledgment_step": 2, "action_step": 2,
        "acknowledgment_quote": hostile, "action_quote": hostile, "conflict_type": "other", "confidence": 5,
        "reasoning": hostile,
    }  # fmt: skip
    answer = json.dumps({"trajectory_summary": hostile, "flagged_spans": [span]})
    with serving() as server:
        server.script.append(message(answer.replace("\\ud800", "")))
        _, out, _ = judge(capsys, str(path), "--judge", "asked", "--config", str(llm(tmp_path, server.url)))

    assert "span 1: steps 2 to 3, other, confidence 5 of 5" in out.splitlines()
    assert "    | verdict     unflagged" in out.splitlines()
    assert [character for character in out if not character.isprintable() and character != "\n"] == []
    assert [line for line in out.splitlines() if line.startswith(("verdict", "span 2"))] == [
        "verdict     flagged"
    ]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("none.json", None, "no such file"),
        ("broken.json", '{"steps": [', "cannot be judged as atif: not JSON"),
        ("list.json", "[1, 2]", "cannot be judged as atif"),
        ("empty.json", "", "cannot be judged as atif"),
        ("x.traj.json", '{"messages": []}', "cannot be judged as mini-swe-agent"),
        (
            "stepless.json",
            '{"schema_version": "ATIF-v1.5", "agent": {"name": "a"}, "steps": []}',
            "cannot be judged",
        ),
    ],
)
def test_a_file_that_cannot_be_read_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: str | None, words: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    code, out, err = judge(capsys, str(tmp_path / name))

    assert (code, out) == (1, "")
    assert name in err
    assert words in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([str(EXAMPLES)], "holds 14 trajectories"),
        ([str(FLAGGED), "--format", "mini-swe-agent"], "holds no trajectory in the format mini-swe-agent"),
        ([str(FLAGGED), "--dataset", "x"], "without --dataset"),
        ([str(FLAGGED), "--judge", "none"], "the judges of the config are rules"),
        ([str(FLAGGED), "--config", "none.yaml"], "none.yaml"),
        ([str(FLAGGED), "--format", "parquet"], "'parquet' is not known"),
        ([str(FLAGGED), *DEFAULT, "--judge", "planted"], "cannot judge a file"),
        ([str(FLAGGED), "--config", str(ROOT / "config" / "claude.yaml")], "name one of detector, generic"),
    ],
)
def test_an_error_of_the_user_s_is_named(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    code, out, err = judge(capsys, *arguments)

    assert (code, out) == (1, "")
    assert words in err


def test_a_file_of_many_runs_is_for_a_config(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = {"task_id": 0, "reward": 1.0, "info": {}, "traj": [{"role": "user", "content": "Do it."}]}
    (tmp_path / "runs.json").write_text(json.dumps([{**run, "trial": number} for number in range(3)]))
    code, out, err = judge(capsys, str(tmp_path / "runs.json"))
    assert (code, out) == (1, "")
    assert "holds 3 trajectories in one file" in err
    (tmp_path / "runs.json").write_text(json.dumps([{**run, "trial": 0}]))
    assert judge(capsys, str(tmp_path / "runs.json"))[0] == 0


def test_one_file_is_inspected_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(FLAGGED / "agent" / "trajectory.json")]) == 0
    assert capsys.readouterr().out.startswith("format              atif")


def test_judging_a_file_makes_no_judgement_of_a_shard_stale() -> None:
    reached = {path.relative_to(PACKAGE).parts[0] for path in rests_on("judge")}

    assert not {path for path in rests_on("judge") if path.stem in {"judge_file", "inspect"}}
    assert "formats" not in reached


def test_a_table_has_no_text_to_judge(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, said = judge(capsys, str(ROOT / "data/outcomes/gsm-plus.csv.gz"))

    assert (code, out) == (1, "")
    assert said.endswith("a table has no text to judge; `coherence inspect` says what it holds\n")
