"""From trials found to trajectories compared: retries, and a reason for each missing one."""

from coherence.evaluation.attrition import NOT_NEEDED, SUPERSEDED, attrition, exclusions, missing
from coherence.records import Entry, Outcome, Trial, TrialStatus

FAILED = Outcome("failed")


def entry(key: str, root: str = "run", status: TrialStatus = "ok", outcome: Outcome = FAILED) -> Entry:
    task = key.split("_", maxsplit=1)[0]
    reason = None if status == "ok" else "why"
    return Entry(Trial(f"{root}:{key}", "d", task, key, root, key, outcome, status, reason))


CRASH = Outcome("unknown", None, "no reward", "AgentTimeoutError")


def test_a_retry_takes_the_place_of_a_crashed_trial() -> None:
    entries = [entry("a_1", status="no_trajectory", outcome=CRASH), entry("a_9", "retry"), entry("b_1")]
    assert exclusions(entries, {"retry": "run"}) == {"run:a_1": SUPERSEDED}


def test_a_retry_of_a_completed_trial_is_left_out() -> None:
    entries = [entry("a_1"), entry("a_9", "retry")]
    assert exclusions(entries, {"retry": "run"}) == {"retry:a_9": NOT_NEEDED}


def test_the_usable_retry_is_taken_first() -> None:
    entries = [
        entry("a_1", status="no_trajectory", outcome=CRASH),
        entry("a_2", "retry", status="no_trajectory", outcome=CRASH),
        entry("a_3", "retry"),
    ]
    assert exclusions(entries, {"retry": "run"}) == {"run:a_1": SUPERSEDED, "retry:a_2": NOT_NEEDED}


def test_a_retry_can_be_retried() -> None:
    entries = [
        entry("a_1", status="no_trajectory", outcome=CRASH),
        entry("a_2", "retry", status="no_trajectory", outcome=CRASH),
        entry("a_3", "again"),
    ]
    left_out = exclusions(entries, {"retry": "run", "again": "retry"})
    assert left_out == {"run:a_1": SUPERSEDED, "retry:a_2": SUPERSEDED}


def test_an_exception_with_a_reward_is_no_crash() -> None:
    timed_out = Outcome("passed", 1.0, None, "AgentTimeoutError")
    assert exclusions([entry("a_1", outcome=timed_out), entry("a_2", "retry")], {"retry": "run"}) == {
        "retry:a_2": NOT_NEEDED
    }


def test_attrition_adds_up_and_names_each_fate() -> None:
    entries = [
        entry("a_1", status="no_trajectory", outcome=CRASH),
        entry("a_9", "retry"),
        entry("b_1", status="unreadable"),
        entry("c_1", outcome=Outcome("unknown", reason="no reward")),
    ]
    rows = attrition("d", entries, exclusions(entries, {"retry": "run"}))
    assert {row.fate: row.n for row in rows} == {
        SUPERSEDED: 1,
        "trajectory, outcome known": 1,
        "unreadable": 1,
        "trajectory, outcome unknown": 1,
    }


def test_each_missing_trial_is_listed_with_why() -> None:
    entries = [entry("a_1", status="no_trajectory", outcome=CRASH), entry("b_1")]
    rows = [(row.trajectory, row.why, row.detail) for row in missing(entries, {})]
    assert rows == [("run:a_1", "no trajectory after AgentTimeoutError", "why")]
