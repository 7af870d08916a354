"""`coherence ingest`: raw files -> normalised trajectories and the index."""

import argparse
from collections import Counter
from pathlib import Path

from coherence import formats
from coherence.cli.arguments import add_shard_arguments, config_of, each_shard, say
from coherence.cli.code import code_digest
from coherence.cli.config import Config
from coherence.cli.layout import Layout
from coherence.cli.plan import Planned, read_plan, source_of, write_plan
from coherence.files import Memo, digest, encode, write_json, write_lines
from coherence.formats import Reading
from coherence.formats.folders import base_of
from coherence.records import Deviation, Entry, Record, Step


class FileReport(Record, frozen=True):
    """One line of ingest.csv: a trial's file, how its reading went, and one deviation (or none)."""

    file: str
    status: str
    code: str = ""
    detail: str = ""


class Ingested(Record, frozen=True):
    """What came of one unit."""

    entries: tuple[Entry, ...]
    reports: tuple[FileReport, ...]


def count_thoughts(steps: tuple[Step, ...]) -> Counter[str]:
    """Return the number of thoughts by their source."""
    return Counter(thought.source for step in steps for thought in step.thoughts)


def entry_of(reading: Reading) -> Entry:
    """Return the index row of a reading."""
    steps = reading.trajectory.steps if reading.trajectory else ()
    subagents = reading.trajectory.subagents if reading.trajectory else ()
    return Entry(
        trial=reading.trial,
        steps=len(steps),
        agent_steps=sum(1 for step in steps if step.source == "agent"),
        thoughts=dict(count_thoughts(steps)),  # type: ignore[arg-type]
        subagents=len(subagents),
        subagent_steps=sum(len(subagent.steps) for subagent in subagents),
        deviations=dict(Counter(deviation.code for deviation in reading.deviations)),
        features=reading.features,
        judgements=reading.judgements,
    )


def reports_of(reading: Reading) -> list[FileReport]:
    """Return the lines of ingest.csv for one trial: one a deviation, or one that says there was none."""
    trial = reading.trial
    deviations = reading.deviations or (Deviation(trial.key, "", trial.reason or ""),)
    return [FileReport(d.file or trial.key, trial.status, d.code, d.detail) for d in deviations]


def unit_key(planned: Planned, settings: str) -> str:
    """Return the digest of all that decides how a unit reads: its files' bytes, the settings, the code."""
    parts: list[bytes | str] = [code_digest("ingest"), settings]
    base = base_of(Path(planned.root))
    for name in planned.unit.files:
        try:
            parts += [name, digest((base / name).read_bytes())]
        except OSError as error:
            parts += [name, type(error).__name__]
    return digest(*parts)


def ingest_shard(config: Config, name: str, shard: int) -> None:
    """Read one shard's units; unit by unit, so that memory does not grow with their number."""
    layout = Layout(config)
    dataset = config.datasets[name]
    reader = formats.load(dataset.format)
    memo = Memo(layout.memo(name, "ingest", shard), Ingested)
    results: list[Ingested] = []
    for planned in read_plan(config, name, shard):
        source = source_of(dataset, name, planned.root)
        key = unit_key(planned, digest(encode(source)))
        ingested = memo.get(planned.item, key)
        if ingested is None or not all(
            layout.trajectory(name, entry.trial.id).is_file()
            for entry in ingested.entries
            if entry.trial.status == "ok"
        ):
            entries, reports = [], []
            for reading in reader.read(Path(planned.root), planned.unit, source):
                if reading.trajectory is not None:
                    write_json(layout.trajectory(name, reading.trial.id), reading.trajectory)
                entries.append(entry_of(reading))
                reports += reports_of(reading)
            ingested = Ingested(tuple(entries), tuple(reports))
            memo.put(planned.item, key, ingested)
        results.append(ingested)
    for gone in memo.forgotten():
        for entry in gone.entries:
            layout.trajectory(name, entry.trial.id).unlink(missing_ok=True)
    memo.save()
    write_lines(layout.shard(name, "index", shard), (entry for r in results for entry in r.entries))
    write_lines(layout.shard(name, "reports", shard), (report for r in results for report in r.reports))
    say(f"ingest {name} shard {shard}: {memo.made} units read, {memo.kept} unchanged")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_shard_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Ingest one shard, or plan and ingest all of them."""
    config = config_of(args)
    for name, shard in each_shard(config, args, write_plan):
        ingest_shard(config, name, shard)
    return 0
