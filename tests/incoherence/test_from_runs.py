"""Outcomes of trials and of judge samples."""

import pytest
from outcome_samples import column, counted

from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.main_parts import main_parts
from coherence.evaluation.mitigation import failing_tasks
from coherence.evaluation.repeated import groups
from coherence.incoherence.from_runs import (
    NO_REPEATS,
    NO_TESTS,
    answer,
    first_samples,
    from_entries,
    from_judgements,
)
from coherence.incoherence.outcomes import kinds_in
from coherence.records import (
    Entry,
    Judgement,
    JudgementState,
    Outcome,
    OutcomeStatus,
    Span,
    Trial,
    TrialStatus,
    Verified,
    VerifierTests,
)
from coherence.vocabulary import ConflictType

PASSED, FAILED = Outcome("passed", 1.0), Outcome("failed", 0.0, exception="Timeout")
UNKNOWN = Outcome("unknown", reason="no reward")


def entry(
    name: str, task: str, outcome: Outcome, status: TrialStatus = "ok", attempt: str = "", backbone: str = "m"
) -> Entry:
    trial = Trial(name, "d", task, attempt or name, "r", name, outcome, status, "why", backbone, "x")
    return Entry(trial, agent_steps=7, calls=5)


def test_a_trial_is_an_attempt() -> None:
    found = from_entries("d", [entry("a", "t", PASSED), entry("b", "t", FAILED, "no_trajectory")], {})
    assert column(found, "group") == ["x m", "x m"]
    assert column(found, "attempt") == ["a", "b"]
    assert column(found, "passed") == [True, False]
    assert column(found, "stop_reason") == [None, "Timeout"]
    assert column(found, "trajectory") == ["a", None]
    assert (column(found, "steps"), column(found, "calls")) == ([7.0, None], [5.0, None])
    assert found.counted == ()


def test_unknown_outcomes_stay_and_superseded_trials_go() -> None:
    entries = [entry("a", "t", PASSED), entry("b", "t", UNKNOWN), entry("c", "t", UNKNOWN)]
    found = from_entries("d", entries, {"c": "superseded by a retry"})
    assert column(found, "passed") == [True, None]
    assert counted(found) == {
        "outcome unknown (kept): no reward": (1, "trials", ""),
        "superseded by a retry": (1, "trials", ""),
    }


@pytest.mark.parametrize(
    "entries",
    [
        [],
        [entry("a", "t", PASSED), entry("b", "u", PASSED)],
        [entry("a", "t", PASSED), entry("b", "t", PASSED, backbone="n")],
    ],
    ids=["nothing", "tasks", "groups"],
)
def test_without_repeats_there_are_no_rows_and_a_reason(entries: list[Entry]) -> None:
    found = from_entries("d", entries, {})
    assert len(found.frame) == 0
    assert counted(found) == {NO_REPEATS: (len(entries), "trials", "")}


def test_attempts_of_one_name_are_named_by_their_trials() -> None:
    found = from_entries(
        "d", [entry("a", "t", PASSED, attempt="0"), entry("b", "t", FAILED, attempt="0")], {}
    )
    assert column(found, "attempt") == ["a", "b"]
    apart = from_entries(
        "d", [entry("a", "t", PASSED, attempt="0"), entry("b", "t", FAILED, attempt="1")], {}
    )
    assert column(apart, "attempt") == ["0", "1"]


def verified(name: str, task: str, status: OutcomeStatus = "failed") -> Entry:
    return entry(name, task, Outcome(status, 0.0, tests=Verified(1, 1)))


TESTS = {
    "a": VerifierTests("a", ("x",), ("y",)),
    "b": VerifierTests("b", ("y",), ("x",)),
    "c": VerifierTests("c", ("q",)),
}


def test_attempts_have_the_results_of_their_tasks_tests() -> None:
    entries = [verified("a", "t"), verified("b", "t"), verified("c", "u"), entry("e", "t", PASSED)]
    found = from_entries("d", entries, {}, lambda one: TESTS[one.trial.id])
    assert column(found, "tests") == ["10", "01", "1", None]
    assert counted(found) == {NO_TESTS: (1, "trials", "")}
    assert kinds_in(found.frame) == {"tests": 3, "passed": 4}


def test_tests_of_a_superseded_trial_take_no_place() -> None:
    entries = [verified("a", "t"), verified("b", "t"), verified("c", "t")]
    found = from_entries("d", entries, {"c": "superseded by a retry"}, lambda one: TESTS[one.trial.id])
    assert column(found, "tests") == ["10", "01"]


def test_tests_do_not_make_an_outcome_known() -> None:
    entries = [verified("a", "t", "unknown"), verified("b", "t")]
    found = from_entries("d", entries, {}, lambda one: TESTS[one.trial.id])
    assert (column(found, "passed"), column(found, "tests")) == ([None, False], ["10", "01"])


def test_repeated_runs_are_decomposed_by_their_tests_and_few_of_them_stop_nothing() -> None:
    entries = [verified("a", "t"), verified("b", "t"), *(entry(f"n{k}", "t", FAILED) for k in range(6))]
    entries += [verified("c", "u"), entry("m", "u", PASSED)]
    found = from_entries("d", entries, {}, lambda one: TESTS[one.trial.id])
    (group,) = groups(found.frame)
    main = main_parts(group, IncoherenceSettings())
    assert main is not None
    assert (main.kind, main.decomposition) == ("tests", "tests")
    assert main.attempts.left_out == {"no test results": 7}
    # Two attempts of which each fails another of two tests: all of the error is scatter.
    assert [float(part[0]) for part in (main.parts.error, main.parts.bias, main.parts.variance)] == [
        0.5,
        0,
        0.5,
    ]
    (failing, *_) = failing_tasks([group], IncoherenceSettings())
    assert failing.loss is not None
    assert (failing.task, failing.loss.median, failing.loss.worst) == ("t", 1.0, 1.0)
    assert failing.loss.low == 0.875


def span(kind: ConflictType, flags: bool = True) -> Span:
    return Span(1, 1, 2, 1, "a", 2, "b", kind, flags=flags)


def said(
    trajectory: str, sample: int, state: JudgementState, *spans: Span, reason: str | None = None
) -> Judgement:
    return Judgement(
        trajectory, "j", "llm", state, reason=reason, spans=spans, sample=sample, substrate="thoughts"
    )


@pytest.mark.parametrize(
    ("word", "text"),
    [
        (said("a", 0, "unflagged"), "unflagged"),
        (said("a", 0, "unjudged", reason="refusal"), None),
        (said("a", 0, "flagged"), "flagged"),
        (
            said("a", 0, "flagged", span("other"), span("inference_vs_inference"), span("other")),
            "flagged: inference_vs_inference, other",
        ),
        (said("a", 0, "unflagged", span("other", flags=False)), "unflagged"),
    ],
)
def test_a_judgement_is_an_answer(word: Judgement, text: str | None) -> None:
    assert answer(word) == text


def test_samples_without_reference_have_no_target_and_unjudged_ones_are_counted() -> None:
    words = [
        *(said("a", 0, "flagged", span("other")), said("a", 1, "unflagged")),
        said("a", 2, "unjudged", reason="truncated"),
        Judgement("b", "j", "llm", "unflagged", substrate="none"),
    ]
    found = from_judgements("d", "j", words)
    assert column(found, "dataset") == ["d judged by j"] * 3
    assert column(found, "answer") == ["flagged: other", "unflagged", None]
    assert column(found, "passed") == [None, None, None]
    assert kinds_in(found.frame) == {}
    assert counted(found) == {
        "unjudged (kept, no answer): truncated": (1, "judgements", ""),
        "without thoughts, nobody is asked": (1, "judgements", ""),
        "answer without target (kept)": (2, "judgements", ""),
    }


def test_a_reference_is_the_target() -> None:
    words = [said("a", 0, "flagged", span("other")), said("a", 1, "unflagged"), said("b", 0, "unflagged")]
    labels = first_samples(
        [said("a", 0, "unjudged"), said("a", 1, "flagged", span("other")), said("a", 2, "unflagged")]
    )
    found = from_judgements("d", "j", words, labels)
    assert column(found, "target") == ["flagged: other", "flagged: other", None]
    assert column(found, "passed") == [True, False, None]


def test_a_judge_asked_once_has_no_rows() -> None:
    found = from_judgements("d", "j", [said("a", 0, "flagged"), said("b", 0, "unflagged")])
    assert len(found.frame) == 0
    assert counted(found) == {"the judge was asked once": (2, "judgements", "")}
