"""What an evaluation is told of the judges of a config."""

from coherence.cli.config import Config, LlmJudge, RecordedJudge, RulesJudge
from coherence.judges.llm import prompt_of, rating_limit


def seeds_of(config: Config, judge: str) -> tuple[str, ...]:
    """Return the tasks a judge's prompt declares to quote, and those the config names for every judge."""
    section = config.judges[judge]
    declared = prompt_of(section).header.examples_from if isinstance(section, LlmJudge) else ()
    return tuple(dict.fromkeys((*declared, *config.evaluation.seeds)))


def limit_of(config: Config, judge: str) -> int | None:
    """Return the highest rating by which a judge flags, None where it does not rate."""
    section = config.judges[judge]
    if isinstance(section, LlmJudge):
        return rating_limit(section)
    return None if isinstance(section, RulesJudge) else section.rating_at_most


def rating_limits(config: Config) -> dict[str, int]:
    """Return by judge that rates the highest rating by which it flags."""
    limits = {name: limit_of(config, name) for name in config.judges}
    return {name: limit for name, limit in limits.items() if limit is not None}


def references_of(config: Config) -> tuple[str, ...]:
    """Return the judges that others are measured against: those named, else every recorded one that flags."""
    if config.evaluation.references is not None:
        return tuple(config.evaluation.references)
    return tuple(
        name
        for name, judge in config.judges.items()
        if isinstance(judge, RecordedJudge) and judge.rating_at_most is None
    )
