import json
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from coherence.errors import InputError
from coherence.files import write_lines
from coherence.judges import Judge
from coherence.judges.recorded import RecordedJudge
from coherence.records import Judgement, Outcome, SourceFile, Span, Step, Thought, Transcript, Trial


def trial(name: str, dataset: str = "d", attempt: str | None = None) -> Trial:
    return Trial(
        id=name,
        dataset=dataset,
        task="task",
        attempt=attempt or f"task__{name}",
        root=f"runs/{dataset}",
        key=name,
        outcome=Outcome("passed", 1.0),
        status="ok",
        sources=(SourceFile(f"job/{name}/agent/trajectory.json", "0" * 64),),
    )


TRIALS: Final = {item.id: item for item in (trial("a"), trial("b"), trial("c", "e", "task__a"))}
SPAN: Final = {
    "span_id": 1, "start_step": 1, "end_step": 2, "acknowledgment_step": 1, "action_step": 2,
    "acknowledgment_quote": "That is odd.", "action_quote": "Done anyway.", "conflict_type": "other",
}  # fmt: skip


def transcript(name: str) -> Transcript:
    steps = (
        Step(1, "agent", thoughts=(Thought("That is odd.", "reasoning"),)),
        Step(2, "agent", message="Done anyway."),
    )
    return Transcript(name, steps)


def lines(path: Path, *verdicts: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(verdict) + "\n" for verdict in verdicts), "utf-8")
    return path


def judge_of(tmp_path: Path, *verdicts: dict[str, Any], rating_at_most: int | None = None) -> RecordedJudge:
    return RecordedJudge("human", lines(tmp_path / "labels.jsonl", *verdicts), TRIALS, rating_at_most)


def judged(judge: Judge, *names: str) -> list[Judgement]:
    return list(judge.judge(transcript(name) for name in names))


@pytest.mark.parametrize(
    "named",
    [
        {"trajectory": "b"},
        {"trial": "task__b"},
        {"file": "b/agent/trajectory.json"},
        {"file": "runs/d/job/b/agent/trajectory.json"},
        {"file": "./job/b/agent/trajectory.json"},
        {"trial": "task__b", "dataset": "d"},
    ],
    ids=["id", "attempt", "end of path", "whole path", "dotted path", "with its dataset"],
)
def test_a_line_names_its_trajectory_in_each_way(tmp_path: Path, named: dict[str, str]) -> None:
    found = judged(judge_of(tmp_path, {**named, "state": "flagged"}), "a", "b")

    assert [(item.trajectory, item.state, item.reason) for item in found] == [
        ("a", "unjudged", "missing"),
        ("b", "flagged", None),
    ]


def test_a_judgement_is_the_line_under_the_judge_s_own_name(tmp_path: Path) -> None:
    line = {"trajectory": "a", "state": "flagged", "summary": "s", "spans": [SPAN], "rating": 2, "model": "m"}
    (found,) = judged(judge_of(tmp_path, {**line, "judge": "other", "kind": "llm", "schema": "x"}), "a")

    assert (found.judge, found.kind, found.summary, found.rating, found.model) == (
        "human",
        "recorded",
        "s",
        2,
        "m",
    )
    assert found.basis.startswith("labels.jsonl ")
    assert found.substrate == "thoughts"


def test_quotes_are_checked_where_there_is_text(tmp_path: Path) -> None:
    invented = {**SPAN, "span_id": 2, "acknowledgment_quote": "I know that this is wrong."}
    line = {"trajectory": "a", "state": "flagged", "spans": [SPAN, invented]}
    (found,) = judged(judge_of(tmp_path, line), "a")

    assert [span.acknowledgment_check.verdict for span in found.spans] == ["exact", "absent"]


def test_quotes_without_text_are_not_checkable_and_the_substrate_is_the_line_s(tmp_path: Path) -> None:
    line = {"trajectory": "a", "state": "flagged", "spans": [SPAN], "substrate": "thoughts"}
    (found,) = judge_of(tmp_path, line).judge([Transcript("a", ())])

    assert (found.spans[0].acknowledgment_check.verdict, found.substrate) == ("not_checkable", "thoughts")


def test_a_file_this_workflow_wrote_is_replayed(tmp_path: Path) -> None:
    span = Span(1, 1, 2, 1, "That is odd.", 2, "Done anyway.", "other", 3, "r")
    written = [
        Judgement("a", "x", "llm", "flagged", spans=(span,), reply="f" * 64, model="m"),
        Judgement("b", "x", "llm", "unjudged", reason="refusal"),
    ]
    write_lines(tmp_path / "x.jsonl", written)
    found = judged(RecordedJudge("again", tmp_path / "x.jsonl", TRIALS), "a", "b")

    assert [(item.state, item.reason, item.reply) for item in found] == [
        ("flagged", None, "f" * 64),
        ("unjudged", "refusal", None),
    ]


def test_samples_come_in_order(tmp_path: Path) -> None:
    verdicts = [{"trajectory": "a", "state": "flagged", "sample": n} for n in (2, 0, 1)]

    assert [item.sample for item in judged(judge_of(tmp_path, *verdicts), "a")] == [0, 1, 2]


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ({"rating": 3}, "flagged"),
        ({"rating": 4}, "unflagged"),
        ({"rating": 4, "state": "flagged"}, "unflagged"),
        ({"state": "flagged"}, "flagged"),
        ({"rating": 1, "state": "unjudged", "reason": "refusal"}, "unjudged"),
    ],
)
def test_a_threshold_decides_where_there_is_a_rating(
    tmp_path: Path, line: dict[str, Any], state: str
) -> None:
    judge = judge_of(tmp_path, {"trajectory": "a", **line}, rating_at_most=3)

    assert [item.state for item in judged(judge, "a")] == [state]


def test_lines_on_other_trajectories_are_passed_over_and_counted(tmp_path: Path) -> None:
    judge = judge_of(
        tmp_path, {"trajectory": "z", "state": "flagged"}, {"trial": "nobody", "state": "flagged"}
    )

    assert judge.unmatched == 2


FLAGGED: Final = {"trajectory": "a", "state": "flagged"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "truncated"),
        ("[]", "object"),
        ('{"state": "flagged"}', "must name its trajectory"),
        ('{"trajectory": "a", "trial": "x", "state": "flagged"}', "must name its trajectory"),
        ('{"trajectory": "a"}', "no `state`"),
        ('{"trajectory": "a", "rating": 3}', "no `state`"),
        ('{"trajectory": "a", "state": "maybe"}', "$.state"),
        ('{"trajectory": "a", "state": "unjudged"}', "`reason`"),
        ('{"trajectory": "a", "state": "flagged", "reason": "api"}', "`reason`"),
        ('{"trajectory": "a", "state": "flagged", "spans": [{}]}', "$.spans[0]"),
        ('{"trial": "task__a", "state": "flagged"}', "fits 2 trajectories: a, c"),
        ('{"file": "trajectory.json", "state": "flagged"}', "fits 3 trajectories"),
        (json.dumps(FLAGGED), "line 1 is on the same trajectory"),
    ],
)
def test_a_bad_line_is_an_error_that_names_file_and_line(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps(FLAGGED) + "\n\n" + line + "\n", "utf-8")

    with pytest.raises(InputError) as raised:
        RecordedJudge("human", path, TRIALS)
    assert str(raised.value).startswith(f"{path}:3: ")
    assert said in str(raised.value)


def test_a_dataset_tells_apart_what_one_name_fits(tmp_path: Path) -> None:
    judge = judge_of(tmp_path, {"trial": "task__a", "dataset": "e", "state": "flagged"})

    assert [item.state for item in judged(judge, "a", "c")] == ["unjudged", "flagged"]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no-such\.jsonl"):
        RecordedJudge("human", tmp_path / "no-such.jsonl", TRIALS)


def test_spans_that_are_not_known_stay_so_when_a_judgement_is_repeated(tmp_path: Path) -> None:
    (found,) = judged(judge_of(tmp_path, {"trajectory": "a", "state": "flagged"}), "a")
    (again,) = judged(judge_of(tmp_path, msgspec.to_builtins(found)), "a")

    assert (found.spans_known, again.spans_known) == (False, False)


def test_a_label_s_rating_counts_without_its_spans(tmp_path: Path) -> None:
    line = {"trajectory": "a", "state": "unflagged", "generic_coherence": 1, "trajectory_summary": "s"}
    (found,) = judged(judge_of(tmp_path, line, rating_at_most=3), "a")

    assert (found.state, found.rating, found.summary) == ("flagged", 1, "s")


def test_words_in_a_line_do_not_make_it_a_span(tmp_path: Path) -> None:
    line = {"trajectory": "a", "state": "unflagged", "summary": "It printed coherence/span/1."}
    (found,) = judged(judge_of(tmp_path, line), "a")

    assert found.state == "unflagged"
