"""`coherence judge FILE`: one trajectory judged, and its spans in the terminal."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from coherence import formats
from coherence.cli.arguments import print_safely, printable, say
from coherence.cli.config import Config, RecordedJudge, RulesJudge
from coherence.cli.config_files import read
from coherence.cli.inspect import guess_format
from coherence.cli.judge import judge_of
from coherence.cli.layout import Layout
from coherence.errors import ConfigError, InputError
from coherence.formats import Reading, Source
from coherence.llm.ledger import usage_of as usage_of_reply
from coherence.llm.models import Usage, dollars, model_of
from coherence.llm.store import ReplyStore
from coherence.preprocess import preprocess
from coherence.records import Judgement, QuoteCheck, Span

NAMED: Final = 5  # trajectories of a folder that an error names
VERDICTS: Final = {
    "exact": "found",
    "normalised": "found but for typography",
    "wrong_step": "found in step {step} instead",
    "absent": "NOT in the transcript",
    "not_checkable": "not checkable",
}
BY_RULES: Final = Config(datasets={}, judges={"rules": RulesJudge()})
# What a config that only brings judges lacks; a file is judged whatever its datasets are.
ALONE: Final = {"datasets": {"file": {"paths": "file", "format": "atif"}}}


def reading_of(path: Path, name: str) -> Reading:
    """Read the one trajectory a file or trial folder holds; InputError says why there is none."""
    if name == "table":
        raise InputError(f"{path}: a table has no text to judge; `coherence inspect` says what it holds")
    source = Source("file", str(path))
    units = list(formats.load(name).discover(path))
    if len(units) != 1:
        keys = ", ".join(unit.key for unit in units[:NAMED]) + (", ..." if len(units) > NAMED else "")
        found = f"holds {len(units)} trajectories in the format {name}: name one of them ({keys})"
        raise InputError(f"{path}: {found if units else f'holds no trajectory in the format {name}'}")
    readings = list(formats.load(name).read(path, units[0], source))
    if len(readings) > 1:
        raise InputError(
            f"{path}: holds {len(readings)} trajectories in one file; make it a dataset of a config, for "
            "`coherence inspect` prints the entry, and judge them all"
        )
    if len(readings) != 1 or readings[0].trajectory is None:
        why = "; ".join(filter(None, (reading.trial.reason for reading in readings))) or "no steps to read"
        raise InputError(f"{path}: cannot be judged as {name}: {why}")
    return readings[0]


def judge_asked(config: Config, judge: str | None) -> str:
    """Return the judge to ask: the one named, or the config's only one."""
    known = ", ".join(config.judges)
    if judge is not None and judge not in config.judges:
        raise ConfigError(f"--judge {judge}: the judges of the config are {known}")
    if judge is None and len(config.judges) != 1:
        raise ConfigError(f"--judge: the config has several judges; name one of {known}")
    return judge if judge is not None else next(iter(config.judges))


def judgements_of(config: Config, judge: str, reading: Reading) -> list[Judgement]:
    """Return every judgement of a trajectory."""
    section = config.judges[judge]
    asked = None if isinstance(section, RecordedJudge) else judge_of(config, judge, reading.trial.dataset)
    if asked is None or reading.trajectory is None:
        raise ConfigError(f"--judge {judge}: repeats recorded verdicts; it cannot judge a file")
    return list(asked.judge([preprocess(reading.trajectory, config.preprocess)]))


def described(reading: Reading, judgement: Judgement, usage: str) -> Iterator[str]:
    """Yield the lines on one judgement, each text of the file inert and set off from what is ours."""
    steps = reading.trajectory.steps if reading.trajectory else ()
    thinking = sum(1 for step in steps if step.thoughts)
    why = judgement.reason or ("no thought to judge" if judgement.substrate == "none" else "")
    state = judgement.state + (f" ({why})" if why else "")
    facts = {
        "trajectory": f"{reading.trial.attempt}, {len(steps)} steps, {thinking} with thoughts",
        "judge": f"{judgement.judge} ({judgement.model or judgement.kind}), {judgement.basis}",
        "verdict": state,
        "rating": "" if judgement.rating is None else f"{judgement.rating} of 5",
        "detail": judgement.detail,
        "summary": judgement.summary,
        "masked": f"{judgement.masked} places before sending" if judgement.masked else "",
        "usage": usage,
    }
    for name, text in facts.items():
        if text:
            yield f"{name:<11} {one_line(text)}"
    for span in judgement.spans:
        yield from ("", *span_lines(span))


def span_lines(span: Span) -> Iterator[str]:
    """Yield the lines on one span."""
    confidence = "not given" if span.confidence is None else f"{span.confidence} of 5"
    where = f"steps {span.start_step} to {span.end_step}"
    yield f"span {span.span_id}: {where}, {span.conflict_type}, confidence {confidence}"
    yield from quote_lines(
        "acknowledged", span.acknowledgment_step, span.acknowledgment_quote, span.acknowledgment_check
    )
    yield from quote_lines("acted", span.action_step, span.action_quote, span.action_check)
    if span.reasoning:
        yield f"  why: {one_line(span.reasoning)}"


def quote_lines(role: str, step: int, quote: str, check: QuoteCheck) -> Iterator[str]:
    """Yield a quote's heading and the quote, a bar before each of its lines."""
    yield f"  {role} in step {step}, {VERDICTS[check.verdict].format(step=check.step)}:"
    yield from (f"    | {printable(line)}" for line in quote.splitlines())


def one_line(text: str) -> str:
    """Return a text that cannot leave its line."""
    return printable(" ".join(text.split()))


def usage_of(replies: ReplyStore, judgement: Judgement) -> str:
    """Return the tokens of all replies and their list price where it is known."""
    found = [reply for reply in map(replies.get, judgement.replies) if reply is not None]
    if not found:
        return ""
    usages = [msgspec.structs.astuple(usage_of_reply(reply.usage)) for reply in found]
    tokens, prices = Usage(*map(sum, zip(*usages, strict=True))), model_of(found[0].model).prices
    cost = "" if prices is None else f", about ${dollars(tokens, prices):.4f} at list price"
    told = {name: count for name, count in msgspec.structs.asdict(tokens).items() if count}
    return (", ".join(f"{count} {name}" for name, count in told.items()) or "unknown") + f" tokens{cost}"


def run_file(args: argparse.Namespace) -> int:
    """Judge the file; return 0 if there is a verdict, 1 if every judgement is unjudged."""
    if args.dataset is not None or args.shard is not None:
        raise ConfigError(f"{args.file}: a file is judged alone, without --dataset and --shard")
    config = BY_RULES if args.config is None else read(args.config, ALONE)
    judge = judge_asked(config, args.judge)
    reading = reading_of(args.file, args.format or guess_format(args.file)[0])
    judgements = judgements_of(config, judge, reading)
    replies = ReplyStore(Layout(config).replies)
    parts = ["\n".join(described(reading, each, usage_of(replies, each))) for each in judgements]
    print_safely("\n\n".join(parts))
    if all(judgement.state == "unjudged" for judgement in judgements):
        say(f"coherence judge: {args.file}: no verdict")
        return 1
    return 0
