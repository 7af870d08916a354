"""The report's part on repeated outcomes: its tables and figures, and a page for each task that has text."""

import shutil
from collections import defaultdict
from collections.abc import Callable
from typing import Final

import msgspec

from coherence.cli.config import Config
from coherence.cli.layout import Layout
from coherence.cli.loading import Loaded
from coherence.cli.sections import INGESTED
from coherence.evaluation.incoherence_tables import IncoherenceEvaluation, parted
from coherence.evaluation.mitigation import FailingTask
from coherence.figures import (
    ensembling,
    error_composition,
    incoherence_strata,
    meeting,
    variance_components,
)
from coherence.files import read_bytes, read_json, write_text
from coherence.records import Judgement, Transcript
from coherence.report.blocks import Block, Figure, PageLink, PageList, Section, Table
from coherence.report.task_pages import Attempt, TaskPage, render_task_page

FIGURES: Final[dict[str, tuple[str, Callable[[IncoherenceEvaluation], str]]]] = {
    "composition": (
        "Error as bias and variance",
        lambda found: error_composition.describe(found.incoherence),
    ),
    "components": (
        "Error of nested runs by where it comes from",
        lambda found: variance_components.describe(found.nested),
    ),
    "strata": ("Incoherence within strata", lambda found: incoherence_strata.describe(found.strata)),
    "votes": ("Error against the number of votes", lambda found: ensembling.describe(found.votes)),
}
MOST_PAGES: Final = 60  # tasks of one dataset, the most failing first


def shown_figures(config: Config, layout: Layout, found: IncoherenceEvaluation) -> dict[str, list[Figure]]:
    """Return the figures by kind, without those that show nothing."""
    blocks: dict[str, list[Figure]] = {kind: [] for kind in FIGURES}
    for name, own in parted(found, tuple(config.outcomes), INGESTED).items():
        for kind, (title, describe) in FIGURES.items():
            if own.incoherence and (kind != "components" or variance_components.drawn(own.nested)):
                svg = read_bytes(layout.figures / f"{name}.{kind}.svg")
                blocks[kind].append(Figure(f"{title}, {name}", "", svg, describe(own)))
    return blocks


def sections(
    config: Config, layout: Layout, tables: dict[str, Table], pages: list[PageLink]
) -> tuple[Section, ...]:
    """Return the sections on repeated outcomes, none where nothing was repeated."""
    found = read_json(layout.incoherence, IncoherenceEvaluation)
    if not found.incoherence:
        return ()
    figures = shown_figures(config, layout, found)
    met: list[Block] = [tables["meeting"]]
    if found.meetings:
        svg = read_bytes(layout.figures / "meeting.svg")
        met.append(Figure("Flags, bias and variance", "", svg, meeting.describe(found.meetings)))
    title = f"Tasks, attempt beside attempt: of each dataset the {MOST_PAGES} most failing at the most"
    links = [PageList(title, tuple(pages))] if pages else []
    asked: dict[str, tuple[Block, ...]] = {
        "Is the error of repeated attempts bias or scatter?": (
            tables["outcomes"],
            *figures["composition"],
            tables["incoherence"],
            tables["severity"],
        ),
        "Is the scatter the model's, or that of scaffolds, contexts and verifiers?": (
            *figures["components"],
            tables["variance_components"],
        ),
        "What does scatter go with?": (*figures["strata"], tables["incoherence_strata"]),
        "Do votes help, and which group is better?": (
            *figures["votes"],
            tables["ensembling"],
            tables["incoherence_paired"],
        ),
        "Tasks that fail": (tables["failing_tasks"], *links),
        "Does a flag go with bias or with scatter?": tuple(met),
    }
    made = {title: tuple(b for b in blocks if not _is_empty(b)) for title, blocks in asked.items()}
    shown = [Section(title, blocks) for title, blocks in made.items() if blocks]
    return (msgspec.structs.replace(shown[0], intro=INTRO), *shown[1:])


def _is_empty(block: Block) -> bool:
    return isinstance(block, Table) and not block.rows


INTRO: Final = (
    "Error of attempts at the same task, parted into bias (the same wrong thing each time) and variance "
    "(scatter); incoherence is variance over error. It says how error comes about, not how much there is: "
    "incoherent is not harmless."
)


def failing_tasks(config: Config, layout: Layout) -> dict[str, dict[str, list[FailingTask]]]:
    """Return the groups whose attempts have text by dataset and task, the most failing tasks of each."""
    found = read_json(layout.incoherence, IncoherenceEvaluation)
    by_task: dict[str, dict[str, list[FailingTask]]] = defaultdict(dict)
    readable = {name for name, dataset in config.datasets.items() if dataset.format != "table"}
    for row in sorted(found.failing, key=lambda row: row.rank):
        if row.dataset in readable and row.trajectories:
            tasks = by_task[row.dataset]
            if row.task in tasks or len(tasks) < MOST_PAGES:
                tasks.setdefault(row.task, []).append(row)
    return by_task


def write_task_pages(loaded: Loaded, tasks: dict[str, list[FailingTask]], paged: set[str]) -> list[PageLink]:
    """Write the page of each of a dataset's tasks, and return the links to them.

    `paged` are the trajectories that have a page of their own.
    """
    shutil.rmtree(loaded.layout.task_page(loaded.name, "_").parent, ignore_errors=True)
    source = TaskSource(loaded, paged)
    return [source.write(task, groups) for task, groups in tasks.items()]


class TaskSource:
    """What the pages of one dataset's tasks are made of."""

    def __init__(self, loaded: Loaded, paged: set[str]) -> None:
        self.loaded = loaded
        self.paged = paged
        self.entries = {entry.trial.id: entry for entry in self.loaded.entries}
        left_out = self.loaded.exclusions
        self.trials = [entry.trial for name, entry in self.entries.items() if name not in left_out]
        self.flagging = flagging(self.loaded.all_judgements)

    def write(self, task: str, groups: list[FailingTask]) -> PageLink:
        """Write the page of a task and return the link to it."""
        dataset, layout = self.loaded.name, self.loaded.layout
        failing = [name for group in groups for name in group.trajectories if name in self.entries]
        own = [trial for trial in self.trials if trial.task == task]
        # Groups that never failed here come last, to compare with.
        ids = dict.fromkeys([*failing, *(trial.id for trial in own if trial.status == "ok")])
        attempts = tuple(self._attempt(name) for name in ids)
        unread = sum(trial.status != "ok" for trial in own)
        page = TaskPage(dataset, task, tuple(groups), attempts, unread, self.loaded.simulated)
        path = layout.task_page(dataset, task)
        write_text(path, render_task_page(page))
        failed = sum(group.failed.count for group in groups), sum(group.failed.n for group in groups)
        said = f"{dataset}, {task}: {failed[0]:,}/{failed[1]:,} failed"
        return PageLink(("tasks", dataset, path.stem), said)

    def _attempt(self, name: str) -> Attempt:
        transcript = read_json(self.loaded.layout.transcript(self.loaded.name, name), Transcript)
        judges = tuple(self.flagging.get(name, ()))
        entry = self.entries[name]
        return Attempt(entry.trial, transcript, judges, name in self.paged, self.loaded.tests(entry))


def flagging(words: dict[str, list[Judgement]]) -> dict[str, list[str]]:
    """Return by trajectory the judges any of whose samples flag it."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for judge, judgements in words.items():
        for word in judgements:
            if word.state == "flagged":
                found[word.trajectory][judge] = None
    return {trajectory: list(judges) for trajectory, judges in found.items()}
