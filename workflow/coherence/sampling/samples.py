"""One sample: what an item was answered or what came of a run at it, or why that is not known."""

from typing import Final, Literal

from coherence.records import Record

SAMPLE_SCHEMA: Final = "coherence/sample/1"

Reason = Literal[
    "api",
    "overflow",
    "refusal",
    "truncated",
    "unparsable",
    "exit",
    "signal",
    "timeout",
    "oversized",
    "unreadable",
    "reported",
    "not_started",
    "interrupted",
    "running",
]

REASONS: Final[dict[Reason, str]] = {
    "api": "the request got no reply; the next run asks again",
    "overflow": "the item does not fit the model's context window",
    "refusal": "the model refused",
    "truncated": "the reply was cut at `max_tokens`",
    "unparsable": "the reply or result holds no answer that can be read",
    "exit": "the command ended with a code other than 0",
    "signal": "the command was ended by a signal",
    "timeout": "the command took longer than `timeout_seconds`",
    "oversized": "the command wrote more than `max_output_bytes`",
    "unreadable": "the command's output is no result",
    "reported": "the command itself reports an `error`",
    "not_started": "the operating system could not start the command",
    "interrupted": "an earlier run was killed while this command ran; it may have acted",
    "running": "a command that an earlier or another run started is still running",
}


class Sample(Record, frozen=True):
    """One sample of an item; with a `reason` its outcome is unknown, and nothing else says what it was.

    `answer` is its identity: a choice's label, a canonical number or a normalised text. `tests` has a
    character a test: 1 passed, 0 failed, - no result. `trajectory` is the reply's key, the trace's id as the
    command gives it, or the key of the run that holds the trace.
    """

    item: str
    sample: int
    reason: Reason | None = None
    detail: str = ""
    answer: str | None = None
    number: float | None = None
    passed: bool | None = None
    reward: float | None = None
    tests: str | None = None
    probabilities: dict[str, float] | None = None
    lint_failures: float | None = None
    assertion_failures: float | None = None
    rubric: float | None = None
    output_tokens: float | None = None
    reasoning_tokens: float | None = None
    steps: float | None = None
    calls: float | None = None
    seconds: float | None = None
    cost_usd: float | None = None
    stop_reason: str | None = None
    trajectory: str | None = None
    seed: str | None = None
    schema: str = SAMPLE_SCHEMA

    @property
    def identity(self) -> str | None:
        """What agrees with another sample: the answer, else the tests, else pass or fail."""
        if self.reason is not None:
            return None
        known = None if self.passed is None else "passed" if self.passed else "failed"
        return self.answer or self.tests or known
