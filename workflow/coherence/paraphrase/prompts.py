"""Prompt files of the paraphraser: a Markdown body below a YAML header.

---
name: paraphrase
purpose: what the prompt is for, in one sentence
version: 1
manipulates: paraphrase   # or compression, restructuring; decides the lengths that pass the checks
---
Body with {{ output_format }} where it is wanted.
"""

import re
from pathlib import Path
from typing import Final, Literal

import msgspec
import yaml

from coherence.errors import PromptError
from coherence.files import digest
from coherence.records import Record

_FILE: Final = re.compile(r"---\n(?P<header>.*?\n)---\n(?P<body>.*)", re.DOTALL)
_PLACEHOLDER: Final = re.compile(r"\{\{\s*(.*?)\s*\}\}")
OUTPUT_FORMAT: Final = """\
Answer with one JSON object and nothing else: `{"thoughts": [{"number": 1, "text": "..."}, ...]}`. There is \
one entry for each step shown, in the same order, `number` being the number of the step and `text` its \
thought rewritten."""
SCHEMA: Final = {
    "type": "object",
    "properties": {
        "thoughts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"number": {"type": "integer"}, "text": {"type": "string"}},
                "required": ["number", "text"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["thoughts"],
    "additionalProperties": False,
}


class Header(Record, frozen=True, forbid_unknown_fields=True):
    """The header of a paraphraser's prompt file."""

    name: str
    purpose: str
    version: int
    manipulates: Literal["paraphrase", "compression", "restructuring"]
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
        parts = _FILE.fullmatch(path.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise PromptError(f"{path}: cannot be read: {error}") from error
    if parts is None:
        raise PromptError(
            f"{path}: must begin with a YAML header between two lines of `---`, then the prompt"
        )
    header, text = _header(path, parts["header"]), _filled(path, parts["body"].strip())
    if not text:
        raise PromptError(f"{path}: there is no prompt below the header")
    return Prompt(header, text)


def _header(path: Path, text: str) -> Header:
    try:
        return msgspec.convert(yaml.safe_load(text), Header)
    except (yaml.YAMLError, msgspec.ValidationError) as error:
        fields = ", ".join(Header.__struct_fields__)
        raise PromptError(f"{path}: header: {error}; its keys are {fields}") from error


def _filled(path: Path, body: str) -> str:
    strangers = sorted(set(_PLACEHOLDER.findall(body)) - {"output_format"})
    if strangers:
        raise PromptError(f"{path}: unknown placeholder {{{{ {strangers[0]} }}}}; known: output_format")
    return _PLACEHOLDER.sub(lambda _: OUTPUT_FORMAT, body)
