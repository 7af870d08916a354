"""What a config may not say though its types allow it: names that are no names, references to nothing."""

import re
from collections.abc import Iterable, Iterator
from math import isfinite

from coherence.cli import prefix_config
from coherence.cli.config import Config, Dataset, JudgeSection, LlmJudge, RecordedJudge, of_another
from coherence.cli.paraphrase_config import faults, judges_after
from coherence.cli.sections import INGESTED
from coherence.errors import ConfigError
from coherence.features import FEATURES, MARKER_PREFIX

NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")
MADE = (
    "ablations audit.html config examples figures ledger.csv logs memo outcomes.json outcomes.parquet pages "
    "prefix provenance.json real replication replies report.html samples tables tasks"
)
RESERVED = frozenset(MADE.split())


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
            if not NAME.fullmatch(name):
                raise ConfigError(
                    f"{origin}: {section}.{name}: a name has lower-case letters, digits, '.' and '-' only, "
                    "and begins with one of the first two"
                )
            if name in RESERVED:
                raise ConfigError(
                    f"{origin}: {section}.{name}: what the workflow writes has this name; choose "
                    f"another than {', '.join(sorted(RESERVED))}"
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


def check_kinds(config: Config, origin: str) -> None:
    """Raise ConfigError where a kind of outcome is chosen for what is no dataset."""
    for name in config.incoherence.kinds:
        if name not in config.datasets:
            said = f"set `outcomes.{name}.kind`" if name in config.outcomes else "no dataset of this name"
            raise ConfigError(f"{origin}: incoherence.kinds.{name}: {said}")


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


def check_features(config: Config, origin: str) -> None:
    """Raise ConfigError for a feature or judge named by the evaluation that no dataset can have."""
    own = [name for dataset in config.datasets.values() for name in dataset.feature_columns]
    features = list(dict.fromkeys((*FEATURES, *own)))
    asked: dict[str, tuple[Iterable[str], list[str]]] = {
        "stratify_by": ([config.evaluation.stratify_by], features),
        "covariates": (config.evaluation.covariates, features),
        "family": (config.evaluation.family or (), [*config.judges, *features]),
    }
    for key, (names, known) in asked.items():
        strangers = [name for name in names if name not in known and not name.startswith(MARKER_PREFIX)]
        if strangers:
            raise ConfigError(
                f"{origin}: evaluation.{key}: there is no {strangers[0]!r}; known: {', '.join(known)}"
            )


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


def check(config: Config, origin: str) -> None:
    """Raise ConfigError naming the first key that cannot be meant."""
    check_names(config, origin)
    check_references(config, origin)
    check_paraphrases(config, origin)
    check_outcomes(config, origin)
    check_kinds(config, origin)
    check_ablations(config, origin)
    check_others(config, origin)
    check_prefixes(config, origin)
    check_features(config, origin)
