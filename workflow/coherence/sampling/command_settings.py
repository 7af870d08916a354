"""The command of a sampling: what is configured, whether it may run, and the digest that names it."""

import re
import shutil
from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta

from coherence.errors import ConfigError
from coherence.files import digest, encode
from coherence.records import Record

PLACEHOLDER: Final = re.compile(r"\{(item|sample|seed)\}")

IN_KEY: Final = frozenset({"run", "files", "version", "send_target", "seed"})
NEUTRAL: Final = frozenset(
    {
        "sandboxed",
        "approved",
        "environment",  # credentials and paths: what changes the outcome belongs into `version`
        "timeout_seconds",  # a run that ended within another limit stays what it is
        "max_output_bytes",  # as above
        "concurrency",
        "pass_reward",  # applied to what the run wrote
    }
)


class CommandSettings(Record, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which command runs and how; a change of what is `IN_KEY` makes new runs.

    `files` are those whose content belongs to the command, `version` whatever else does.
    """

    run: Annotated[tuple[str, ...], Meta(min_length=1)]
    sandboxed: bool = False
    approved: bool = False
    files: tuple[str, ...] = ()
    version: str = ""
    send_target: bool = False
    seed: Annotated[int, Meta(ge=0)] = 0
    environment: tuple[str, ...] = ()
    timeout_seconds: Annotated[float, Meta(gt=0)] = 600.0
    max_output_bytes: Annotated[int, Meta(ge=1)] = 10_000_000
    concurrency: Annotated[int, Meta(ge=1)] = 1
    pass_reward: float = 1.0


def check_allowed(settings: CommandSettings) -> None:
    """Raise ConfigError for a command that nobody has declared to be harmless or wanted."""
    if not (settings.sandboxed or settings.approved):
        raise ConfigError(
            f"command.run: {' '.join(settings.run)[:200]} is declared neither `sandboxed` nor `approved`, so "
            "it is not run: what it does may be irreversible. Under `command`, set `sandboxed: true` if it "
            "can change nothing outside a container or virtual machine that is thrown away, or `approved: "
            "true` if you have looked at what it does and want that done for every item and sample. "
            "`--dry-run` lists what would run."
        )
    program = settings.run[0]
    if PLACEHOLDER.search(program):
        raise ConfigError(f"command.run: the program is {program}, which an item would choose; name it")
    if shutil.which(program) is None:
        raise ConfigError(f"command.run: no program {program!r} can be run; give its path, or install it")


def command_digest(settings: CommandSettings) -> str:
    """Return the digest of the command and its files; raise ConfigError for a file that cannot be read."""
    contents: dict[str, str] = {}
    for name in settings.files:
        try:
            contents[name] = digest(Path(name).read_bytes())
        except OSError as error:
            raise ConfigError(f"command.files: {name} cannot be read: {error}") from error
    return digest(encode({"run": settings.run, "files": contents, "version": settings.version}))
