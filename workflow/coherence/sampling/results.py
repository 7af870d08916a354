"""What a command writes: one JSON object on stdout, or as the last line of it, read without guessing."""

from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from coherence.incoherence.evidence import all_passed, first_told
from coherence.llm.sending import clipped, object_in
from coherence.sampling.answers import AnswerError, probabilities_of
from coherence.sampling.items import Item, identity_of
from coherence.sampling.runs import Run
from coherence.sampling.samples import Reason, Sample

OUTCOMES: Final = ("answer", "number", "tests", "reward", "passed")
LONGEST_TRACE_ID: Final = 500  # characters; a longer `trace` is text of its own and stays in the run's file
MARKS: Final = {True: "1", False: "0", None: "-"}

Amount = Annotated[float, Meta(ge=0)] | None


class Result(msgspec.Struct, frozen=True):
    """The fields of a result; all may be left out but one outcome, or `error` in its place.

    `tests` is a string of 1, 0 and - or a list of true, false and null, a test a place. `trace` is the
    trace's id or path as text, or the trace itself as any other JSON.
    """

    answer: str | int | float | None = None
    number: float | None = None
    reward: float | None = None
    passed: bool | None = None
    tests: Annotated[str, Meta(pattern="^[01-]+$")] | list[bool | None] | None = None
    probabilities: dict[str, float] | None = None
    error: str | None = None
    trace: Any = None
    steps: Amount = None
    calls: Amount = None
    output_tokens: Amount = None
    reasoning_tokens: Amount = None
    seconds: Amount = None
    cost_usd: Amount = None
    lint_failures: Amount = None
    assertion_failures: Amount = None
    rubric: float | None = None
    stop_reason: str | None = None


MEASURES: Final = (
    "steps",
    "calls",
    "output_tokens",
    "reasoning_tokens",
    "cost_usd",
    "lint_failures",
    "assertion_failures",
    "rubric",
)


def sample_of(item: Item, sample: int, run: Run, pass_reward: float) -> Sample:
    """Return what a run came to: an outcome, or the reason why there is none."""
    base: dict[str, Any] = {"seconds": run.seconds, "seed": run.seed, "trajectory": run.key}
    if run.reason is not None:
        return Sample(item.id, sample, run.reason, run.detail, **base)
    try:
        result, strangers = result_in(run.output)
    except msgspec.ValidationError as error:
        return Sample(item.id, sample, "unreadable", clipped(str(error)), **base)
    base |= _measured(result, run)
    if result.error is not None:
        return Sample(item.id, sample, "reported", clipped(result.error), **base)
    notes = [f"not read: {', '.join(strangers)}"] if strangers else []
    try:
        outcome = _outcome(item, result, pass_reward, notes)
    except AnswerError as error:
        return Sample(item.id, sample, "unparsable", clipped(str(error)), **base)
    return Sample(item.id, sample, detail=clipped("; ".join(notes)), **outcome, **base)


def _measured(result: Result, run: Run) -> dict[str, Any]:
    """Return what the result says of the run beside its outcome."""
    return {
        **{name: getattr(result, name) for name in MEASURES},
        "seconds": run.seconds if result.seconds is None else result.seconds,
        "stop_reason": None if result.stop_reason is None else clipped(result.stop_reason),
        "trajectory": _trace_id(result) or run.key,
    }


def result_in(output: str) -> tuple[Result, list[str]]:
    """Return the result in a command's output and the names of fields that are not read.

    Raises ValidationError where there is none, or one without an outcome.
    """
    value = _object_in(output)
    result = msgspec.convert(value, Result)
    if result.error is None and all(getattr(result, name) is None for name in OUTCOMES):
        raise msgspec.ValidationError(f"the result has none of {', '.join(OUTCOMES)}, and no `error`")
    if isinstance(result.tests, list) and not result.tests:
        raise msgspec.ValidationError("`tests` is empty")
    return result, sorted(set(value) - set(Result.__struct_fields__))


def _object_in(output: str) -> dict[str, Any]:
    lines = [line for line in output.split("\n") if line.strip()]
    for text in (output, lines[-1] if lines else ""):
        value = object_in(text)
        if value is not None:
            return value
    what = f"its last line is {lines[-1][:80]!r}" if lines else "there is none"
    raise msgspec.ValidationError(f"no JSON object in the output; {what}")


def _outcome(item: Item, result: Result, pass_reward: float, notes: list[str]) -> dict[str, Any]:
    given = result.number if result.answer is None else result.answer
    answer, number = (None, result.number) if given is None else identity_of(item, given)
    tests = "".join(MARKS[one] for one in result.tests) if isinstance(result.tests, list) else result.tests
    fields: dict[str, Any] = {
        "answer": answer,
        "number": number if result.number is None else result.number,
        "tests": tests,
        "reward": result.reward,
        "passed": _passed(item, result, answer, tests, pass_reward),
    }
    if result.probabilities is not None:
        try:
            fields["probabilities"] = probabilities_of(result.probabilities, item.choices)
        except AnswerError as error:
            notes.append(str(error))
    return fields


def _passed(
    item: Item, result: Result, answer: str | None, tests: str | None, pass_reward: float
) -> bool | None:
    """Return what the first evidence says that says anything."""
    return first_told(
        {
            "passed": result.passed,
            "reward": None if result.reward is None else result.reward >= pass_reward,
            "answer": None if answer is None or item.target is None else answer == item.target,
            "tests": None if tests is None else all_passed(tests),
        }
    )


def _trace_id(result: Result) -> str | None:
    trace = result.trace
    short = isinstance(trace, str) and 0 < len(trace) <= LONGEST_TRACE_ID and trace.isprintable()
    return trace if short else None


def reason_of(code: int | None, limit: str | None) -> tuple[Reason | None, str]:
    """Return why a process that ended so has no result, in words, or None where it may have one."""
    if limit in {"timeout", "oversized"}:
        return ("timeout", "killed") if limit == "timeout" else ("oversized", "killed")
    if code is None or code < 0:
        return "signal", f"signal {-(code or 0)}"
    return (None, "") if code == 0 else ("exit", f"exit code {code}")
