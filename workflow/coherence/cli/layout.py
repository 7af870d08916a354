"""Where everything made lies. Arguments may be Snakemake wildcards such as "{dataset}"."""

from pathlib import Path

from coherence.cli.config import Config
from coherence.formats.identity import safe_id

PUBLISHED = (
    Path(__file__).resolve().parents[3] / "data" / "published"
)  # beside the package, wherever a run is

# By dataset, in the order of the report; `published` is one for all.
FIGURES = ("gaps", "tertiles", "precision", "overlap", "lead-time", "first-flag")
# By outcome file, and once for what the ingested datasets and repeated judges bring.
REPEATED_FIGURES = ("composition", "components", "strata", "votes")

ON_PREFIXES = " on prefixes"  # behind a judge's name, in the ledger and in what is traced


class Layout:
    """The paths of one run, below its results folder."""

    def __init__(self, config: Config) -> None:
        self.results = Path(config.results)
        self.replies = Path(config.replies)
        self.tables = self.results / "tables"
        self.figures = self.results / "figures"
        self.evaluation = self.tables / "evaluation.json"
        self.shown = self.tables / "tables.json"
        self.beside = self.tables / "published.json"
        self.outcomes = self.results / "outcomes.parquet"
        self.outcome_sets = self.results / "outcomes.json"
        self.outcomes_shown = self.tables / "outcomes-tables.json"
        self.incoherence = self.tables / "incoherence.json"
        self.incoherence_shown = self.tables / "incoherence-tables.json"
        self.page_list = self.results / "pages" / "list.txt"
        self.ledger = self.results / "ledger.csv"
        self.report = self.results / "report.html"
        self.audit = self.results / "audit.html"
        self.provenance = self.results / "provenance.json"

    def config(self, digest: str) -> Path:
        """A resolved config."""
        return self.results / "config" / f"{digest[:12]}.json"

    def dataset(self, dataset: str) -> Path:
        """The folder of one dataset."""
        return self.results / dataset

    def shard(self, dataset: str, stage: str, shard: int | str) -> Path:
        """What one stage made of one shard."""
        return self.dataset(dataset) / "shards" / f"{stage}-{shard}.jsonl"

    def memo(self, dataset: str, stage: str, shard: int | str) -> Path:
        """What one stage remembers of one shard between runs."""
        return self.results / "memo" / dataset / f"{stage}-{shard}.json"

    def trajectory(self, dataset: str, trajectory: str) -> Path:
        """One normalised trajectory."""
        return self.dataset(dataset) / "trajectories" / f"{trajectory}.json"

    def transcript(self, dataset: str, trajectory: str) -> Path:
        """What the judge reads of one trajectory."""
        return self.dataset(dataset) / "preprocessed" / f"{trajectory}.json"

    def tests(self, dataset: str, trial: str) -> Path:
        """The results of the single tests of one trial."""
        return self.dataset(dataset) / "tests" / f"{trial}.json"

    def judgements(self, dataset: str, judge: str) -> Path:
        """All judgements of one judge on one dataset."""
        return self.dataset(dataset) / "judgements" / f"{judge}.jsonl"

    def task_page(self, dataset: str, task: str) -> Path:
        """The page of one task, named so that any task has a file."""
        return self.results / "pages" / "tasks" / dataset / f"{safe_id(task, task)}.html"

    def prefixes(self, dataset: str, judge: str) -> Path:
        """All judgements of one judge on prefixes of one dataset's trajectories."""
        return self.dataset(dataset) / "prefixes" / f"{judge}.jsonl"

    def page(self, dataset: str, trajectory: str) -> Path:
        """The page of one trajectory."""
        return self.results / "pages" / dataset / f"{trajectory}.html"

    def paraphrased(self, dataset: str, paraphrase: str) -> str:
        """What stands for a dataset's name where its rewritten transcripts and what came of them lie."""
        return f"{dataset}/paraphrased/{paraphrase}"

    def chosen(self, dataset: str, paraphrase: str) -> Path:
        """Which trajectories of a dataset are rewritten, and why others are not."""
        return self.dataset(self.paraphrased(dataset, paraphrase)) / "chosen.jsonl"

    def log(self, *parts: str) -> Path:
        """A job's log."""
        return self.results / "logs" / f"{'/'.join(parts)}.log"
