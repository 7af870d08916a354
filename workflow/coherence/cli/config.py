"""The settings of a run, typed: what `config/*.yaml` may hold. `config/README.md` explains every key."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from math import isfinite
from os.path import normpath
from pathlib import Path
from typing import Annotated, Any, Literal, TypeGuard

import msgspec
import yaml
from msgspec import Meta

from coherence.cli import prefix_config
from coherence.cli.paraphrase_config import ParaphraseSection, faults, judges_after
from coherence.cli.prefix_config import PrefixSection
from coherence.cli.sections import INGESTED, Incoherence, OutcomeSet, Positive, Section
from coherence.errors import ConfigError
from coherence.files import digest
from coherence.judges.flagging import AbsentQuote
from coherence.judges.llm import LlmSettings
from coherence.judges.rules import RulesSettings
from coherence.judges.schema import Reports
from coherence.preprocess import PreprocessSettings

NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")
MADE = (
    "ablations audit.html config examples figures ledger.csv logs memo outcomes.json outcomes.parquet pages "
    "prefix provenance.json real replication replies report.html samples tables tasks"
)
RESERVED = frozenset(MADE.split())
KINDS = {"judges": "llm, recorded, rules", "paraphrases": "llm, recorded, removed, rules"}

# Settings of an llm judge that change how its replies travel and what they cost, but no reply.
TRAVEL = "base_url concurrency max_retries timeout_seconds offline mode poll_seconds cache prices"

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
    "flagged", "reason", "rating", "confidence", "type", "acknowledgment_step", "action_step"
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

    title: str = "Strained coherence in coding-agent trajectories"
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


def schema() -> dict[str, Any]:
    """Return the JSON schema of the config."""
    made = msgspec.json.encode(msgspec.json.schema(Config))  # defaults as JSON has them: lists, no tuples
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.decode(made)}


def leaves(error: Any) -> list[Any]:
    """Return the errors inside a union's error that belong to the branch the value's `kind` chooses."""
    if error.validator != "anyOf" or not isinstance(error.instance, dict):
        return [error]
    wrong_kind = [inner for inner in error.context if list(inner.path) == ["kind"]]
    strangers = {inner.schema_path[0] for inner in wrong_kind}
    chosen = [inner for inner in error.context if inner.schema_path[0] not in strangers]
    return chosen or [error]


def line(error: Any) -> str:
    """Return one error as "key: what is wrong"."""
    where = ".".join(str(part) for part in error.absolute_path) or "top level"
    if error.validator == "anyOf" and isinstance(error.instance, dict):
        kinds = KINDS.get(str(error.absolute_path[0]), "those of the schema")
        return f"{where}.kind: must be one of {kinds}, not {error.instance.get('kind')!r}"
    return f"{where}: {error.message}"


def explain(raw: Any, fallback: str) -> str:
    """Return the offending keys and why, one line each, as the JSON schema sees it."""
    import jsonschema  # noqa: PLC0415 - only a broken config pays for the import

    errors = sorted(jsonschema.Draft202012Validator(schema()).iter_errors(raw), key=lambda e: list(e.path))
    return "\n  ".join(line(leaf) for error in errors for leaf in leaves(error)) or fallback


def check_names(config: Config, origin: str) -> None:
    """Raise ConfigError for a name that could not be a file name or wildcard, or that is there twice."""
    sections: dict[str, Iterable[str]] = {
        "datasets": config.datasets,
        "judges": config.judges,
        "paraphrases": config.paraphrases,
        "outcomes": config.outcomes,
    }
    for section, names in sections.items():
        for name in names:
            if not NAME.fullmatch(name) or name in RESERVED:
                raise ConfigError(
                    f"{origin}: {section}.{name}: a name has lower-case letters, digits, '.' and '-' only "
                    f"and is none of {', '.join(sorted(RESERVED))}"
                )


def check_outcomes(config: Config, origin: str) -> None:
    """Raise ConfigError for an outcome set, pair or reference that names what is not there."""
    twice = sorted(set(config.outcomes) & set(config.datasets))
    if twice:
        raise ConfigError(f"{origin}: outcomes.{twice[0]}: a dataset has this name; choose another")
    if INGESTED in config.outcomes:
        raise ConfigError(
            f"{origin}: outcomes.{INGESTED}: the figures of ingested datasets have this name; choose another"
        )
    for name, section in config.outcomes.items():
        if not isfinite(section.pass_reward):
            raise ConfigError(f"{origin}: outcomes.{name}.pass_reward: must be a number")
    strangers = sorted(set(config.incoherence.pairs) - set(config.outcomes) - set(config.datasets))
    if strangers:
        raise ConfigError(
            f"{origin}: incoherence.pairs.{strangers[0]}: no outcomes and no dataset of this name"
        )
    reference = config.incoherence.reference
    if reference is not None and reference not in config.judges:
        raise ConfigError(
            f"{origin}: incoherence.reference: no judge {reference!r}; known: {', '.join(config.judges)}"
        )


def check_paths(name: str, dataset: Dataset, origin: str) -> None:
    """Raise ConfigError for a path named twice, a retry of itself, or a reward that is no number."""
    twice = sorted({path for path in dataset.roots if dataset.roots.count(path) > 1})
    if twice:
        raise ConfigError(f"{origin}: datasets.{name}.paths: {twice[0]} is named twice")
    itself = sorted(path for path, retried in dataset.retries.items() if path == retried)
    if itself:
        raise ConfigError(f"{origin}: datasets.{name}.retry_of: {itself[0]} cannot retry itself")
    if not isfinite(dataset.pass_reward):
        raise ConfigError(f"{origin}: datasets.{name}.pass_reward: must be a number")


def check_references(config: Config, origin: str) -> None:
    """Raise ConfigError for a key that names a dataset, path or judge which the config does not have."""
    for name, judge in config.judges.items():
        unknown = set(judge.datasets or ()) - set(config.datasets)
        if unknown:
            raise ConfigError(
                f"{origin}: judges.{name}.datasets: no dataset {', '.join(sorted(unknown))}; "
                f"known: {', '.join(config.datasets)}"
            )
        check_source(config, name, judge, origin)
    for name, dataset in config.datasets.items():
        check_paths(name, dataset, origin)
        strangers = {path for pair in dataset.retries.items() for path in pair} - set(dataset.roots)
        if strangers:
            raise ConfigError(
                f"{origin}: datasets.{name}.retry_of: not one of its paths: {', '.join(sorted(strangers))}"
            )
        if dataset.features_from is not None and (
            dataset.features_from not in config.datasets or dataset.features_from == name
        ):
            raise ConfigError(
                f"{origin}: datasets.{name}.features_from: no other dataset {dataset.features_from!r}; "
                f"known: {', '.join(other for other in config.datasets if other != name)}"
            )
        silent = set(dataset.verdict_columns) - set(config.judges_of(name))
        if silent:
            raise ConfigError(
                f"{origin}: datasets.{name}.verdict_columns: no judge {', '.join(sorted(silent))}; add it to "
                "`judges` with `kind: recorded`"
            )


def check_ablations(config: Config, origin: str) -> None:
    """Raise ConfigError for an ablation of or by a judge that is not there, or that is its own variant."""
    for full, variants in config.evaluation.ablations.items():
        unknown = [name for name in (full, *variants) if name not in config.judges]
        again = [name for name in variants if name in config.evaluation.ablations]
        if unknown or again:
            wrong = f"no judge {unknown[0]}" if unknown else f"{again[0]} is itself a judge with variants"
            raise ConfigError(f"{origin}: evaluation.ablations.{full}: {wrong}")


def rested_on(config: Config) -> Iterator[tuple[str, list[str]]]:
    """Yield each key that names judges, with the judges it names."""
    for name, judge in config.judges.items():
        if of_another(judge):
            yield f"judges.{name}.of", [str(judge.of)]
    for main, others in config.evaluation.complementary.items():
        yield f"evaluation.complementary.{main}", [main, *others]
    yield "evaluation.references", config.evaluation.references or []


def check_others(config: Config, origin: str) -> None:
    """Raise ConfigError for a judge named that is not there, or `of` one that looks at another's spans."""
    for key, judges in rested_on(config):
        unknown = [name for name in judges if name not in config.judges]
        if unknown:
            known = ", ".join(config.judges)
            raise ConfigError(f"{origin}: {key}: no judge {unknown[0]}; known: {known}")
    for name, judge in config.judges.items():
        if of_another(judge) and of_another(config.judges[str(judge.of)]):
            raise ConfigError(f"{origin}: judges.{name}.of: {judge.of} looks at another judge's spans itself")


def check_source(config: Config, name: str, judge: JudgeSection, origin: str) -> None:
    """Raise ConfigError for a recorded judge without a file on a dataset that brings no verdicts."""
    if isinstance(judge, RecordedJudge) and judge.path is None:
        for dataset, section in config.datasets.items():
            if name in config.judges_of(dataset) and name not in section.verdict_columns:
                raise ConfigError(
                    f"{origin}: judges.{name}: no `path`, and dataset {dataset} has no `verdict_columns` for "
                    "it; give a path, or limit the judge with `datasets`"
                )


def check_paraphrases(config: Config, origin: str) -> None:
    """Raise ConfigError for a paraphrase of what is not there, or whose judges have nothing to go by."""
    recorded = [name for name, judge in config.judges.items() if isinstance(judge, RecordedJudge)]
    for name, section in config.paraphrases.items():
        judged = {dataset: config.has_text(dataset, section.of) for dataset in config.datasets}
        for key, fault in faults(section, config.judges, recorded, judged):
            raise ConfigError(f"{origin}: paraphrases.{name}.{key}: {fault}")
        for judge in judges_after(section):
            if isinstance(config.judges[judge], LlmJudge) and of_another(config.judges[judge]):
                raise ConfigError(
                    f"{origin}: paraphrases.{name}.judges: {judge} looks at spans another judge found in the "
                    "text as it was; name judges that read for themselves"
                )


def check_prefixes(config: Config, origin: str) -> None:
    """Raise ConfigError for prefixes of a judge that is not there, or that has nothing to go by."""
    for name, section in config.prefixes.items():
        judge = config.judges.get(name)
        if judge is None:
            raise ConfigError(f"{origin}: prefixes.{name}: no such judge; known: {', '.join(config.judges)}")
        if of_another(judge):
            raise ConfigError(
                f"{origin}: prefixes.{name}: looks at spans another judge found in whole runs, which would "
                "be hindsight; name a judge that reads for itself"
            )
        readable = {dataset: config.has_text(dataset, name) for dataset in config.datasets}
        recorded = isinstance(judge, RecordedJudge)
        path = judge.path if isinstance(judge, RecordedJudge) else None
        for key, fault in prefix_config.faults(section, recorded, path, readable):
            raise ConfigError(f"{origin}: prefixes.{name}.{key}: {fault}")


def parse(raw: Any, origin: str) -> Config:
    """Return the typed config of a plain mapping; raise ConfigError naming each bad key."""
    try:
        config = msgspec.convert(raw, Config)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{origin}:\n  {explain(raw, str(error))}") from error
    check_names(config, origin)
    check_references(config, origin)
    check_paraphrases(config, origin)
    check_outcomes(config, origin)
    check_ablations(config, origin)
    check_others(config, origin)
    check_prefixes(config, origin)
    return config


def read(paths: Sequence[Path], missing: Mapping[str, Any] | None = None) -> Config:
    """Read YAML or JSON files, each merged over those before it as `snakemake --configfile A B` does.

    `missing` stands for top-level keys that none of them has.
    """
    read_in = [_raw(path) for path in paths]
    origin = ", ".join(map(str, paths))
    if not all(isinstance(raw, dict) for raw in read_in):
        return parse(next(raw for raw in read_in if not isinstance(raw, dict)), origin)
    return parse({**(missing or {}), **reduce(merged, read_in)}, origin)


def _raw(path: Path) -> Any:
    try:
        return yaml.safe_load(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: there is no such config file; name one with --config") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: cannot be read as YAML: {error}") from error


def merged(below: Any, above: Any) -> Any:
    """Return two configs as one: mappings key by key, else what is above."""
    if not isinstance(below, dict) or not isinstance(above, dict):
        return above
    return below | {key: merged(below[key], value) if key in below else value for key, value in above.items()}


def config_digest(config: Config) -> str:
    """Return the digest that names a resolved config."""
    return digest(msgspec.json.encode(config))
