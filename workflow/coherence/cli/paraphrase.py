"""`coherence paraphrase`: flagged trajectories chosen, their thoughts rewritten, and judged once more."""

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from coherence.cli.arguments import add_shard_arguments, config_of, each_dataset, each_shard, say
from coherence.cli.config import Config, LlmJudge, RecordedJudge, RulesJudge
from coherence.cli.judge import Tally, judge_of, judged, read_transcripts, recorded_judge, trials_of
from coherence.cli.layout import Layout
from coherence.cli.loading import Loaded
from coherence.cli.paraphrase_config import LlmParaphrase, RecordedParaphrase, RemovedParaphrase
from coherence.cli.paraphrase_loading import LoadedParaphrase, thought_rows
from coherence.cli.shards import decode
from coherence.errors import ConfigError
from coherence.files import read_bytes, read_lines, write_csv, write_json, write_lines
from coherence.judges import Judge
from coherence.judges.hearing import NOT_RUN
from coherence.judges.samples import majority
from coherence.llm.account import Account
from coherence.paraphrase import Rewriter
from coherence.paraphrase.checks import Checked, checks
from coherence.paraphrase.choosing import CHOSEN, Considered, choose
from coherence.paraphrase.cue_removal import CueRemoval
from coherence.paraphrase.llm import LlmRewriter
from coherence.paraphrase.recorded import RecordedRewriter
from coherence.paraphrase.rewriting import Removal, Rewritten, rewritten_transcript, why_not
from coherence.records import Judgement, Transcript

BY_SHARD = ("rewrite", "judge")
NOT_REWRITTEN = "not_rewritten"
ACTIONS = ("choose", "rewrite", "check", "judge", "gather")
THOUGHT_COLUMNS = (
    *("trajectory", "step", "index", "problems", "reason", "characters", "characters_after", "ratio"),
    *("markers", "markers_after", "tokens", "lost", "added"),
)


def llm_rewriter(config: Config, dataset: str, name: str, section: LlmParaphrase) -> LlmRewriter:
    """Return a paraphraser whose calls are entered in the run's ledger."""
    layout = Layout(config)
    account = Account(layout.ledger, f"{dataset}/paraphrase {name}", config.budget_usd, section.prices)
    settings = replace(section, offline=section.offline or config.offline)
    return LlmRewriter(settings, layout.replies, account, config.offline)


def rewriter_of(config: Config, dataset: str, name: str) -> Rewriter:
    """Return what rewrites the thoughts."""
    section = config.paraphrases[name]
    if isinstance(section, LlmParaphrase):
        return llm_rewriter(config, dataset, name, section)
    if isinstance(section, RecordedParaphrase):
        path = None if section.path is None else Path(section.path)
        return RecordedRewriter(path, trials_of(config, dataset), section.manipulation)
    return Removal() if isinstance(section, RemovedParaphrase) else CueRemoval()


def choose_trajectories(config: Config, dataset: str, name: str) -> None:
    """Write which trajectories of a dataset are rewritten, and why others are not."""
    layout, section, loaded = Layout(config), config.paraphrases[name], Loaded(config, dataset)
    kept = (entry.trial for entry in loaded.entries if entry.trial.id not in loaded.exclusions)
    trials = sorted(kept, key=lambda trial: (trial.task, trial.id))
    words = majority(read_lines(layout.judgements(dataset, section.of), Judgement))
    considered = choose(trials, words, section.choice)
    write_lines(layout.chosen(dataset, name), considered)
    taken = sum(one.standing == CHOSEN for one in considered)
    say(f"paraphrase {name} {dataset}: {taken} of {len(considered)} trajectories chosen")


def chosen(layout: Layout, dataset: str, name: str) -> set[str | None]:
    """Return the ids of the trajectories that are rewritten."""
    considered = read_lines(layout.chosen(dataset, name), Considered)
    return {one.trajectory for one in considered if one.standing == CHOSEN}


def rewrite_shard(config: Config, dataset: str, name: str, shard: int) -> None:
    """Write the rewritten transcripts of one shard, and what became of each thought."""
    layout, ids = Layout(config), chosen(Layout(config), dataset, name)
    transcripts = (t for _, t in read_transcripts(layout, dataset, shard) if t.id in ids)
    place = layout.paraphrased(dataset, name)
    rows = list[tuple[str, int, int]]()

    def written(found: Iterable[Checked]) -> Iterator[Checked]:
        for one in found:
            rows.append(
                (one.rewritten.id, len(one.checks), sum(bool(check.problems) for check in one.checks))
            )
            yield one

    whole = rewritten(rewriter_of(config, dataset, name), transcripts, layout, place)
    write_lines(layout.shard(place, "rewrites", shard), written(whole))
    thoughts, faulty = sum(row[1] for row in rows), sum(row[2] for row in rows)
    say(
        f"paraphrase {name} {dataset} shard {shard}: {thoughts} thoughts of {len(rows)} trajectories, "
        f"{faulty} with a problem"
    )


def rewritten(
    rewriter: Rewriter, transcripts: Iterable[Transcript], layout: Layout, place: str
) -> Iterator[Checked]:
    """Yield what became of each transcript, written as it comes where all of it was rewritten."""
    waiting: dict[str, Transcript] = {}

    def noted() -> Iterator[Transcript]:
        for transcript in transcripts:
            waiting[transcript.id] = transcript
            yield transcript

    for made in rewriter.rewrite(noted()):
        before = waiting.pop(made.id)
        path = layout.transcript(place, made.id)
        if made.is_whole:
            write_json(path, rewritten_transcript(before, made))
        else:
            path.unlink(missing_ok=True)  # that of an earlier run would speak for this one
        yield Checked(made, checks(before, made))


def judge_after(config: Config, dataset: str, name: str, judge: str) -> Judge | None:
    """Return the judge of the rewritten transcripts."""
    section, verdicts = config.judges[judge], config.paraphrases[name].verdicts
    if isinstance(section, RecordedJudge):
        return recorded_judge(config, judge, section, dataset, Path(verdicts[judge]))
    return judge_of(config, judge, dataset, f" on {name}")


def judge_shard_after(config: Config, dataset: str, name: str, judge: str, shard: int) -> None:
    """Judge the rewritten transcripts of one shard; what was not rewritten is unjudged."""
    layout = Layout(config)
    place = layout.paraphrased(dataset, name)
    found = [row.rewritten for row in read_lines(layout.shard(place, "rewrites", shard), Checked)]
    able = [one for one in found if not one.failures]
    transcripts = (transcript_of(layout, place, one) for one in able)
    words = judged(config, (place, shard), judge, judge_after(config, dataset, name, judge), transcripts)
    tally = Tally()
    write_lines(
        layout.shard(place, f"judge-{judge}", shard),
        tally.counted([*words, *(unjudged(config, judge, one) for one in found if one.failures)]),
    )
    say(
        f"judge {judge} {place} shard {shard}: {tally.judgements} judgements, {len(tally.flagged)} flagged, "
        f"{tally.unjudged} unjudged"
    )


def transcript_of(layout: Layout, place: str, made: Rewritten) -> tuple[bytes, Transcript]:
    """Return the rewritten transcript and its bytes; one without steps where only verdicts are recorded."""
    if not made.has_text:
        return b"", Transcript(made.id, ())
    path = layout.transcript(place, made.id)
    data = read_bytes(path)
    return data, decode(data, Transcript, path)


def unjudged(config: Config, judge: str, made: Rewritten) -> Judgement:
    """Return the word on a trajectory that was not rewritten whole."""
    section = config.judges[judge]
    kind: Literal["llm", "rules", "recorded"] = (
        "llm" if isinstance(section, LlmJudge) else "rules" if isinstance(section, RulesJudge) else "recorded"
    )
    not_run = any(failure.reason == NOT_RUN for failure in made.failures)  # another run may rewrite it
    reason = NOT_RUN if not_run else NOT_REWRITTEN
    return Judgement(made.id, judge, kind, "unjudged", reason=reason, detail=why_not(made))


def gather_judgements(config: Config, dataset: str, name: str, judge: str) -> None:
    """Write one judge's judgements of the rewritten transcripts, by trajectory and sample."""
    loaded = LoadedParaphrase(config, dataset, name)
    words = sorted(loaded.after(judge), key=lambda word: (word.trajectory, word.sample))
    write_lines(loaded.layout.judgements(loaded.place, judge), words)


def check_thoughts(config: Config, dataset: str, name: str) -> None:
    """Write thoughts.csv, and delete the transcripts that are no longer chosen."""
    loaded = LoadedParaphrase(config, dataset, name)
    layout, place = loaded.layout, loaded.place
    write_csv(layout.dataset(place) / "thoughts.csv", thought_rows(loaded.checked), THOUGHT_COLUMNS)
    kept = {row.rewritten.id for row in loaded.checked if row.rewritten.is_whole}
    for path in layout.transcript(place, "_").parent.glob("[!.]*.json"):
        if path.stem not in kept:
            path.unlink(missing_ok=True)


def each_paraphrase(config: Config, dataset: str, asked: str | None) -> list[str]:
    """Return the paraphrase the command was asked for, or all of the dataset's."""
    if asked is not None and asked not in config.paraphrases:
        known = ", ".join(config.paraphrases) or "none"
        raise ConfigError(f"--paraphrase {asked}: not in the config; known: {known}")
    return [name for name in config.paraphrases_of(dataset) if asked in (None, name)]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "action", choices=ACTIONS, nargs="?", help="one part of the work (default: all, in order)"
    )
    add_shard_arguments(parser)
    parser.add_argument("--paraphrase", help="one paraphrase of the config (default: all)")
    parser.add_argument("--judge", help="judge: one judge (default: all of the paraphrase's)")


def judges_asked(config: Config, dataset: str, name: str, judge: str | None) -> list[str]:
    """Return the judge the command was asked for, or all of the paraphrase's."""
    known = config.judges_after(dataset, name)
    if judge is not None and judge not in known:
        raise ConfigError(f"--judge {judge}: the judges of paraphrase {name} are {', '.join(known)}")
    return known if judge is None else [judge]


def work_on(config: Config, args: argparse.Namespace, action: str, place: tuple[str, str]) -> None:
    """Do one part of the work that is not done by shards; `place` is (dataset, paraphrase)."""
    if action == "choose":
        choose_trajectories(config, *place)
    elif action == "check":
        check_thoughts(config, *place)
    else:
        for judge in judges_asked(config, *place, args.judge):
            gather_judgements(config, *place, judge)


def work_on_shard(
    config: Config, args: argparse.Namespace, action: str, place: tuple[str, str], shard: int
) -> None:
    """Rewrite or judge one shard; `place` is (dataset, paraphrase)."""
    if action == "rewrite":
        rewrite_shard(config, *place, shard)
        return
    for judge in judges_asked(config, *place, args.judge):
        judge_shard_after(config, *place, judge, shard)


def run(args: argparse.Namespace) -> int:
    """Do one part of the work, or all of it in order."""
    config = config_of(args)
    for action in ACTIONS if args.action is None else (args.action,):
        if action in BY_SHARD:
            for dataset, shard in each_shard(config, args):
                for name in each_paraphrase(config, dataset, args.paraphrase):
                    work_on_shard(config, args, action, (dataset, name), shard)
        else:
            for dataset in each_dataset(config, args):
                for name in each_paraphrase(config, dataset, args.paraphrase):
                    work_on(config, args, action, (dataset, name))
    return 0
