"""Rewritten thoughts from a file: found by every way of naming, and every fault named with its line."""

import json
from pathlib import Path
from typing import Any

import pytest
from rewriting_samples import FIRST, SECOND, transcript, two_in_a_step

from coherence.errors import InputError
from coherence.paraphrase.recorded import RecordedRewriter
from coherence.paraphrase.rewriting import Rewrite, Rewritten
from coherence.records import Outcome, SourceFile, Transcript, Trial

TRIAL = Trial(
    "t1",
    "d",
    "task",
    "attempt-1",
    "runs",
    "k",
    Outcome("failed"),
    "ok",
    sources=(SourceFile("x/a.json", "00"),),
)
OTHER = Trial("t2", "d2", "task", "attempt-1", "runs", "k", Outcome("failed"), "ok")
TRIALS = {trial.id: trial for trial in (TRIAL, OTHER)}


def rewritten(folder: Path, *lines: dict[str, Any] | str, of: Transcript | None = None) -> Rewritten:
    path = folder / "thoughts.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    rewriter = RecordedRewriter(path, TRIALS, "paraphrase")
    (made,) = rewriter.rewrite([of or transcript(FIRST, SECOND)])
    return made


@pytest.mark.parametrize(
    "name",
    [{"trajectory": "t1"}, {"file": "x/a.json"}, {"trial": "attempt-1", "dataset": "d"}],
    ids=["id", "file", "attempt"],
)
def test_a_line_finds_its_thought(name: dict[str, str], tmp_path: Path) -> None:
    made = rewritten(tmp_path, {**name, "step": 2, "text": "a"}, {**name, "step": 3, "text": "b"})
    assert (made.rewrites, made.is_whole) == ((Rewrite(2, 0, "a"), Rewrite(3, 0, "b")), True)
    assert made.basis.startswith("thoughts.jsonl ")


def test_several_thoughts_of_a_step_are_told_apart(tmp_path: Path) -> None:
    lines = [{"trajectory": "t1", "step": 4, "index": index, "text": f"{index}"} for index in (2, 0)]
    made = rewritten(tmp_path, *lines, of=two_in_a_step())
    assert made.rewrites == (Rewrite(4, 0, "0"), Rewrite(4, 2, "2"))


def test_what_is_missing_empty_or_failed_is_its_own_state(tmp_path: Path) -> None:
    made = rewritten(
        tmp_path,
        {"trajectory": "t1", "step": 2, "text": " "},
        {"trajectory": "t1", "step": 4, "reason": "refusal", "detail": "no"},
        of=transcript(FIRST, SECOND, "Third."),
    )
    assert [each.reason for each in made.rewrites] == ["empty", "missing", "refusal"]
    assert not made.is_whole


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["{"], r"thoughts\.jsonl:1: "),
        ([{"trajectory": "t1", "step": 2}], r":1: .*needs a `text`, or a `reason`"),
        ([{"trajectory": "t1", "step": 2, "text": "a", "reason": "b"}], r":1: .*needs a `text`"),
        ([{"step": 2, "text": "a"}], r":1: must name its trajectory"),
        ([{"trial": "attempt-1", "step": 2, "text": "a"}], r":1: fits 2 trajectories"),
        ([{"trajectory": "t1", "step": 2, "text": "a"}] * 2, r":2: line 1 is on the same thought"),
        ([{"trajectory": "t1", "step": 9, "text": "a"}], r":1: step 9 has no such thought"),
        ([{"trajectory": "t1", "step": 2, "txt": "a"}], r":1: .*unknown field"),
    ],
    ids=["no JSON", "nothing", "both", "no name", "two fit", "twice", "no thought", "a stranger's key"],
)
def test_a_bad_line_is_named(lines: list[dict[str, Any] | str], said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        rewritten(tmp_path, *lines)


def test_lines_on_other_trajectories_are_passed_over(tmp_path: Path) -> None:
    made = rewritten(tmp_path, {"trajectory": "elsewhere", "step": 2, "text": "a"})
    assert [each.reason for each in made.rewrites] == ["missing", "missing"]


def test_without_a_file_there_is_no_text() -> None:
    (made,) = RecordedRewriter(None, TRIALS, "paraphrase").rewrite([transcript(FIRST)])
    assert (made.has_text, made.rewrites, made.is_whole) == (False, (), False)
