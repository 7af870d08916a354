"""The page of a task."""

import re

from html_document import Document
from msgspec.structs import replace

from coherence.evaluation.mitigation import FailingTask, Loss
from coherence.records import Call, Outcome, Step, Transcript, Trial, Verified, VerifierTests
from coherence.report.task_pages import MOST_LINES, Attempt, TaskPage, render_task_page
from coherence.report.task_tests import MOST_ROWS
from coherence.stats.proportions import proportion

HOSTILE = "<script>alert(1)</script>\u202e{{ 7*7 }}"


def attempt(name: str, commands: str, outcome: Outcome, flagged_by: tuple[str, ...] = ()) -> Attempt:
    trial = Trial(f"id-{name}", "set", "task", name, "runs", name, outcome, "ok")
    steps = tuple(
        Step(2 + place, "agent", calls=(Call("run", {"command": f"{HOSTILE} {letter}"}),))
        for place, letter in enumerate(commands)
    )
    return Attempt(trial, Transcript(trial.id, steps), flagged_by)


def verified(name: str, outcome: Outcome, *passed: str, failed: tuple[str, ...] = (HOSTILE,)) -> Attempt:
    counts = Verified(len(passed), len(failed))
    made = attempt(name, "ab", replace(outcome, tests=counts))
    return replace(made, tests=VerifierTests(made.trial.id, passed, failed))


def failing() -> FailingTask:
    return FailingTask(
        dataset="set",
        group=HOSTILE,
        task=HOSTILE,
        failed=proportion(2, 3),
        kind="answer",
        error=0.7,
        bias=0.6,
        variance=0.1,
        bias_share=0.85,
        loss=Loss(0.5, 1.0, 0.25, 0.75),
        median_steps=3.0,
        median_calls=2.0,
        modal_answer=HOSTILE,
        modal_count=2,
        trajectories=("id-a",),
        read_first=("id-b",),
    )


def page(*attempts: Attempt, without_text: int = 0) -> str:
    made = TaskPage("set", HOSTILE, (failing(),), attempts, without_text, "planted")
    return render_task_page(made)


def text(made: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", made).split())


def test_attempts_stand_beside_each_other_with_where_they_part() -> None:
    passed, failed = Outcome("passed", 1.0), Outcome("failed", 0.0)
    made = page(
        attempt("a", "abcd", passed), attempt("b", "abxd", failed, ("rules",)), attempt("c", "abcd", passed)
    )
    said = text(made)
    assert "a (in the middle)" in said
    assert "2 actions as in the middle attempt, from step 2" in said
    assert "step 4, instead of 1 action run" in said
    assert re.search(r"b \(read first\) unknown ✗ failed 0.0 4 4 2 4 75 % rules", said)
    assert 'href="../../set/id-b.html"' in made
    assert "85 %" in said
    assert "0.50 (0.25 to 0.75), 1.00" in said


def test_hostile_text_stays_text() -> None:
    made = page(attempt("a", "ab", Outcome("failed", 0.0)))
    assert "<script" not in made
    assert "49" not in text(made)
    assert "\u202e" not in made


def test_a_page_without_text_says_so() -> None:
    made = text(page(without_text=3))
    assert "No attempt has text." in made
    assert "3 attempts without text are not shown" in made


def test_long_attempts_are_cut_and_counted() -> None:
    made = text(page(attempt("a", "ab" * MOST_LINES, Outcome("failed", 0.0))))
    assert f"{MOST_LINES:,} more lines not shown" in made


def test_it_says_that_the_data_are_simulated() -> None:
    assert "Simulated data." in page()
    assert "planted" in page()


PASS, FAIL = Outcome("passed", 1.0), Outcome("failed", 0.0)


def test_tests_stand_beside_each_other_in_words() -> None:
    made = page(
        verified("a", FAIL, "same", "m"),
        attempt("b", "ab", PASS),
        verified("c", FAIL, "same", failed=("m", "n")),
    )
    table = Document(made).find("table", "named")[1]
    assert "\nm✓ passed✗ failed\nn– no result✗ failed\n" in table.text
    said = text(made)
    assert "1 test passed in all these attempts. 1 attempt without results of tests." in said
    assert re.search(r"a \(in the middle\) unknown ✗ failed 0.0 2/3 2 2", said)


def test_tests_that_contradict_the_reward_are_named() -> None:
    made = text(page(verified("a", PASS, "x"), verified("b", FAIL, "x", failed=())))
    assert "1/2 ⚠ contradicts the reward" in made
    assert "1/1 ⚠ contradicts the reward" in made
    assert "contradicts" not in text(page(verified("a", FAIL, "x")))


def test_many_and_long_tests_are_cut_and_counted() -> None:
    names = tuple(f"tests/{'x' * 300}::t[{number:03}]" for number in range(MOST_ROWS + 7))
    made = page(verified("a", FAIL, failed=names))
    assert "7 more tests that failed or differ not shown. 0 tests passed" in text(made)
    assert f'title="{names[0]}"' in made
    assert names[-1] not in made
    assert "::t[000]" in text(made)


def test_hostile_names_of_tests_stay_text() -> None:
    long = HOSTILE + '" onclick="x' * 20
    made = page(verified("a", FAIL, failed=(HOSTILE, long)), verified("b", PASS, HOSTILE, failed=()))
    assert "<script" not in made
    assert "\u202e" not in made
    assert not [e for e in Document(made).find("bdi") if set(e.attributes) - {"class", "title"}]


def test_without_tests_the_page_has_no_word_of_them() -> None:
    made = text(page(attempt("a", "ab", FAIL)))
    assert "Tests passed" not in made
    assert "verifier" not in made
