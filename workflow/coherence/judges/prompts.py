"""Prompt files: a Markdown body below a YAML header, with the vocabulary filled in from its one source.

---
name: detector
purpose: what the prompt is for, in one sentence
version: 1
examples_from: []       # names of the tasks its worked examples come from
reports: spans          # or rating+spans; decides the answer's schema and what flags
---
Body with {{ types }}, {{ output_format }}, {{ lowest }} and {{ highest }} where they are wanted.

An ablation drops parts of the body, or puts the text of other files in their place (`prompt_parts`). Without
the part that holds {{ types }} the answer has no type of conflict either: not in the schema, not in the
description of the output and not in the worked examples.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

import msgspec
import yaml

from coherence.errors import PromptError
from coherence.files import digest
from coherence.judges.prompt_parts import ablated
from coherence.judges.schema import UNTYPED, Reports, output_description, type_list
from coherence.records import Record
from coherence.vocabulary import MAX_CONFIDENCE, MIN_CONFIDENCE

_FILE: Final = re.compile(r"---\n(?P<header>.*?\n)---\n(?P<body>.*)", re.DOTALL)
_PLACEHOLDER: Final = re.compile(r"\{\{\s*(.*?)\s*\}\}")
_TYPES: Final = re.compile(r"\{\{\s*types\s*\}\}")
_TYPE_IN_AN_ANSWER: Final = re.compile(r'"conflict_type": "\w+", ')


class Header(Record, frozen=True, forbid_unknown_fields=True):
    """The header of a prompt file."""

    name: str
    purpose: str
    version: int
    examples_from: tuple[str, ...]
    reports: Reports
    note: str = ""


class Prompt(Record, frozen=True):
    """A prompt as it is sent: its header, its text with every placeholder filled, and what it has reported.

    `reports` is the header's, or without types of conflict where an ablation took these out.
    """

    header: Header
    text: str
    reports: Reports

    @property
    def basis(self) -> str:
        """The prompt's name, version and the first digits of its text's digest."""
        return f"{self.header.name} v{self.header.version} {digest(self.text)[:12]}"


def read_prompt(path: Path, drop: Collection[str] = (), replace: Mapping[str, str] | None = None) -> Prompt:
    """Read a prompt file, less the parts in `drop`, those of `replace` replaced by the files it names.

    Raise PromptError naming the file and the key or part that is wrong.
    """
    parts = _FILE.fullmatch(_read(path))
    if parts is None:
        raise PromptError(
            f"{path}: must begin with a YAML header between two lines of `---`, then the prompt"
        )
    header, body = _header(path, parts["header"]), parts["body"].strip()
    texts = {name: _read(Path(file)) for name, file in (replace or {}).items()}
    try:
        kept = ablated(body, drop, texts).strip() if drop or texts else body
    except PromptError as error:
        raise PromptError(f"{path}: {error}") from error
    if not kept:
        raise PromptError(f"{path}: there is no prompt below the header")
    reports = _reported(
        path, header.reports, took_types=bool(_TYPES.search(body)) > bool(_TYPES.search(kept))
    )
    text = _filled(path, kept, reports)
    return Prompt(header, _TYPE_IN_AN_ANSWER.sub("", text) if reports == UNTYPED else text, reports)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise PromptError(f"{path}: cannot be read: {error}") from error


def _reported(path: Path, reports: Reports, took_types: bool) -> Reports:
    if not took_types:
        return reports
    if reports != "spans":
        raise PromptError(f"{path}: only a prompt that reports spans can do without the part with its types")
    return UNTYPED


def _header(path: Path, text: str) -> Header:
    try:
        return msgspec.convert(yaml.safe_load(text), Header)
    except (yaml.YAMLError, msgspec.ValidationError) as error:
        fields = ", ".join(Header.__struct_fields__)
        raise PromptError(f"{path}: header: {error}; its keys are {fields}") from error


def _filled(path: Path, body: str, reports: Reports) -> str:
    values = {
        "types": type_list(reports),
        "output_format": output_description(reports),
        "lowest": str(MIN_CONFIDENCE),
        "highest": str(MAX_CONFIDENCE),
    }

    def value(placeholder: re.Match[str]) -> str:
        name = placeholder[1]
        if name not in values:
            raise PromptError(f"{path}: unknown placeholder {{{{ {name} }}}}; known: {', '.join(values)}")
        return values[name]

    return _PLACEHOLDER.sub(value, body)
