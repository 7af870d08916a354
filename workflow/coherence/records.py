"""The records that stages hand to each other: frozen, and unknown is None with a reason beside it."""

from typing import Any, Literal

import msgspec

from coherence.vocabulary import ConflictType

TRAJECTORY_SCHEMA = "coherence/trajectory/1"
TRANSCRIPT_SCHEMA = "coherence/transcript/1"
JUDGEMENT_SCHEMA = "coherence/judgement/1"
TESTS_SCHEMA = "coherence/tests/1"
SPAN_SCHEMA = "coherence/span/1"

StepSource = Literal["system", "user", "agent"]
ThoughtSource = Literal["think_call", "reasoning", "scaffold", "message"]
OutcomeStatus = Literal["passed", "failed", "unknown"]
TrialStatus = Literal["ok", "no_trajectory", "unreadable", "no_text"]
QuoteVerdict = Literal["exact", "normalised", "wrong_step", "absent", "not_checkable"]
QuoteField = Literal["thought", "message", "call", "observation"]
JudgementState = Literal["flagged", "unflagged", "unjudged"]
Substrate = Literal["thoughts", "none", "unknown"]


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    """Base of every record: immutable, and JSON without its default values (whole documents keep them)."""


class Thought(Record, frozen=True):
    """A piece of visible reasoning and the place in the raw file it was taken from."""

    text: str
    source: ThoughtSource


class Call(Record, frozen=True):
    """One tool call; `arguments` as the agent gave them, {} where the raw file lost them.

    With `in_order` they are shown in the order that they stand in, else sorted by their keys.
    """

    name: str
    arguments: dict[str, Any] = {}
    call_id: str | None = None
    in_order: bool = False


class Observation(Record, frozen=True):
    """What came back; `text` is None where the raw file names a result without content."""

    text: str | None
    call_id: str | None = None


class Step(Record, frozen=True):
    """One step: each character of the agent's text is in exactly one of thoughts, message and calls.

    `number` is unique and rising within the trajectory: ATIF's step_id, continued over joined segments, or
    the n-th assistant message where the format has no numbers. Observations follow the calls of their step.
    """

    number: int
    source: StepSource
    message: str = ""
    thoughts: tuple[Thought, ...] = ()
    calls: tuple[Call, ...] = ()
    observations: tuple[Observation, ...] = ()
    timestamp: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was said, thought, called or observed."""
        spoken = self.message.strip() or any(thought.text.strip() for thought in self.thoughts)
        return not (spoken or self.calls or any(result.text for result in self.observations))


class Verified(Record, frozen=True):
    """How many of a verifier's tests passed, failed, and have no result (skipped, or told twice)."""

    passed: int = 0
    failed: int = 0
    no_result: int = 0

    @property
    def known(self) -> int:
        """The tests that passed or failed."""
        return self.passed + self.failed


class VerifierTests(Record, frozen=True, omit_defaults=False):
    """The single tests of one trial by name, sorted; kept beside the index, for they can be thousands."""

    trial: str
    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    no_result: tuple[str, ...] = ()
    schema: str = TESTS_SCHEMA


class Outcome(Record, frozen=True):
    """Pass or fail by the reward alone; an exception and the tests are kept beside it, unknown says why."""

    status: OutcomeStatus
    reward: float | None = None
    reason: str | None = None
    exception: str | None = None
    tests: Verified | None = None

    @property
    def contradicted(self) -> bool:
        """Whether it passed with failed tests, or failed although every test passed."""
        if self.tests is None:
            return False
        if self.status == "passed":
            return self.tests.failed > 0
        every = self.tests.passed > 0 and not self.tests.failed and not self.tests.no_result
        return self.status == "failed" and every


class SourceFile(Record, frozen=True):
    """A raw file a trial was read from: path relative to the dataset's folder, and SHA-256 of its bytes."""

    path: str
    sha256: str


class Trial(Record, frozen=True):
    """One attempt at a task: who, what came of it, and whether there is a trajectory to read.

    `root` is the dataset path (as configured) the trial was found under, `key` its relative path there;
    `status` other than "ok" carries a `reason`.
    """

    id: str
    dataset: str
    task: str
    attempt: str
    root: str
    key: str
    outcome: Outcome
    status: TrialStatus
    reason: str | None = None
    backbone: str | None = None
    scaffold: str | None = None
    weight: float | None = None
    sources: tuple[SourceFile, ...] = ()


class Subagent(Record, frozen=True):
    """A sub-agent's own run, kept apart from the main agent's steps."""

    name: str
    parent_step: int | None
    steps: tuple[Step, ...]


class Trajectory(Record, frozen=True, omit_defaults=False):
    """One trial's run in the normal form every later stage reads."""

    trial: Trial
    steps: tuple[Step, ...]
    subagents: tuple[Subagent, ...] = ()
    schema: str = TRAJECTORY_SCHEMA

    @property
    def id(self) -> str:
        """The trial's id."""
        return self.trial.id


class Transcript(Record, frozen=True, omit_defaults=False):
    """What a judge reads of a trajectory: no outcome, no task name, no empty steps, long observations cut."""

    id: str
    steps: tuple[Step, ...]
    empty_steps: int = 0
    cut_observations: int = 0
    cut_characters: int = 0
    schema: str = TRANSCRIPT_SCHEMA

    @property
    def substrate(self) -> Substrate:
        """Whether there is any thought to find an acknowledgment in."""
        return "thoughts" if any(step.thoughts for step in self.steps) else "none"


class Deviation(Record, frozen=True):
    """Something in a raw file that is not as its format says: counted by `code`, never fatal."""

    file: str
    code: str
    detail: str = ""


class QuoteCheck(Record, frozen=True):
    """Where a quote stands: `step`, `field`, the field's `index` in the step, offsets into that text."""

    verdict: QuoteVerdict
    step: int | None = None
    field: QuoteField | None = None
    index: int | None = None
    start: int | None = None
    end: int | None = None


class Span(Record, frozen=True):
    """One acknowledged and unresolved conflict: both quotes, where they stand, and of which kind it is.

    `flags` is False where the span is kept and does not count, for its acknowledgment quote is absent.
    """

    span_id: int
    start_step: int
    end_step: int
    acknowledgment_step: int
    acknowledgment_quote: str
    action_step: int
    action_quote: str
    conflict_type: ConflictType
    confidence: int | None = None
    reasoning: str = ""
    acknowledgment_check: QuoteCheck = QuoteCheck("not_checkable")
    action_check: QuoteCheck = QuoteCheck("not_checkable")
    flags: bool = True


class Lost(Record, frozen=True):
    """What a judgement had no answer on: the part or span with this number, and why."""

    number: int
    reason: str


class Judgement(Record, frozen=True, omit_defaults=False):
    """One judge's word on one trajectory: flagged, unflagged, or unjudged with a reason.

    `spans_known` is False where a verdict came without its spans. `rating` is the 1-5 overall coherence of
    the generic judge. `substrate` "none" means there was no thought to judge. `reply` is the reply-store key
    (`llm`) of the last reply, `replies` are those of all in their order; `windows` counts the parts the
    transcript was read in, `asked_again` the answers that did not fit and were asked for again, `masked` the
    places of secrets masked in what was sent. `lost` are the parts of a transcript, or the spans of a second
    look, without an answer: what is flagged all the same stands, and may not be all. `basis` names the
    prompt, rule set or file it rests on.
    """

    trajectory: str
    judge: str
    kind: Literal["llm", "rules", "recorded"]
    state: JudgementState
    reason: str | None = None
    detail: str = ""
    summary: str = ""
    spans: tuple[Span, ...] = ()
    spans_known: bool = True
    rating: int | None = None
    substrate: Substrate = "unknown"
    sample: int = 0
    model: str | None = None
    reply: str | None = None
    replies: tuple[str, ...] = ()
    windows: int = 1
    asked_again: int = 0
    basis: str = ""
    masked: int = 0
    lost: tuple[Lost, ...] = ()
    schema: str = JUDGEMENT_SCHEMA


class PrefixJudgement(Judgement, frozen=True, omit_defaults=False, kw_only=True):
    """One judge's word on one prefix of `trajectory`: all up to and including step number `after_step`.

    `steps_read` of the trajectory's `steps_whole` non-empty steps are in it. A line of these is one of
    recorded verdicts too.
    """

    after_step: int
    steps_read: int
    steps_whole: int


class Entry(Record, frozen=True):
    """One row of a dataset's index: the trial and what ingest counted, without the text.

    `digest` is that of the normalised trajectory and `tests_digest` that of the single tests, so that changed
    ones change the index; "" where there are none. `thoughts` counts thoughts by their source. `features`
    and `judgements` are filled only by table-only datasets, which bring them instead of text.
    """

    trial: Trial
    digest: str = ""
    tests_digest: str = ""
    steps: int = 0
    agent_steps: int = 0
    calls: int = 0
    thoughts: dict[ThoughtSource, int] = {}
    subagents: int = 0
    subagent_steps: int = 0
    deviations: dict[str, int] = {}
    features: dict[str, int | float | None] = {}
    judgements: tuple[Judgement, ...] = ()
