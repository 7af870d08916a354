"""What the Snakemake rules ask: paths, inputs, and what makes a job stale. Rules hold no logic."""

import os
import re
import shlex
import sys
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import product
from pathlib import Path
from time import time
from typing import Any

import msgspec

from coherence.cli.arguments import CONFIG_VARIABLE, printable
from coherence.cli.code import code_digest
from coherence.cli.config import TRAVEL, Config, JudgeSection, LlmJudge, RecordedJudge, of_another
from coherence.cli.config_files import config_digest, parse
from coherence.cli.layout import FIGURES, PUBLISHED, REPEATED_FIGURES, Layout
from coherence.cli.named_files import check_named_files
from coherence.cli.paraphrase_config import LlmParaphrase, ParaphraseSection
from coherence.cli.paraphrase_targets import FAILED_CALL, ParaphraseTargets
from coherence.cli.plan import source_of, write_plan
from coherence.cli.sections import INGESTED
from coherence.errors import CoherenceError, ConfigError, InputError
from coherence.files import digest, encode, read_lines, write_bytes
from coherence.llm.request import custom_headers
from coherence.preprocess import Prepared
from coherence.records import Entry

TABLES = (
    *("failure_rates", "selectivity", "matched", "lead_time"),
    *("precision", "overlap", "tertiles", "landmark"),
    *("description", "adjusted", "tests", "paired", "scores", "regression", "calibration", "across"),
    *("audit", "audit_figures", "audit_tests", "audit_intervals", "published"),
    *("ablations", "cross_judge", "type_confusion", "ensembles", "complementary", "proxy_goal"),
    *("repeats", "judgements", "attrition", "deviations", "cost"),
)
OUTCOME_TABLES = ("outcomes", "outcome_exclusions")
INCOHERENCE_TABLES = (
    *("incoherence", "incoherence_strata", "incoherence_paired", "ensembling", "severity"),
    *("failing_tasks", "meeting", "outcome_groups", "variance_components"),
)
NOT_RUN = b'"reason":"not_run"'
PREFIX_TABLES = ("prefix", "monitor")  # only where prefixes are judged
COMPLAINT = re.compile(r"coherence \w+: |Traceback ")
LAST_LINES = 12  # of what a failed job said
TABLE_KINDS = ("csv", "md", "tex")
FIGURE_KINDS = ("png", "pdf", "svg")


def pattern(names: Iterable[str]) -> str:
    """Return a wildcard constraint that admits exactly these names."""
    return "|".join(re.escape(name) for name in names) or "(?!)"


def names_in(folder: Path) -> set[str]:
    """Return the names of the files in a folder, without their ending."""
    return {Path(entry.name).stem for entry in os.scandir(folder)} if folder.is_dir() else set()


def published_digest() -> str:
    """Return the digest of the paper's printed numbers, which every run is set beside."""
    return digest(*(path.read_bytes() for path in sorted(PUBLISHED.iterdir()) if path.is_file()))


def listed(path: Path, stage: str) -> dict[str, set[str]] | None:
    """Return by folder the names of the files that a shard's list promises, None where it is damaged."""
    if not path.is_file():
        return {}
    try:
        if stage == "preprocess":
            return {"preprocessed": {row.id for row in read_lines(path, Prepared)}}
        entries = list(read_lines(path, Entry))
    except InputError:
        return None
    return {
        "trajectories": {entry.trial.id for entry in entries if entry.trial.status == "ok"},
        "tests": {entry.trial.id for entry in entries if entry.tests_digest},
    }


def made_by(section: JudgeSection | ParaphraseSection) -> Any:
    """Return what another reply of a judge or paraphraser rests on: settings, headers of the environment."""
    if not isinstance(section, LlmJudge | LlmParaphrase):
        return section
    told = msgspec.structs.asdict(section).items()
    settings = {name: value for name, value in told if name not in TRAVEL.split()}
    headers = custom_headers(section.sent_version)
    return settings if headers is None else {**settings, "custom_headers": headers}


class Run:
    """One config, resolved: it is written below the results, so that every job reads the same settings.

    `is_main` is False in the jobs of a cluster, which parse the workflow too and must change nothing.
    """

    def __init__(self, raw: Mapping[str, Any], is_main: bool = True) -> None:
        self.started = time()
        self.config: Config = parse(dict(raw), "config")
        if not self.config.datasets and not self.config.outcomes:
            raise ConfigError(
                "config: datasets: none is named, and no `outcomes`; `coherence inspect FOLDER` prints an "
                "entry to paste"
            )
        self.layout = Layout(self.config)
        self.paraphrases = ParaphraseTargets(self.config)
        self.config_path = self.layout.config(config_digest(self.config))
        if not is_main:
            return
        if not self.config_path.is_file():
            # Not sorted: tables and figures show datasets and judges in the order of the config.
            write_bytes(self.config_path, msgspec.json.format(msgspec.json.encode(self.config), indent=1))
        for name in self.config.datasets:
            write_plan(self.config, name)
            self._drop_incomplete(name)
        check_named_files(self.config)  # not before: a dataset's `generated_by` may make some of them
        self.paraphrases.drop_incomplete(self._is_unfinished)
        self._drop_unpaged()

    def _drop_incomplete(self, dataset: str) -> None:
        """Delete the lists that do not stand: Snakemake looks at a shard's list, not at what it lists.

        A list of files stands if all are there; one of judgements if no call failed, for that is tried again,
        and if nothing was left unasked, unless the run is offline and no reply has come since.
        """
        for stage, folders in (("index", ("trajectories", "tests")), ("preprocess", ("preprocessed",))):
            # Lists first: a job that ends in between can only add files to what they promise.
            promised = {path: listed(path, stage) for path in map(Path, self.shards(stage, dataset))}
            there = {folder: names_in(self.layout.dataset(dataset) / folder) for folder in folders}
            for path, names in promised.items():
                if names is None or any(not names[folder] <= there[folder] for folder in names):
                    path.unlink(missing_ok=True)
        for judge in self.config.judges_of(dataset):
            if isinstance(self.config.judges[judge], LlmJudge):
                prefixed = self.shards(f"prefix-{judge}", dataset)  # none of these without `prefixes`
                for path in map(Path, [*self.shards(f"judge-{judge}", dataset), *prefixed]):
                    if path.is_file() and self._is_unfinished(path):
                        path.unlink(missing_ok=True)

    def _is_unfinished(self, path: Path) -> bool:
        """Whether another run could judge what a shard's judgements leave out."""
        words = path.read_bytes()
        if FAILED_CALL in words:
            return True
        return NOT_RUN in words and not (self.config.offline and self._newest_reply < path.stat().st_mtime)

    @cached_property
    def _newest_reply(self) -> float:
        """When the reply store last got a reply: a file more changes the time of its folder."""
        folder = self.layout.replies
        return (
            max((entry.stat().st_mtime for entry in os.scandir(folder)), default=0.0)
            if folder.is_dir()
            else 0.0
        )

    def _drop_unpaged(self) -> None:
        """Delete the list of pages where one of them, of a trajectory or a task, is gone."""
        pages = self.layout.page_list
        if pages.is_file() and not all(
            (self.layout.results / page).is_file() for page in pages.read_text("utf-8").splitlines()
        ):
            pages.unlink(missing_ok=True)

    @property
    def is_shown(self) -> bool:
        """Whether the tables to print and the report are there: a run of some targets alone makes none."""
        shown = (self.layout.shown, self.layout.incoherence_shown, self.layout.report)
        return all(path.is_file() for path in shown)

    def complaints(self) -> str:
        """Return what the jobs that failed said last, each with its log; Snakemake tells their exit codes."""
        said = []
        for log in sorted(self.layout.log("_").parent.rglob("*.log")):
            if log.stat().st_mtime >= self.started:
                lines = log.read_text("utf-8", "replace").splitlines()
                first = next((n for n, line in enumerate(lines) if COMPLAINT.match(line)), None)
                if first is not None:
                    said.append("\n".join([f"{log}:", *lines[first:][-LAST_LINES:]]))
        return "\n\n".join(said)

    @property
    def shell_prefix(self) -> str:
        """What every job's shell runs first: it names the resolved config."""
        return f"export {CONFIG_VARIABLE}={shlex.quote(str(self.config_path))}; "

    @property
    def dataset_pattern(self) -> str:
        """The constraint of the wildcard `dataset`."""
        return pattern(self.config.datasets)

    @property
    def judge_pattern(self) -> str:
        """The constraint of the wildcard `judge`."""
        return pattern(self.config.judges)

    @property
    def paraphrase_pattern(self) -> str:
        """The constraint of the wildcard `paraphrase`."""
        return pattern(self.config.paraphrases)

    def shards(self, stage: str, dataset: str) -> list[str]:
        """Return one stage's files for all shards of a dataset."""
        count = self.config.datasets[dataset].shards
        return [str(self.layout.shard(dataset, stage, shard)) for shard in range(count)]

    def judged(self, dataset: str) -> list[str]:
        """Return the judgement files of a dataset."""
        return [str(self.layout.judgements(dataset, judge)) for judge in self.config.judges_of(dataset)]

    def all_shards(self, *stages: str) -> list[str]:
        """Return these stages' files for all shards of every dataset."""
        pairs = product(self.config.datasets, stages)
        return [path for dataset, stage in pairs for path in self.shards(stage, dataset)]

    def all_judged(self) -> list[str]:
        """Return the judgement files of every dataset, and what the judges rest on."""
        words = [path for dataset in self.config.datasets for path in self.judged(dataset)]
        return [*words, *(path for judge in self.config.judges for path in self.judge_files(judge))]

    def prefixed(self, dataset: str) -> list[str]:
        """Return the files of judgements on prefixes of a dataset, shard by shard."""
        stages = (f"prefix-{judge}" for judge in self.config.prefixes_of(dataset))
        return [path for stage in stages for path in self.shards(stage, dataset)]

    def all_prefixed(self) -> list[str]:
        """Return the files of judgements on prefixes of every dataset."""
        return [path for dataset in self.config.datasets for path in self.prefixed(dataset)]

    def prefix_files(self, judge: str) -> list[str]:
        """Return the files that a judge of prefixes rests on."""
        verdicts = self.config.prefixes[judge].verdicts
        return self.judge_files(judge) if verdicts is None else [verdicts]

    def prefix_version(self, judge: str) -> str:
        """Return what makes a judge's work on prefixes stale."""
        return self.version("prefix", made_by(self.config.judges[judge]), self.config.prefixes[judge])

    def judge_index(self, dataset: str, judge: str, shard: str) -> list[str]:
        """Return the index files a judge reads: a recorded one must know the trials of all shards."""
        if isinstance(self.config.judges[judge], RecordedJudge):
            return self.shards("index", dataset)
        return [str(self.layout.shard(dataset, "index", shard))]

    def judged_before(self, dataset: str, judge: str) -> list[str]:
        """Return the judgements that a judge of another one's spans reads."""
        section = self.config.judges[judge]
        return self.shards(f"judge-{section.of}", dataset) if of_another(section) else []

    def judge_files(self, judge: str) -> list[str]:
        """Return the files a judge rests on: its prompt's or its recorded verdicts."""
        section = self.config.judges[judge]
        if isinstance(section, LlmJudge):
            return [section.prompt, *section.replace.values()]
        return [section.path] if isinstance(section, RecordedJudge) and section.path else []

    def version(self, stage: str, *settings: Any) -> str:
        """Return the digest of the code and the settings that a stage's work rests on."""
        return digest(code_digest(stage), *(encode(setting) for setting in settings))[:16]

    def ingest_version(self, dataset: str) -> str:
        """Return what makes ingest stale."""
        section = self.config.datasets[dataset]
        return self.version("ingest", [source_of(section, dataset, root) for root in section.roots])

    def judge_version(self, judge: str) -> str:
        """Return what makes a judge's work stale."""
        return self.version("judge", made_by(self.config.judges[judge]))

    def choice_version(self, paraphrase: str) -> str:
        """Return what makes the choice of what is rewritten stale."""
        section = self.config.paraphrases[paraphrase]
        retries = {name: dataset.retries for name, dataset in self.config.datasets.items()}
        return self.version("paraphrase", section.of, section.choice, retries)

    def paraphrase_version(self, paraphrase: str) -> str:
        """Return what makes rewritten thoughts stale."""
        return self.version("paraphrase", made_by(self.config.paraphrases[paraphrase]))

    def judge_after_version(self, paraphrase: str, judge: str) -> str:
        """Return what makes a judge's work on rewritten thoughts stale."""
        verdicts = self.paraphrases.verdicts(paraphrase, judge)
        return self.version("paraphrase", made_by(self.config.judges[judge]), verdicts)

    def gather_version(self, dataset: str) -> str:
        """Return what makes the joined files of a dataset stale."""
        section = self.config.datasets[dataset]
        return self.version("gather", section.retries, section.shards)

    def evaluate_version(self) -> str:
        """Return what makes the tables stale."""
        notes = {name: (dataset.simulated, dataset.notes) for name, dataset in self.config.datasets.items()}
        judges = {name: made_by(judge) for name, judge in self.config.judges.items()}
        paraphrases = {name: made_by(section) for name, section in self.config.paraphrases.items()}
        asked = (self.config.evaluation, judges, notes, paraphrases, self.config.prefixes)
        return self.version("evaluate", *asked, published_digest())

    def report_version(self) -> str:
        """Return what makes the report stale: it names the config."""
        return self.version("report", config_digest(self.config), published_digest())

    def _tables(self, names: Iterable[str]) -> list[str]:
        return [str(self.layout.tables / f"{name}.{kind}") for name in names for kind in TABLE_KINDS]

    def outcome_files(self) -> list[str]:
        """Return the outcome files that the config names."""
        return [section.path for section in self.config.outcomes.values()]

    def outcome_tables(self) -> list[str]:
        """Return what there is of repeated outcomes."""
        return [*self._tables(OUTCOME_TABLES), str(self.layout.outcomes_shown)]

    def incoherence_tables(self) -> list[str]:
        """Return the tables of repeated outcomes."""
        analysis = (self.layout.incoherence, self.layout.incoherence_shown)
        return [*self._tables(INCOHERENCE_TABLES), *map(str, analysis)]

    def repeated_figures(self) -> list[str]:
        """Return the figures of repeated outcomes, in every format."""
        stems = [f"{name}.{kind}" for name in (*self.config.outcomes, INGESTED) for kind in REPEATED_FIGURES]
        return self._figures([*stems, "meeting"])

    def outcomes_version(self) -> str:
        """Return what makes the repeated outcomes stale."""
        config = self.config
        notes = {name: (dataset.simulated, dataset.notes) for name, dataset in config.datasets.items()}
        retries = {name: dataset.retries for name, dataset in config.datasets.items()}
        told = (config.incoherence.reference, config.incoherence.kinds)
        return self.version("outcomes", config.outcomes, *told, notes, retries)

    def incoherence_version(self) -> str:
        """Return what makes the analysis of repeated outcomes stale."""
        kinds = {name: section.kind for name, section in self.config.outcomes.items()}
        judges = {name: made_by(judge) for name, judge in self.config.judges.items()}
        return self.version("incoherence", self.config.incoherence, kinds, judges)

    def tables(self) -> list[str]:
        """Return the result tables."""
        prefixed = PREFIX_TABLES if self.all_prefixed() else ()
        made = self._tables((*TABLES, *self.paraphrases.tables, *prefixed))
        layout = self.layout
        return [*made, *map(str, (layout.evaluation, layout.shown, layout.beside))]

    def figures(self) -> list[str]:
        """Return the figures, in every format."""
        stems = [f"{dataset}.{name}" for dataset in self.config.datasets for name in FIGURES]
        stems += [f"{dataset}.prefix" for dataset in self.config.datasets if self.prefixed(dataset)]
        config = self.config
        told = {"ablations": config.evaluation.ablations, "paraphrase": config.paraphrases}
        return self._figures([*stems, "published", *(name for name, section in told.items() if section)])

    def _figures(self, stems: Iterable[str]) -> list[str]:
        return [str(self.layout.figures / f"{stem}.{kind}") for stem in stems for kind in FIGURE_KINDS]

    def lent_features(self, dataset: str) -> list[str]:
        """Return the files of the dataset that lends this one its features."""
        lender = self.config.datasets[dataset].features_from
        return [] if lender is None else [*self.shards("index", lender), *self.shards("features", lender)]

    def each_dataset(self, *names: str) -> list[str]:
        """Return these files of every dataset."""
        return [str(self.layout.dataset(d) / name) for d in self.config.datasets for name in names]

    def targets(self) -> list[str]:
        """Return every stage's outputs: one that is deleted is noticed, whichever stage made it."""
        per_dataset = [
            path
            for dataset in self.config.datasets
            for stage in ("index", "reports", "preprocess", "features")
            for path in self.shards(stage, dataset)
        ]
        judged = [
            path
            for dataset in self.config.datasets
            for judge in self.config.judges_of(dataset)
            for path in [*self.shards(f"judge-{judge}", dataset), str(self.layout.judgements(dataset, judge))]
        ]
        cut = [
            path
            for dataset in self.config.datasets
            for judge in self.config.prefixes_of(dataset)
            for path in [*self.shards(f"prefix-{judge}", dataset), str(self.layout.prefixes(dataset, judge))]
        ]
        joined = self.each_dataset(
            "index.csv",
            "ingest.csv",
            "attrition.csv",
            "features.csv",
            "table.csv",
            "spans.csv",
            "spans.jsonl",
        )
        layout = self.layout
        last = [str(path) for path in (layout.report, layout.audit, layout.provenance, layout.page_list)]
        repeated = [str(layout.outcomes), str(layout.outcome_sets)]
        repeated += [*self.outcome_tables(), *self.incoherence_tables(), *self.repeated_figures()]
        repeated += self.paraphrases.targets()
        return [*per_dataset, *judged, *cut, *joined, *repeated, *self.tables(), *self.figures(), *last]


def run_of(raw: Mapping[str, Any], is_main: bool) -> Run:
    """Return the run of a config; what the user can mend is said alone, and Snakemake ends with 1."""
    try:
        return Run(raw, is_main)
    except CoherenceError as error:
        sys.exit(printable(str(error)))  # an exception would stand amid the lines of a traceback
