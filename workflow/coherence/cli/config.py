"""The settings of a run, typed: what `config/*.yaml` may hold. `config/README.md` explains every key."""

from os.path import normpath
from typing import Annotated, Literal, TypeGuard

from msgspec import Meta

from coherence.cli.paraphrase_config import ParaphraseSection, judges_after
from coherence.cli.prefix_config import PrefixSection
from coherence.cli.sections import Incoherence, OutcomeSet, Positive, Section
from coherence.judges.flagging import AbsentQuote
from coherence.judges.llm import LlmSettings
from coherence.judges.rules import RulesSettings
from coherence.judges.schema import Reports
from coherence.preprocess import PreprocessSettings

# Settings of an llm judge that change how its replies travel and what they cost, but no reply.
TRAVEL = (
    "base_url concurrency max_retries timeout_seconds stop_seconds offline mode poll_seconds cache prices"
)

TrialField = Literal[
    "id",
    "task",
    "attempt",
    "backbone",
    "scaffold",
    "weight",
    "exception",
    "reward",
    "outcome",
    "passed",
    "failed",
]
VerdictField = Literal[
    "flagged",
    "reason",
    "rating",
    "confidence",
    "type",
    "acknowledgment_step",
    "action_step",
    "substrate",
]


class Dataset(Section, frozen=True):
    """Where one dataset's runs are and what they are runs of."""

    paths: str | Annotated[list[str], Meta(min_length=1)]
    format: Literal["harbor", "atif", "mini-swe-agent", "tau-bench", "table"]
    backbone: str | None = None
    scaffold: str | None = None
    notes: str = ""
    simulated: str = ""
    generated_by: list[str] = []
    shards: Positive = 1
    retry_of: dict[str, str] = {}
    pass_reward: float = 1.0
    reward_key: str | None = None
    columns: dict[TrialField, str] = {}
    feature_columns: list[str] = []
    features_from: str | None = None
    verdict_columns: dict[str, dict[VerdictField, str]] = {}

    @property
    def roots(self) -> list[str]:
        """The dataset's paths as a list, each in its shortest form."""
        paths = [self.paths] if isinstance(self.paths, str) else self.paths
        return [normpath(path) for path in paths]

    @property
    def retries(self) -> dict[str, str]:
        """`retry_of` with the paths as `roots` has them."""
        return {normpath(path): normpath(retried) for path, retried in self.retry_of.items()}


class RulesJudge(Section, frozen=True, tag_field="kind", tag="rules"):
    """A judge in plain code."""

    datasets: list[str] | None = None
    settings: RulesSettings = RulesSettings()


class RecordedJudge(Section, frozen=True, tag_field="kind", tag="recorded"):
    """Verdicts from a file, or from the columns of table-only datasets (no `path`)."""

    path: str | None = None
    rating_at_most: Annotated[int, Meta(ge=1, le=5)] | None = None
    reader: str | int | None = None
    absent_quote: AbsentQuote = "keep"
    reports: Reports = "spans"
    of: str | None = None
    datasets: list[str] | None = None


class LlmJudge(LlmSettings, frozen=True, kw_only=True, tag_field="kind", tag="llm"):
    """A language model behind the Messages API; with `of`, one that looks again at another judge's spans."""

    of: str | None = None
    datasets: list[str] | None = None


JudgeSection = RulesJudge | RecordedJudge | LlmJudge


def of_another(judge: JudgeSection) -> TypeGuard[RecordedJudge | LlmJudge]:
    """Whether a judge looks at the spans of another one."""
    return not isinstance(judge, RulesJudge) and judge.of is not None


class Equivalence(Section, frozen=True):
    """When a variant of a judge counts as equal to it; config/prompts/criteria says why so."""

    margin_points: Annotated[float, Meta(gt=0, le=100)] = 10.0
    at_least: Positive = 60


class Evaluation(Section, frozen=True):
    """Seeds, sizes and choices of the evaluation."""

    seed: Annotated[int, Meta(ge=0)] = 20260607
    resamples: Positive = 1000
    matched_k: Positive | None = None
    seeds: list[str] = []
    confidence_at_least: Annotated[int, Meta(ge=1, le=5)] | None = None
    family: tuple[str, ...] | None = None
    stratify_by: str = "think_chars"
    covariates: tuple[str, ...] = ("trajectory_length", "think_chars", "lexical", "tool_errors")
    task_categories: dict[str, str] = {}
    ablations: dict[str, list[str]] = {}
    equivalence: Equivalence = Equivalence()
    references: list[str] | None = None
    complementary: dict[str, list[str]] = {}


class Report(Section, frozen=True):
    """What the report shows."""

    title: str | None = None
    pages: Literal["flagged", "all"] = "flagged"
    spans_shown: Positive = 200


class Config(Section, frozen=True):
    """A whole run."""

    datasets: dict[str, Dataset]
    judges: dict[str, JudgeSection]
    name: str = "default"
    results: str = "results"
    replies: str = "results/replies"
    paraphrases: dict[str, ParaphraseSection] = {}
    budget_usd: Annotated[float, Meta(ge=0)] | None = None
    offline: bool = False
    prefixes: dict[str, PrefixSection] = {}
    preprocess: PreprocessSettings = PreprocessSettings()
    evaluation: Evaluation = Evaluation()
    outcomes: dict[str, OutcomeSet] = {}
    incoherence: Incoherence = Incoherence()
    report: Report = Report()

    def judges_of(self, dataset: str) -> list[str]:
        """Return the names of the judges that judge a dataset, in the order of the config.

        A judge that reads text judges a table only where it names it.
        """

        def judges(judge: JudgeSection) -> bool:
            if judge.datasets is not None:
                return dataset in judge.datasets
            return isinstance(judge, RecordedJudge) or self.datasets[dataset].format != "table"

        return [name for name, judge in self.judges.items() if judges(judge)]

    def paraphrases_of(self, dataset: str) -> list[str]:
        """Return the names of the paraphrases of a dataset: those whose judge has read text there."""
        return [
            name
            for name, section in self.paraphrases.items()
            if (section.datasets is None or dataset in section.datasets)
            and self.has_text(dataset, section.of)
        ]

    def judges_after(self, dataset: str, paraphrase: str) -> list[str]:
        """Return the names of the judges of a dataset that judge it once more, paraphrased."""
        own = self.judges_of(dataset)
        return [name for name in judges_after(self.paraphrases[paraphrase]) if name in own]

    def prefixes_of(self, dataset: str) -> list[str]:
        """Return the names of the judges that judge prefixes of a dataset, which has text to cut."""
        return [
            name
            for name, section in self.prefixes.items()
            if (section.datasets is None or dataset in section.datasets) and self.has_text(dataset, name)
        ]

    def has_text(self, dataset: str, judge: str) -> bool:
        """Return whether a dataset has text, and the judge verdicts on it."""
        return self.datasets[dataset].format != "table" and judge in self.judges_of(dataset)
