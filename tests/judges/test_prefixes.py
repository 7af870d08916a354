import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from coherence.files import write_lines
from coherence.judges.prefixes import Cutter, Grid, cut_after, lengths, prefix_id
from coherence.judges.recorded import RecordedJudge
from coherence.judges.rules import RulesJudge
from coherence.records import Judgement, Outcome, Step, Thought, Transcript, Trial

EVERY: Grid = Grid(every=2)


def transcript(name: str = "run", numbers: tuple[int, ...] = (1, 3, 4, 7, 9)) -> Transcript:
    """Steps with gaps in their numbers, each with a thought but the first."""
    first, *others = numbers
    thinking = (Step(n, "agent", thoughts=(Thought(f"Thought {n}.", "reasoning"),)) for n in others)
    return Transcript(name, (Step(first, "user", message="Do it."), *thinking), empty_steps=4)


@pytest.mark.parametrize(
    ("whole", "grid", "expected"),
    [
        (10, Grid(every=3), (3, 6, 9)),
        (9, Grid(every=3), (3, 6)),
        (10, Grid(every=1), tuple(range(1, 10))),
        (10, Grid(parts=4), (3, 5, 8)),
        (8, Grid(parts=4), (2, 4, 6)),
        (2, Grid(parts=4), (1,)),
        (10, Grid(at=(8, 2, 8, 10, 40)), (2, 8)),
        (1, Grid(every=1), ()),
        (0, Grid(parts=4), ()),
        (5, Grid(every=20), ()),
    ],
    ids=str,
)
def test_the_grid_never_reaches_the_whole(whole: int, grid: Grid, expected: tuple[int, ...]) -> None:
    assert lengths(whole, grid) == expected


@pytest.mark.parametrize(
    "said",
    [{}, {"every": 2, "parts": 4}, {"every": 0}, {"parts": 1}, {"at": []}, {"at": [0]}, {"evry": 2}],
    ids=str,
)
def test_a_grid_is_said_once_and_right(said: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(said, Grid)


def test_a_prefix_has_nothing_of_what_comes_after() -> None:
    cut = cut_after(transcript(), 4)
    assert cut.id == "run@4"
    assert [step.number for step in cut.steps] == [1, 3, 4]
    assert "Thought 7" not in msgspec.json.encode(cut).decode()


def test_steps_without_anything_in_them_are_not_counted() -> None:
    whole = transcript()
    padded = Transcript("run", (*whole.steps[:2], Step(5, "agent"), *whole.steps[2:]))
    found = [[step.number for step in cut.steps] for cut in Cutter(EVERY).prefixes([padded])]
    assert [numbers[-1] for numbers in found] == [3, 7]


def test_each_judgement_names_its_prefix() -> None:
    cutter = Cutter(EVERY)
    said = RulesJudge("rules").judge(cutter.prefixes([transcript("a"), transcript("b", (1, 2, 8))]))
    placed = [cutter.placed(word) for word in said]
    assert [(w.trajectory, w.after_step, w.steps_read, w.steps_whole) for w in placed] == [
        ("a", 3, 2, 5),
        ("a", 7, 4, 5),
        ("b", 2, 2, 3),
    ]
    assert {word.basis for word in placed} == {RulesJudge("rules").basis}


def test_a_prefix_without_a_thought_says_so() -> None:
    cutter = Cutter(Grid(at=(1, 2)))
    words = [cutter.placed(word) for word in RulesJudge("rules").judge(cutter.prefixes([transcript()]))]
    assert [(word.state, word.substrate) for word in words] == [
        ("unflagged", "none"),
        ("unflagged", "thoughts"),
    ]


TRIALS = {
    name: Trial(name, "d", "task", f"task__{name}", "runs", name, Outcome("failed"), "ok")
    for name in ("a", "b")
}
SPAN = {
    "span_id": 1, "start_step": 3, "end_step": 4, "acknowledgment_step": 3, "action_step": 4,
    "acknowledgment_quote": "Thought 3.", "action_quote": "Thought 4.", "conflict_type": "other",
}  # fmt: skip


def recorded(path: Path, *lines: dict[str, Any]) -> RecordedJudge:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return RecordedJudge("human", path, TRIALS)


def test_recorded_lines_name_the_prefix_and_the_whole_apart(tmp_path: Path) -> None:
    judge = recorded(
        tmp_path / "labels.jsonl",
        {"trial": "task__a", "state": "flagged", "spans": [SPAN]},
        {"trial": "task__a", "after_step": 3, "state": "unflagged"},
        {"trial": "task__a", "after_step": 7, "state": "flagged", "spans": [SPAN]},
        {"trajectory": "gone", "after_step": 7, "state": "unflagged"},
    )
    cuts = [transcript("a"), *Cutter(EVERY).prefixes([transcript("a"), transcript("b")])]
    words = list(judge.judge(cuts))
    assert [(word.trajectory, word.state, word.reason) for word in words] == [
        ("a", "flagged", None),
        ("a@3", "unflagged", None),
        ("a@7", "flagged", None),
        ("b@3", "unjudged", "missing"),
        ("b@7", "unjudged", "missing"),
    ]
    assert words[2].spans[0].action_check.verdict == "exact"
    assert judge.unmatched == 1


def test_verdicts_on_prefixes_that_the_grid_does_not_make_are_told(tmp_path: Path) -> None:
    lines = ({"trajectory": name, "after_step": n, "state": "unflagged"} for name in "ab" for n in (3, 4))
    judge = recorded(tmp_path / "labels.jsonl", *lines, {"trajectory": "a", "state": "unflagged"})
    cutter = Cutter(EVERY)
    assert len(list(judge.judge(cutter.prefixes([transcript("a")])))) == 2
    assert cutter.strays(judge.subjects) == ["a@4"]


def test_a_quote_from_later_is_not_in_the_prefix(tmp_path: Path) -> None:
    late = {**SPAN, "acknowledgment_quote": "Thought 9.", "acknowledgment_step": 9}
    judge = recorded(
        tmp_path / "labels.jsonl", {"trajectory": "a", "after_step": 7, "state": "flagged", "spans": [late]}
    )
    (word,) = judge.judge(Cutter(Grid(at=(4,))).prefixes([transcript("a")]))
    assert (word.state, word.reason) == ("unjudged", "unverified")


def test_what_is_written_can_be_recorded_again(tmp_path: Path) -> None:
    cutter = Cutter(EVERY)
    first = [cutter.placed(w) for w in RulesJudge("rules").judge(cutter.prefixes([transcript("a")]))]
    write_lines(tmp_path / "rules.jsonl", first)
    again = RecordedJudge("again", tmp_path / "rules.jsonl", TRIALS)
    words: list[Judgement] = [cutter.placed(w) for w in again.judge(cutter.prefixes([transcript("a")]))]
    same = ("trajectory", "state", "spans", "summary", "after_step", "steps_read")
    assert [[getattr(w, name) for name in same] for w in words] == [
        [getattr(w, name) for name in same] for w in first
    ]


def test_a_prefix_has_an_id_no_trajectory_has() -> None:
    assert prefix_id("run", 12) == "run@12"
