"""Which files of the package a stage rests on, read off its imports: what makes earlier work stale."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from coherence.files import digest

PACKAGE: Final = Path(__file__).parents[1]
IMPORT: Final = re.compile(
    r"^\s*(?:(?:from|import) coherence\.([\w.]+)|from coherence import (?:\(([^)]*)\)|(.*)))", re.MULTILINE
)
# Settings enter a stage's version by value, paths do not change what is made, and one file is no stage.
NOT_FOLLOWED: Final = frozenset(
    {
        "arguments",
        "code",
        "config",
        "paraphrase_config",
        "prefix_config",
        "judge_file",
        "layout",
        "plan",
        "sections",
        "__init__",
    }
)


def imports(file: Path) -> Iterator[str]:
    """Yield the names below `coherence` that a file imports, dotted."""
    for dotted, *lists in IMPORT.findall(file.read_text("utf-8")):
        yield from [dotted] if dotted else re.findall(r"\w+", " ".join(lists))


def files_of(name: str) -> Iterator[Path]:
    """Yield the files of a module or of a whole package, its data files with it."""
    module, package = PACKAGE / f"{name}.py", PACKAGE / name
    if module.is_file():
        yield module
    elif package.is_dir():
        yield from (file for file in package.rglob("*") if file.is_file() and file.suffix != ".pyc")


def rests_on(stage: str) -> set[Path]:
    """Return the command's own files and every module and package they reach."""
    found: set[Path] = set()
    waiting = [PACKAGE / "cli" / f"{stage}.py"]
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found.add(file)
        if file.suffix != ".py":
            continue
        for name in imports(file):
            first, _, rest = name.partition(".")
            if first != "cli":
                waiting += files_of(first)
            elif rest and rest.split(".")[0] not in NOT_FOLLOWED:
                waiting += files_of(f"cli/{rest.split('.')[0]}")
    return found


@cache
def code_digest(stage: str) -> str:
    """Return the digest of the files a stage rests on."""
    parts = ((file.relative_to(PACKAGE).as_posix(), file.read_bytes()) for file in sorted(rests_on(stage)))
    return digest(*(part for pair in parts for part in pair))
