"""Runs looked at on the way, written down by what is said of each prefix."""

from coherence.evaluation.first_flags import Timeline
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, Verdict
from coherence.evaluation.watched import Watched, watched
from coherence.records import JudgementState, OutcomeStatus, PrefixJudgement

STATES: dict[str, JudgementState] = {"F": "flagged", "-": "unflagged", "?": "unjudged"}
SETTINGS = EvaluationSettings(simulated={"set": "made up"})


def numbers(length: int) -> tuple[int, ...]:
    """Step numbers with gaps: the n-th non-empty step has the number 2n."""
    return tuple(range(2, 2 * length + 1, 2))


def words(name: str, length: int, said: str) -> list[PrefixJudgement]:
    """A look after every second step, one a character of `said`; " " is no look."""
    return [
        PrefixJudgement(
            name,
            "judge",
            "rules",
            STATES[word],
            reason="api" if word == "?" else None,
            after_step=4 * place,
            steps_read=2 * place,
            steps_whole=length,
        )
        for place, word in enumerate(said, 1)
        if word != " "
    ]


def row(name: str, outcome: OutcomeStatus, whole: str, place: int | None) -> Row:
    """A run whose whole was judged so, its first acknowledgment in the n-th non-empty step."""
    step = None if place is None else 2 * place
    verdict = Verdict(STATES[whole], "api" if whole == "?" else None, first_acknowledgment_step=step)
    return Row(name, "set", "task", name, outcome, "ok", verdicts={"judge": verdict})


# name: length, outcome, looks after 2, 4, ... steps, the whole, place of its flag in steps
RUNS: dict[str, tuple[int, OutcomeStatus, str, str, int | None]] = {
    "in-time": (10, "failed", "-F-F", "F", 3),
    "hindsight": (8, "failed", "---", "F", 6),
    "retracted": (12, "passed", "-FF--", "-", None),
    "clean": (6, "passed", "--", "-", None),
    "cannot-say": (8, "failed", "-?-", "-", None),
    "after-a-gap": (10, "failed", "?-F-", "F", 4),
    "short": (2, "passed", "", "-", None),
    "whole-unjudged": (8, "failed", "-F-", "?", None),
    "unknown": (8, "unknown", "F--", "F", 2),
    "not-placed": (8, "passed", "---", "F", None),
}


def runs() -> dict[str, Watched]:
    """What is made of them, by name."""
    said = [word for name, run in RUNS.items() for word in words(name, run[0], run[2])]
    rows = [row(name, run[1], run[3], run[4]) for name, run in RUNS.items()]
    timelines = {"set": {name: Timeline(numbers(run[0]), ()) for name, run in RUNS.items()}}
    found = watched(rows, {"set": {"judge": said}}, timelines, SETTINGS)
    return {run.trajectory: run for run in found}
