"""`coherence gather`: the shards of a stage joined into one file a dataset."""

import argparse
from pathlib import Path
from typing import Any

import msgspec

from coherence.cli.arguments import (
    add_dataset_arguments,
    config_of,
    each_dataset,
    each_judge,
    each_prefixed,
    say,
)
from coherence.cli.loading import Loaded
from coherence.evaluation.attrition import Missing, missing
from coherence.features import FEATURES
from coherence.files import write_csv, write_lines
from coherence.records import Entry

INDEX_COLUMNS = (
    *("trajectory", "task", "attempt", "root", "key", "status", "reason", "outcome", "reward"),
    *("tests_passed", "tests_failed"),
    *("outcome_reason", "exception", "backbone", "scaffold", "weight", "steps", "agent_steps", "calls"),
    *("think_call", "reasoning", "scaffold_text", "message", "subagents", "subagent_steps"),
    *("deviations", "excluded"),
)


def index_row(entry: Entry, excluded: str | None) -> dict[str, Any]:
    """Return one line of index.csv."""
    trial, outcome = entry.trial, entry.trial.outcome
    return {
        **{name: getattr(trial, name) for name in ("task", "attempt", "root", "key", "status", "reason")},
        **{name: getattr(trial, name) for name in ("backbone", "scaffold", "weight")},
        **{name: getattr(entry, name) for name in ("steps", "agent_steps", "calls")},
        **{name: getattr(entry, name) for name in ("subagents", "subagent_steps")},
        "trajectory": trial.id,
        "outcome": outcome.status,
        "reward": outcome.reward,
        "tests_passed": None if outcome.tests is None else outcome.tests.passed,
        "tests_failed": None if outcome.tests is None else outcome.tests.failed,
        "outcome_reason": outcome.reason,
        "exception": outcome.exception,
        "think_call": entry.thoughts.get("think_call", 0),
        "reasoning": entry.thoughts.get("reasoning", 0),
        "scaffold_text": entry.thoughts.get("scaffold", 0),
        "message": entry.thoughts.get("message", 0),
        "deviations": sum(entry.deviations.values()),
        "excluded": excluded,
    }


def remove_others(folder: Path, kept: set[str]) -> None:
    """Delete the files of trajectories the index no longer has: only here are all shards known."""
    for path in folder.glob("[!.]*.json"):
        if path.stem not in kept:
            path.unlink(missing_ok=True)


def gather_index(loaded: Loaded) -> None:
    """Write index.csv, ingest.csv and attrition.csv."""
    folder = loaded.layout.dataset(loaded.name)
    entries, left_out = loaded.entries, loaded.exclusions
    rows = [index_row(entry, left_out.get(entry.trial.id)) for entry in entries]
    write_csv(folder / "index.csv", rows, INDEX_COLUMNS)
    reports = [msgspec.structs.asdict(report) for report in loaded.reports()]
    write_csv(folder / "ingest.csv", reports, ("file", "status", "code", "detail"))
    gone = [msgspec.structs.asdict(row) for row in missing(entries, left_out)]
    write_csv(folder / "attrition.csv", gone, Missing.__struct_fields__)
    kept = {entry.trial.id for entry in entries if entry.trial.status == "ok"}
    for made in ("trajectories", "preprocessed"):
        remove_others(folder / made, kept)
    remove_others(folder / "tests", {entry.trial.id for entry in entries if entry.tests_digest})
    say(f"gather {loaded.name}: {len(entries)} trials, {len(gone)} without a place in the comparison")


def gather_features(loaded: Loaded) -> None:
    """Write features.csv, one row a trajectory."""
    values = loaded.features()
    found = dict.fromkeys(name for row in values.values() for name in row)
    columns = ["trajectory", *(found or FEATURES)]
    rows = [{"trajectory": name, **values[name]} for name in sorted(values)]
    write_csv(loaded.layout.dataset(loaded.name) / "features.csv", rows, columns)


def gather_judgements(loaded: Loaded, judge: str) -> None:
    """Write one judge's judgements, ordered by trajectory and sample."""
    words = sorted(loaded.judgements(judge), key=lambda word: (word.trajectory, word.sample))
    write_lines(loaded.layout.judgements(loaded.name, judge), words)


def gather_prefixes(loaded: Loaded, judge: str) -> None:
    """Write one judge's judgements of prefixes, ordered by trajectory, length and sample."""
    words = sorted(
        loaded.prefix_judgements(judge), key=lambda word: (word.trajectory, word.steps_read, word.sample)
    )
    write_lines(loaded.layout.prefixes(loaded.name, judge), words)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("what", choices=("index", "features", "judgements", "prefixes"))
    parser.add_argument("--judge", help="one judge (default: all)")
    add_dataset_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Join one stage's shards."""
    config = config_of(args)
    for name in each_dataset(config, args):
        loaded = Loaded(config, name)
        if args.what == "index":
            gather_index(loaded)
        elif args.what == "features":
            gather_features(loaded)
        elif args.what == "prefixes":
            for judge in each_prefixed(config, name, args.judge):
                gather_prefixes(loaded, judge)
        else:
            for judge in each_judge(config, name, args.judge):
                gather_judgements(loaded, judge)
    return 0
