"""The files a config names, beside the runs: looked at before anything is run."""

from collections.abc import Iterator
from pathlib import Path

from coherence.cli.config import Config, JudgeSection, LlmJudge, RecordedJudge
from coherence.cli.paraphrase_config import LlmParaphrase, ParaphraseSection, RecordedParaphrase
from coherence.errors import ConfigError

Named = Iterator[tuple[str, str | None]]  # key, path


def check_named_files(config: Config) -> None:
    """Raise ConfigError naming each key whose file is not there: a prompt, verdicts, thoughts, outcomes."""
    named = ((key, path) for key, path in _named(config) if path is not None)
    lost = [f"{key}: there is no file {path}" for key, path in named if not Path(path).is_file()]
    if lost:
        raise ConfigError("config:\n  " + "\n  ".join(lost))


def _named(config: Config) -> Named:
    for name, judge in config.judges.items():
        yield from _of_judge(f"judges.{name}", judge)
    for name, paraphrase in config.paraphrases.items():
        yield from _of_paraphrase(f"paraphrases.{name}", paraphrase)
    for name, prefixes in config.prefixes.items():
        yield f"prefixes.{name}.verdicts", prefixes.verdicts
    for name, outcomes in config.outcomes.items():
        yield f"outcomes.{name}.path", outcomes.path


def _of_judge(key: str, judge: JudgeSection) -> Named:
    if isinstance(judge, LlmJudge):
        yield f"{key}.prompt", judge.prompt
        yield from ((f"{key}.replace.{part}", path) for part, path in judge.replace.items())
    elif isinstance(judge, RecordedJudge):
        yield f"{key}.path", judge.path


def _of_paraphrase(key: str, paraphrase: ParaphraseSection) -> Named:
    if isinstance(paraphrase, LlmParaphrase):
        yield f"{key}.prompt", paraphrase.prompt
    elif isinstance(paraphrase, RecordedParaphrase):
        yield f"{key}.path", paraphrase.path
    yield from ((f"{key}.verdicts.{judge}", path) for judge, path in paraphrase.verdicts.items())
