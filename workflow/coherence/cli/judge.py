"""`coherence judge`: transcripts -> judgements of one judge; `coherence judge FILE`: `judge_file.py`."""

import argparse
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from coherence.cli.arguments import (
    add_shard_arguments,
    config_of,
    each_judge,
    each_shard,
    say,
)
from coherence.cli.code import code_digest
from coherence.cli.config import Config, LlmJudge, RecordedJudge, RulesJudge
from coherence.cli.layout import Layout
from coherence.cli.shards import decode, read_index
from coherence.files import Memo, digest, encode, read_bytes, read_lines, write_lines
from coherence.judges import Judge
from coherence.judges.llm import LlmJudge as Llm
from coherence.judges.recorded import RecordedJudge as Recorded
from coherence.judges.rules import RulesJudge as Rules
from coherence.judges.span_judge import SpanJudge
from coherence.llm.account import Account
from coherence.preprocess import Prepared
from coherence.records import Entry, Judgement, Record, Transcript, Trial


class Words(Record, frozen=True):
    """Everything a judge said of one trajectory."""

    judgements: tuple[Judgement, ...]


def llm_judge(config: Config, name: str, section: LlmJudge, dataset: str, on: str = "") -> Llm:
    """Return an llm judge whose calls are entered in the run's ledger, under the name with `on` behind it."""
    layout = Layout(config)
    account = Account(layout.ledger, f"{dataset}/{name}{on}", config.budget_usd, section.prices)
    kept = (name, section, layout.replies, account, config.offline)
    if section.of is None:
        return Llm(*kept)
    shards = (layout.shard(dataset, f"judge-{section.of}", k) for k in range(config.datasets[dataset].shards))
    words = (word for path in shards if path.is_file() for word in read_lines(path, Judgement))
    return SpanJudge(*kept, of=section.of, words=words)


def judge_of(config: Config, name: str, dataset: str, on: str = "") -> Judge | None:
    """Return the judge, or None for one whose verdicts come with the tables themselves."""
    section = config.judges[name]
    if isinstance(section, LlmJudge):
        return llm_judge(config, name, section, dataset, on)
    if isinstance(section, RulesJudge):
        return Rules(name, section.settings)
    assert isinstance(section, RecordedJudge)  # noqa: S101 - the union has no fourth kind
    if section.path is None:
        return None
    return recorded_judge(config, name, section, dataset, Path(section.path))


def recorded_judge(config: Config, name: str, section: RecordedJudge, dataset: str, path: Path) -> Recorded:
    """Return a recorded judge that repeats the verdicts of a file."""
    reader = None if section.reader is None else str(section.reader)
    trials = trials_of(config, dataset)
    limit, absent = section.rating_at_most, section.absent_quote
    return Recorded(name, path, trials, limit, reader, absent, section.reports)


def trials_of(config: Config, dataset: str) -> dict[str, Trial]:
    """Return every trial of a dataset by its id."""
    # A line of recorded verdicts may fit trials of several shards, so that all of them must be known.
    shards = range(config.datasets[dataset].shards)
    entries = (entry for shard in shards for entry in read_index(Layout(config), dataset, shard))
    return {entry.trial.id: entry.trial for entry in entries}


def read_transcripts(layout: Layout, dataset: str, shard: int) -> Iterator[tuple[bytes, Transcript]]:
    """Yield each transcript of a shard with its bytes, one at a time."""
    for row in read_lines(layout.shard(dataset, "preprocess", shard), Prepared):
        path = layout.transcript(dataset, row.id)
        data = read_bytes(path)
        yield data, decode(data, Transcript, path)


def judged_by_rules(
    judge: Judge, memo: Memo, settings: str, transcripts: Iterator[tuple[bytes, Transcript]]
) -> Iterator[Judgement]:
    """Yield the judgements of a judge in plain code, anew only where transcript, settings or code changed."""
    for data, transcript in transcripts:
        key = digest(data, settings, code_digest("judge"))
        words: Words | None = memo.get(transcript.id, key)
        if words is None:
            words = Words(tuple(judge.judge([transcript])))
            memo.put(transcript.id, key, words)
        yield from words.judgements


def without_text(entry: Entry, name: str, judge: Judge | None) -> Iterator[Judgement]:
    """Yield what is known of a table-only trial: its own verdict, a recorded one, or that there is none."""
    brought = [word for word in entry.judgements if word.judge == name]
    if not brought and isinstance(judge, Recorded):
        brought = list(judge.judge([Transcript(entry.trial.id, ())]))
    yield from brought or [
        Judgement(entry.trial.id, name, "recorded", "unjudged", reason="missing", detail="no text to judge")
    ]


class Tally:
    """What has been said so far, counted on the way to the file."""

    def __init__(self) -> None:
        self.judgements = 0
        self.unjudged = 0
        self.flagged: set[str] = set()

    def counted(self, words: Iterable[Judgement]) -> Iterator[Judgement]:
        """Yield the judgements, each counted."""
        for word in words:
            self.judgements += 1
            self.unjudged += word.state == "unjudged"
            if word.state == "flagged":
                self.flagged.add(word.trajectory)
            yield word


def judged(
    config: Config,
    place: tuple[str, int],
    name: str,
    judge: Judge | None,
    transcripts: Iterator[tuple[bytes, Transcript]],
) -> Iterator[Judgement]:
    """Yield a judge's judgements of transcripts, with their bytes, as they come; `place`: dataset, shard."""
    dataset, shard = place
    layout = Layout(config)
    if isinstance(judge, Rules):
        with Memo(layout.memo(dataset, f"judge-{name}", shard), Words) as memo:
            yield from judged_by_rules(judge, memo, digest(encode(config.judges[name])), transcripts)
        say(f"judge {name} {dataset} shard {shard}: {memo.made} judged, {memo.kept} unchanged")
    elif judge is not None:
        yield from judge.judge(transcript for _, transcript in transcripts)


def judge_shard(config: Config, dataset: str, name: str, shard: int) -> None:
    """Judge one shard, writing as judgements come; the trajectories without text bring their own."""
    layout = Layout(config)
    judge = judge_of(config, name, dataset)
    tables = (entry for entry in read_index(layout, dataset, shard) if entry.trial.status == "no_text")
    brought = (word for entry in tables for word in without_text(entry, name, judge))
    tally = Tally()
    transcripts = read_transcripts(layout, dataset, shard)
    words = tally.counted(chain(judged(config, (dataset, shard), name, judge, transcripts), brought))
    write_lines(layout.shard(dataset, f"judge-{name}", shard), words)
    say(
        f"judge {name} {dataset} shard {shard}: {tally.judgements} judgements, {len(tally.flagged)} flagged, "
        f"{tally.unjudged} unjudged"
    )
    if isinstance(judge, Recorded) and judge.unmatched:
        say(f"judge {name}: {judge.unmatched} lines of its file are on no trajectory of {dataset}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "file", type=Path, nargs="?", help="one trajectory file or trial folder, judged alone"
    )
    add_shard_arguments(parser)
    parser.add_argument("--judge", help="one judge of the config (default: all; for a file: the only one)")
    parser.add_argument("--format", help="the file's format (default: found by looking)")


def run(args: argparse.Namespace) -> int:
    """Judge one file, or one shard, or all of them."""
    if args.file is not None:
        from coherence.cli.judge_file import run_file  # noqa: PLC0415 - imports this module

        return run_file(args)
    config = config_of(args)
    for dataset, shard in each_shard(config, args):
        for name in each_judge(config, dataset, args.judge):
            judge_shard(config, dataset, name, shard)
    return 0
