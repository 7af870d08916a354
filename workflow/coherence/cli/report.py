"""`coherence report`: the report, the trajectory pages and the provenance of every row."""

import argparse
import shutil
from importlib.metadata import version
from typing import Final

import msgspec

from coherence.cli import repeated_section
from coherence.cli.arguments import add_config_argument, config_of, say
from coherence.cli.config import Config
from coherence.cli.config_files import config_digest
from coherence.cli.layout import PUBLISHED, Layout
from coherence.cli.loading import Loaded
from coherence.cli.paraphrase_report import paraphrases_of
from coherence.cli.paraphrase_targets import TABLES as PARAPHRASE
from coherence.cli.prefix_report import TABLES as PREFIX
from coherence.cli.prefix_report import prefix_section
from coherence.cli.provenance import Origin, Provenance, origins
from coherence.cli.report_figures import figure_blocks
from coherence.cli.report_notes import dataset_note, outcome_notes
from coherence.evaluation import render
from coherence.evaluation.audit import introduction, what_this_does_not_show
from coherence.evaluation.evaluate import Evaluation
from coherence.evaluation.main_parts import ALL_GROUPS
from coherence.evaluation.published import read_published
from coherence.evaluation.published_table import Beside
from coherence.figures import (
    published,
)
from coherence.files import read_bytes, read_json, write_json, write_text
from coherence.records import Entry, Judgement, Transcript
from coherence.report.blocks import (
    Audit,
    Block,
    Figure,
    PageLink,
    PageList,
    Report,
    Section,
    SpanList,
    Table,
)
from coherence.report.pages import Page, render_page
from coherence.report.report import render_audit, render_report
from coherence.report.span_lists import span_list

MAIN = (
    *("failure_rates", "adjusted", "tertiles", "selectivity", "matched", "precision", "overlap"),
    *("lead_time", "landmark"),
)
AUDIT = ("audit", "audit_tests", "audit_intervals", "published", "audit_figures")
AUDIT_TITLE = "The paper's statements against its own counts"
REPEATED = (
    *("outcomes", "incoherence", "incoherence_strata", "incoherence_paired", "ensembling", "severity"),
    *("failing_tasks", "meeting", "variance_components"),
)
FURTHER = (
    *("across", "tests", "regression", "paired", "scores", "calibration"),
    *("cross_judge", "type_confusion", "ensembles", "complementary", "proxy_goal", "ablations"),
)
TITLE: Final = "Strained coherence in coding-agent trajectories"
TITLE_OF_OUTCOMES: Final = "Error incoherence of repeated attempts"
MOST_ROWS: Final = 80  # of a table in the report; its file has all
FEWEST_ROWS: Final = 10  # of each dataset in a table cut so
CITATION = (
    "Pandya, Zhang and Lyu: Strained Coherence: A Pre-Failure Signal in Coding Agent Execution Trajectories. "
    "arXiv 2606.07889, 2026.",
    "This software: see CITATION.cff.",
)


def table_block(table: render.Table, config: Config) -> Table:
    """Return a result table as a page shows it, which brings simulation notes of its datasets by itself."""
    block = msgspec.convert(table, Table, from_attributes=True)
    if table.name not in AUDIT:
        block = shortened(block, f"tables/{table.name}.md")
    # Outcome files are no datasets of the report, nor are calls in the ledger for single files.
    if all(name in config.datasets for name in table.datasets):
        return msgspec.structs.replace(block, note="")
    return msgspec.structs.replace(block, datasets=())


def shortened(block: Table, file: str) -> Table:
    """Return a long table with some rows of each dataset, those over all its groups before the others."""
    if len(block.rows) <= MOST_ROWS:
        return block
    kept: dict[str, list[tuple[str, ...]]] = {}
    for row in sorted(block.rows, key=lambda row: ALL_GROUPS not in row):
        kept.setdefault(row[0], []).append(row)
    most = max(MOST_ROWS // len(kept), FEWEST_ROWS)
    rows = tuple(
        row for dataset in dict.fromkeys(row[0] for row in block.rows) for row in kept[dataset][:most]
    )
    text = f"{block.caption} Here {len(rows):,} of {len(block.rows):,} rows; all are in {file}."
    return msgspec.structs.replace(block, rows=rows, caption=text)


def write_pages(config: Config, loaded: Loaded, named: set[str]) -> set[str]:
    """Write the pages of a dataset's trajectories, those named in any case; return the ids that have one."""
    layout, name = loaded.layout, loaded.name
    by_id: dict[str, list[Judgement]] = {}
    for judgements in loaded.all_judgements.values():
        for word in judgements:
            by_id.setdefault(word.trajectory, []).append(word)
    shutil.rmtree(layout.page(name, "_").parent, ignore_errors=True)
    written = set()
    for entry in loaded.entries:
        said = tuple(by_id.get(entry.trial.id, ()))
        wanted = config.report.pages == "all" or any(word.spans for word in said)
        wanted = wanted or entry.trial.id in named
        if entry.trial.status == "ok" and wanted:
            transcript = read_json(layout.transcript(name, entry.trial.id), Transcript)
            page = Page(entry.trial, transcript, said, loaded.simulated, loaded.tests(entry))
            write_text(layout.page(name, entry.trial.id), render_page(page))
            written.add(entry.trial.id)
    return written


def span_lists(
    config: Config, entries: list[Entry], words: dict[str, list[Judgement]], pages: set[str]
) -> list[SpanList]:
    """Return the spans of each judge on one dataset, bounded."""
    trials = {entry.trial.id: entry.trial for entry in entries}
    lists = [span_list(said, trials, pages, config.report.spans_shown) for said in words.values()]
    return [found for found in lists if found is not None]


def with_rows(tables: dict[str, Table], *names: str) -> tuple[Block, ...]:
    """Return those of the tables that have any row."""
    return tuple(tables[name] for name in names if tables[name].rows)


def sections(
    tables: dict[str, Table],
    figures: dict[str, list[Figure]],
    spans: list[SpanList],
    prefixes: tuple[Section, ...],
    repeated: tuple[Section, ...],
    rewritten: list[PageList],
) -> tuple[Section, ...]:
    """Return the report's sections in their order; that on rewritten thoughts only where there are some."""
    paraphrased = tuple(tables[name] for name in PARAPHRASE if name in tables)
    others: tuple[Block, ...] = (*paraphrased[:1], *figures["paraphrase"], *paraphrased[1:], *rewritten)
    judged = (
        Section("Does a flag go with failure?", (tables["failure_rates"], *figures["gaps"])),
        Section(
            "Does it still, beside how much is thought?",
            (tables["adjusted"], *figures["tertiles"], *with_rows(tables, "tertiles")),
        ),
        Section(
            "How selective is a flag?",
            (
                tables["selectivity"],
                tables["matched"],
                *figures["precision"],
                *with_rows(tables, "precision", "overlap"),
                *figures["overlap"],
            ),
        ),
        Section(
            "How early is the first flag?",
            (
                tables["lead_time"],
                *figures["lead-time"],
                *with_rows(tables, "landmark"),
                *figures["first-flag"],
            ),
        ),
        *prefixes,
        *([Section("Does a flag survive other words?", others)] if paraphrased else []),
        Section("Further tests", (*with_rows(tables, *FURTHER), *figures["ablations"])),
    )
    told = (*MAIN, *PREFIX, *FURTHER, *REPEATED, *AUDIT, *PARAPHRASE)
    basis = tuple(block for name, block in tables.items() if name not in told and block.rows)
    return (
        *(judged if tables["failure_rates"].rows or not repeated else ()),
        *repeated,
        *([Section("What the rates rest on", basis)] if basis else []),
        *([Section("Flagged spans", tuple(spans))] if spans else []),
    )


def audit_page(tables: dict[str, Table], layout: Layout) -> Audit:
    """Return the audit of the paper, from its tables."""
    counts = read_published(PUBLISHED / "counts.toml")
    alt = published.describe(read_json(layout.beside, tuple[Beside, ...]))
    scatter = Figure("Published against ours", "", read_bytes(layout.figures / "published.svg"), alt)
    return Audit(
        title=AUDIT_TITLE,
        paper=counts.paper,
        lead=introduction(counts),
        sections=(
            Section("Point by point", (tables["audit"],)),
            Section("The tests and intervals left out", (tables["audit_tests"], tables["audit_intervals"])),
            Section("Every printed number, beside ours", (scatter, tables["published"])),
            Section("The figures of each point, in full", (tables["audit_figures"],)),
        ),
        limits=what_this_does_not_show(counts),
    )


def write_report(config: Config) -> int:
    """Write everything, and return the number of pages."""
    layout = Layout(config)
    evaluation = read_json(layout.evaluation, Evaluation)
    made = [*read_json(layout.shown, tuple[render.Table, ...])]
    made += read_json(layout.outcomes_shown, tuple[render.Table, ...])
    made += read_json(layout.incoherence_shown, tuple[render.Table, ...])
    tables = {table.name: table_block(table, config) for table in made}
    failing = repeated_section.failing_tasks(config, layout)
    notes, spans, pages = [], [], []
    links, lists = list[PageLink](), list[PageList]()
    traced: dict[str, tuple[Origin, ...]] = {}
    for name in config.datasets:
        loaded = Loaded(config, name)
        entries, words, tasks = loaded.entries, loaded.all_judgements, failing.get(name, {})
        attempts = {one for groups in tasks.values() for group in groups for one in group.trajectories}
        paged = write_pages(config, loaded, attempts)
        links += repeated_section.write_task_pages(loaded, tasks, paged)
        rewritten = paraphrases_of(config, name, entries, paged)
        lists += rewritten.lists
        notes.append(dataset_note(config, name, entries, loaded.exclusions))
        spans += span_lists(config, entries, words, paged)
        traced[name] = origins(entries, {**words, **rewritten.words, **loaded.all_prefix_judgements()})
        pages += [layout.page(name, trajectory) for trajectory in sorted(paged)]
        pages += [*(layout.task_page(name, task) for task in tasks), *rewritten.pages]
    repeated = repeated_section.sections(config, layout, tables, links)
    report = Report(
        title=config.report.title or (TITLE if config.datasets else TITLE_OF_OUTCOMES),
        config=config.name,
        datasets=tuple(notes),
        outcomes=outcome_notes(config, layout),
        sections=sections(
            tables,
            figure_blocks(config, layout, evaluation),
            spans,
            prefix_section(config, evaluation, tables),
            repeated,
            lists,
        ),
        beside=((layout.audit.name, AUDIT_TITLE),),
        citation=CITATION,
        provenance=(
            ("coherence", version("coherence")),
            ("Config", f"{config.name}, SHA-256 {config_digest(config)}"),
            ("Bootstrap", f"seed {config.evaluation.seed}, {config.evaluation.resamples:,} resamples"),
            ("Trace of every row", "provenance.json"),
        ),
    )
    write_text(layout.report, render_report(report))
    write_text(layout.audit, render_audit(audit_page(tables, layout)))
    write_json(layout.provenance, Provenance(version("coherence"), config_digest(config), traced))
    write_text(
        layout.page_list, "".join(f"{page.relative_to(layout.results).as_posix()}\n" for page in pages)
    )
    return len(pages)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_config_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Write the report."""
    config = config_of(args)
    pages = write_report(config)
    say(f"report: {Layout(config).report}, {pages} trajectory pages")
    return 0
