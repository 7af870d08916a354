"""Prompt files: a Markdown body below a YAML header, with the vocabulary filled in from its one source.

---
name: detector
purpose: what the prompt is for, in one sentence
version: 1
examples_from: []       # names of the tasks its worked examples come from
reports: spans          # or rating+spans; decides the answer's schema and what flags
---
Body with {{ types }}, {{ output_format }}, {{ lowest }} and {{ highest }} where they are wanted.
"""

import re
from pathlib import Path
from typing import Final

import msgspec
import yaml

from coherence.errors import PromptError
from coherence.files import digest
from coherence.judges.schema import Reports, output_description, type_list
from coherence.records import Record
from coherence.vocabulary import MAX_CONFIDENCE, MIN_CONFIDENCE

_FILE: Final = re.compile(r"---\n(?P<header>.*?\n)---\n(?P<body>.*)", re.DOTALL)
_PLACEHOLDER: Final = re.compile(r"\{\{\s*(.*?)\s*\}\}")


class Header(Record, frozen=True, forbid_unknown_fields=True):
    """The header of a prompt file."""

    name: str
    purpose: str
    version: int
    examples_from: tuple[str, ...]
    reports: Reports
    note: str = ""


class Prompt(Record, frozen=True):
    """A prompt as it is sent: its header and its text with every placeholder filled."""

    header: Header
    text: str

    @property
    def basis(self) -> str:
        """The prompt's name, version and the first digits of its text's digest."""
        return f"{self.header.name} v{self.header.version} {digest(self.text)[:12]}"


def read_prompt(path: Path) -> Prompt:
    """Read a prompt file; raise PromptError naming the file and the key that is wrong."""
    try:
        content = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PromptError(f"{path}: cannot be read: {error}") from error
    parts = _FILE.fullmatch(content)
    if parts is None:
        raise PromptError(
            f"{path}: must begin with a YAML header between two lines of `---`, then the prompt"
        )
    header = _header(path, parts["header"])
    text = _filled(path, parts["body"].strip(), header.reports)
    if not text:
        raise PromptError(f"{path}: there is no prompt below the header")
    return Prompt(header, text)


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
