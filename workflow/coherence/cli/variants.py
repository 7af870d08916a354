"""What a variant of a judge changes, read off the two sections of the config."""

from collections.abc import Iterator
from typing import Any, Final

from msgspec.structs import asdict

from coherence.cli.config import TRAVEL, Config, JudgeSection, RulesJudge

UNSAID: Final = frozenset({"datasets", *TRAVEL.split()})  # where it is asked and how, not what


def ablations_of(config: Config) -> dict[str, dict[str, str]]:
    """Return by full judge its variants, and in words what each changes."""
    judges = config.judges
    return {
        full: {name: "; ".join(changes(judges[full], judges[name])) for name in variants}
        for full, variants in config.evaluation.ablations.items()
    }


def variants_of(config: Config) -> set[str]:
    """Return every judge that is a variant of another."""
    return {name for variants in config.evaluation.ablations.values() for name in variants}


def changes(full: JudgeSection, variant: JudgeSection) -> Iterator[str]:
    """Yield "key: value" for each setting in which a variant differs; "no change" where none does."""
    if type(full) is not type(variant):
        yield f"kind: {_kind(variant)}, not {_kind(full)}"
        return
    before, after = _settings(full), _settings(variant)
    different = [name for name in after if after[name] != before[name]]
    yield from (f"{name}: {_text(after[name])}" for name in different)
    if not different:
        yield "no change"


def _settings(section: JudgeSection) -> dict[str, Any]:
    plain = asdict(section.settings if isinstance(section, RulesJudge) else section)
    return {name: value for name, value in plain.items() if name not in UNSAID}


def _text(value: Any) -> str:
    if isinstance(value, dict | list | tuple):
        return ", ".join(map(str, value)) or "-"  # of a mapping its keys: which parts are replaced
    return str(value).lower() if isinstance(value, bool) else str(value)


def _kind(section: JudgeSection) -> str:
    return str(section.__struct_config__.tag)
