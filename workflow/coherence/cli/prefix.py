"""`coherence prefix`: transcripts -> judgements of one judge on their growing prefixes."""

import argparse
from collections.abc import Iterator

from msgspec.structs import replace

from coherence.cli.arguments import add_shard_arguments, config_of, each_prefixed, each_shard, say
from coherence.cli.code import code_digest
from coherence.cli.config import Config, RecordedJudge
from coherence.cli.judge import Tally, judge_of, read_transcripts
from coherence.cli.layout import ON_PREFIXES, Layout
from coherence.errors import ConfigError, InputError
from coherence.files import Memo, digest, encode, write_lines
from coherence.judges import Judge
from coherence.judges.prefixes import Cutter
from coherence.judges.recorded import RecordedJudge as Recorded
from coherence.judges.rules import RulesJudge as Rules
from coherence.records import PrefixJudgement, Record, Transcript


class Words(Record, frozen=True):
    """Everything a judge said of the prefixes of one trajectory."""

    judgements: tuple[PrefixJudgement, ...]


def prefix_judge(config: Config, dataset: str, name: str) -> Judge:
    """Return the judge of prefixes; a recorded one repeats the verdicts the section names."""
    section = config.judges[name]
    verdicts = config.prefixes[name].verdicts
    if isinstance(section, RecordedJudge) and verdicts is not None:
        config = replace(config, judges={**config.judges, name: replace(section, path=verdicts)})
    judge = judge_of(config, name, dataset, ON_PREFIXES)
    if judge is None:
        raise ConfigError(f"prefixes.{name}: its verdicts come with a table; there is nothing to cut")
    return judge


def transcripts_of(config: Config, dataset: str, shard: int) -> Iterator[Transcript]:
    """Yield the transcripts of a shard."""
    return (transcript for _, transcript in read_transcripts(Layout(config), dataset, shard))


def prefixes_to_ask(config: Config, dataset: str, name: str) -> Iterator[Transcript]:
    """Yield every prefix a judge is shown of a dataset; raise InputError where there are no transcripts."""
    try:
        for shard in range(config.datasets[dataset].shards):
            yield from Cutter(config.prefixes[name]).prefixes(transcripts_of(config, dataset, shard))
    except InputError as error:
        raise InputError(f"{error}. Run `coherence ingest` and `coherence preprocess` first.") from error


def judged_by_rules(
    config: Config, place: tuple[str, int], name: str, judge: Judge
) -> Iterator[PrefixJudgement]:
    """Yield a shard's judgements, anew only where transcript, settings, grid or code have changed."""
    layout, cutter = Layout(config), Cutter(config.prefixes[name])
    settings = digest(encode(config.judges[name]), encode(config.prefixes[name]), code_digest("prefix"))
    with Memo(layout.memo(place[0], f"prefix-{name}", place[1]), Words) as memo:
        for data, transcript in read_transcripts(layout, *place):
            key = digest(data, settings)
            words: Words | None = memo.get(transcript.id, key)
            if words is None:
                said = judge.judge(cutter.prefixes([transcript]))
                words = Words(tuple(map(cutter.placed, said)))
                memo.put(transcript.id, key, words)
            yield from words.judgements


def judged(config: Config, dataset: str, name: str, shard: int) -> Iterator[PrefixJudgement]:
    """Yield a judge's judgements of the prefixes of a shard's transcripts as they come."""
    judge = prefix_judge(config, dataset, name)
    if isinstance(judge, Rules):
        yield from judged_by_rules(config, (dataset, shard), name, judge)
        return
    cutter = Cutter(config.prefixes[name])
    said = judge.judge(cutter.prefixes(transcripts_of(config, dataset, shard)))
    yield from map(cutter.placed, said)
    if isinstance(judge, Recorded):
        strays = cutter.strays(judge.subjects)
        if judge.unmatched:
            say(f"prefix {name}: {judge.unmatched} lines of its file are on no trajectory of {dataset}")
        if strays:
            say(f"prefix {name}: verdicts on {len(strays)} prefixes are unused: the grid makes no such")


def judge_shard(config: Config, dataset: str, name: str, shard: int) -> None:
    """Judge the prefixes of one shard, writing as judgements come."""
    tally = Tally()
    write_lines(
        Layout(config).shard(dataset, f"prefix-{name}", shard),
        tally.counted(judged(config, dataset, name, shard)),
    )
    say(
        f"prefix {name} {dataset} shard {shard}: {tally.judgements} judgements of prefixes, "
        f"{len(tally.flagged)} trajectories flagged on the way, {tally.unjudged} unjudged"
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_shard_arguments(parser)
    parser.add_argument("--judge", help="one judge of the config's `prefixes` (default: all)")


def run(args: argparse.Namespace) -> int:
    """Judge the prefixes of one shard, or of all."""
    config = config_of(args)
    for dataset, shard in each_shard(config, args):
        for name in each_prefixed(config, dataset, args.judge):
            judge_shard(config, dataset, name, shard)
    return 0
