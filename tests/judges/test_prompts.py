import json
import re
from pathlib import Path
from typing import Final

import pytest

from coherence.errors import PromptError
from coherence.judges.frame import FRAME_NOTE
from coherence.judges.prompts import read_prompt
from coherence.judges.schema import output_schema, read_answer
from coherence.vocabulary import CONFLICT_TYPES

PROMPTS: Final = Path(__file__).parents[2] / "config" / "prompts"

# Words of the definition and the vocabulary; the generic judge may see none, not even as part of a word.
FORBIDDEN: Final = [
    "conflict", "acknowledg", "contradict", "resol", "strain", "tension", "inconsisten", "incompatib",
    "mismatch", "disagree", "at odds", "reconcil", "ignor", "dismiss", "hedg", "commit", "uncertain", "doubt",
    "overreach", "iterat", "constraint", "derivation", "inference", "environment", "premise", "plan",
    "tool output",
    *CONFLICT_TYPES,
]  # fmt: skip
FORBIDDEN.remove("other")  # an everyday word, and no kind of conflict


def write(path: Path, header: str, body: str = "Judge this.\n") -> Path:
    path.write_text(f"---\n{header}---\n{body}", "utf-8")
    return path


HEADER: Final = "name: p\npurpose: to test\nversion: 2\nexamples_from: [a-task]\nreports: spans\n"


def generic_texts() -> str:
    generic = read_prompt(PROMPTS / "generic.md")
    return "\n".join([generic.text, FRAME_NOTE, json.dumps(output_schema(generic.header.reports))]).lower()


@pytest.mark.parametrize("word", FORBIDDEN)
def test_the_generic_judge_sees_no_word_of_the_definition_or_vocabulary(word: str) -> None:
    assert word not in generic_texts()


@pytest.mark.parametrize("word", sorted({"conflict", "acknowledg", "resol", "strain", *CONFLICT_TYPES}))
def test_the_detector_sees_the_definition_and_the_vocabulary(word: str) -> None:
    assert word in read_prompt(PROMPTS / "detector.md").text


def test_the_detector_explains_every_conflict_type_as_the_vocabulary_does() -> None:
    text = read_prompt(PROMPTS / "detector.md").text

    assert [name for name, meaning in CONFLICT_TYPES.items() if f"- `{name}`: {meaning}" not in text] == []


def worked_answers() -> list[str]:
    text = read_prompt(PROMPTS / "detector.md").text
    return re.findall(r"```json\n(.*?)\n```", text, re.DOTALL)


def test_the_detector_has_three_positive_and_three_negative_examples_in_its_own_output_format() -> None:
    flagged = [bool(read_answer(answer, "spans").spans) for answer in worked_answers()]

    assert flagged == [True, True, True, False, False, False]


def test_the_quotes_of_the_worked_examples_stand_in_them() -> None:
    excerpts = re.sub(r"```json\n.*?\n```", "", read_prompt(PROMPTS / "detector.md").text, flags=re.DOTALL)
    spans = [span for answer in worked_answers() for span in read_answer(answer, "spans").spans]
    quotes = [quote for span in spans for quote in (span.acknowledgment_quote, span.action_quote)]

    assert [quote for quote in quotes if " ".join(quote.split()) not in " ".join(excerpts.split())] == []


@pytest.mark.parametrize("name", ["detector", "generic"])
def test_a_shipped_prompt_is_named_as_its_file_and_declares_its_examples(name: str) -> None:
    header = read_prompt(PROMPTS / f"{name}.md").header

    assert (header.name, header.examples_from) == (name, ())


def test_only_the_generic_prompt_reports_a_rating() -> None:
    paths = (path for path in PROMPTS.glob("*.md") if "\nreports:" in path.read_text("utf-8"))
    reports = {path.stem: read_prompt(path).header.reports for path in paths}

    assert (reports["detector"], reports["generic"]) == ("spans", "rating+spans")


def test_no_placeholder_is_left(tmp_path: Path) -> None:
    body = 'From {{ lowest }} to {{highest}}, {"a": {}}:\n{{ types }}\n{{ output_format }}\n'
    text = read_prompt(write(tmp_path / "p.md", HEADER, body)).text

    assert text.startswith('From 1 to 5, {"a": {}}:\n- `tool_output_vs_plan`')
    assert "{{" not in text


def test_the_header_is_read(tmp_path: Path) -> None:
    header = read_prompt(write(tmp_path / "p.md", HEADER)).header

    assert (header.name, header.purpose, header.version) == ("p", "to test", 2)
    assert header.examples_from == ("a-task",)


def test_the_basis_changes_with_the_text_and_not_with_the_file_name(tmp_path: Path) -> None:
    one = read_prompt(write(tmp_path / "one.md", HEADER)).basis
    two = read_prompt(write(tmp_path / "two.md", HEADER)).basis
    other = read_prompt(write(tmp_path / "other.md", HEADER, "Judge that.\n")).basis

    assert one == two != other
    assert one.startswith("p v2 ")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("Judge this.", "must begin with a YAML header"),
        (f"---\n{HEADER}---\n", "no prompt below the header"),
        (f"---\n{HEADER}---\n{{{{ typs }}}}", "unknown placeholder {{ typs }}"),
        (f"---\n{HEADER}colour: red\n---\nx", "colour"),
        (f"---\n{HEADER.replace('version: 2', 'version: two')}---\nx", "$.version"),
        (f"---\n{HEADER.replace('reports: spans', 'reports: mood')}---\nx", "$.reports"),
        (f"---\n{HEADER.replace('purpose: to test', '')}---\nx", "purpose"),
        ("---\nname: [\n---\nx", "header"),
        ("---\n- name\n---\nx", "header"),
    ],
    ids=[
        "no header",
        "no body",
        "placeholder",
        "stranger",
        "kind",
        "value",
        "missing",
        "no YAML",
        "no mapping",
    ],
)
def test_an_error_names_the_file_and_the_key(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "prompt.md"
    path.write_text(content, "utf-8")

    with pytest.raises(PromptError) as raised:
        read_prompt(path)
    assert str(path) in str(raised.value)
    assert said in str(raised.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PromptError, match="no-such"):
        read_prompt(tmp_path / "no-such.md")


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "p.md").write_bytes(b"---\n\xff")

    with pytest.raises(PromptError, match=r"p\.md"):
        read_prompt(tmp_path / "p.md")


def test_a_mark_of_unicode_at_the_beginning_is_no_part_of_a_prompt(tmp_path: Path) -> None:
    plain = write(tmp_path / "plain.md", HEADER)
    marked = tmp_path / "marked.md"
    marked.write_bytes(b"\xef\xbb\xbf" + plain.read_bytes())
    assert read_prompt(marked) == read_prompt(plain)
