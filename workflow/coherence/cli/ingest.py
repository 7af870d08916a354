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
from coherence.formats import Format, Reading, Source
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


def entry_of(reading: Reading, digest: str = "", tests_digest: str = "") -> Entry:
    """Return the index row of a reading; the digests are those of its trajectory and its tests as written."""
    steps = reading.trajectory.steps if reading.trajectory else ()
    subagents = reading.trajectory.subagents if reading.trajectory else ()
    return Entry(
        trial=reading.trial,
        digest=digest,
        tests_digest=tests_digest,
        steps=len(steps),
        agent_steps=sum(1 for step in steps if step.source == "agent"),
        calls=sum(len(step.calls) for step in steps),
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
    parts: list[bytes | str] = [code_digest("ingest"), settings, encode(planned.unit)]
    base = base_of(Path(planned.root))
    for name in planned.unit.files:
        try:
            parts += [name, digest((base / name).read_bytes())]
        except OSError as error:
            parts += [name, type(error).__name__]
    return digest(*parts)


def ingest_unit(layout: Layout, planned: Planned, source: Source, reader: Format) -> Ingested:
    """Read one unit and write its trajectories and its tests."""
    entries: list[Entry] = []
    reports: list[FileReport] = []
    for reading in reader.read(Path(planned.root), planned.unit, source):
        name, written, tested = reading.trial.id, "", ""
        if reading.trajectory is not None:
            written = write_json(layout.trajectory(source.dataset, name), reading.trajectory)
        if reading.tests is not None:
            tested = write_json(layout.tests(source.dataset, name), reading.tests)
        entries.append(entry_of(reading, written, tested))
        reports += reports_of(reading)
    return Ingested(tuple(entries), tuple(reports))


def made_whole(layout: Layout, entry: Entry) -> bool:
    """Whether the files that ingest wrote of a trial are still there."""
    dataset, name = entry.trial.dataset, entry.trial.id
    has_run = entry.trial.status != "ok" or layout.trajectory(dataset, name).is_file()
    return has_run and (not entry.tests_digest or layout.tests(dataset, name).is_file())


def ingest_shard(config: Config, name: str, shard: int) -> None:
    """Read one shard's units; unit by unit, so that memory does not grow with their number."""
    layout = Layout(config)
    dataset = config.datasets[name]
    reader = formats.load(dataset.format)
    results: list[Ingested] = []

    def is_whole(ingested: Ingested) -> bool:
        return all(made_whole(layout, entry) for entry in ingested.entries)

    with Memo(layout.memo(name, "ingest", shard), Ingested) as memo:
        for planned in read_plan(config, name, shard):
            source = source_of(dataset, name, planned.root)
            key = unit_key(planned, digest(encode(source)))
            ingested = memo.get(planned.item, key, is_whole)
            if ingested is None:
                ingested = ingest_unit(layout, planned, source, reader)
                memo.put(planned.item, key, ingested)
            results.append(ingested)
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
