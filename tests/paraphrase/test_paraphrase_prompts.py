"""The paraphraser's prompts: a header that says what they do, and everything a paraphrase must keep."""

import re
from pathlib import Path

import pytest

from coherence.errors import PromptError
from coherence.features.lexical import load_markers
from coherence.paraphrase.checks import RATIOS
from coherence.paraphrase.prompts import OUTPUT_FORMAT, read_prompt

PROMPTS = Path(__file__).parents[2] / "config/prompts"
SHIPPED = {"paraphrase": "paraphrase", "compress": "compression", "restructure": "restructuring"}
HEADER = "name: p\npurpose: to test\nversion: 2\nmanipulates: compression\n"


def write(path: Path, header: str, body: str = "Rewrite.\n{{ output_format }}\n") -> Path:
    path.write_text(f"---\n{header}---\n{body}", "utf-8")
    return path


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_prompts_say_what_they_do_and_how_to_answer(name: str) -> None:
    prompt = read_prompt(PROMPTS / f"{name}.md")
    assert prompt.header.manipulates == SHIPPED[name]
    assert prompt.header.manipulates in RATIOS
    assert OUTPUT_FORMAT in prompt.text
    assert "{{" not in prompt.text


@pytest.mark.parametrize("marker", [m.name for m in load_markers() if m.within is None])
def test_the_paraphrase_prompt_forbids_every_marker_that_is_counted(marker: str) -> None:
    text = " ".join(read_prompt(PROMPTS / "paraphrase.md").text.split())
    stem = re.escape(marker.removesuffix("s"))
    assert re.search(rf"\b{stem}", text), marker


@pytest.mark.parametrize(
    "wanted", ["Every number", "character by character", "The length", "in the same order"]
)
def test_the_paraphrase_prompt_names_what_stays(wanted: str) -> None:
    assert wanted in read_prompt(PROMPTS / "paraphrase.md").text


def test_the_basis_is_name_version_and_text(tmp_path: Path) -> None:
    one, same, other = (
        read_prompt(write(tmp_path / name, HEADER, body)).basis
        for name, body in (("a", "Rewrite."), ("b", "Rewrite."), ("c", "Rewrite it."))
    )
    assert one == same != other
    assert one.startswith("p v2 ")


@pytest.mark.parametrize(
    ("header", "body", "said"),
    [
        (HEADER + "extra: 1\n", "Rewrite.", "unknown field `extra`"),
        (HEADER.replace("compression", "poetry"), "Rewrite.", "Invalid enum value 'poetry'"),
        (HEADER, "Rewrite {{ types }}.", r"unknown placeholder \{\{ types \}\}"),
        (HEADER, "\n", "no prompt below"),
        ("a: [\n", "Rewrite.", "header: "),
    ],
    ids=["stranger", "manipulation", "placeholder", "empty", "no YAML"],
)
def test_a_bad_file_is_named(header: str, body: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(PromptError, match=said) as error:
        read_prompt(write(tmp_path / "bad.md", header, body))
    assert "bad.md" in str(error.value)


@pytest.mark.parametrize("content", [b"no header", b"\xff\xfe"], ids=["no header", "no UTF-8"])
def test_a_file_that_is_no_prompt_is_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "bad.md").write_bytes(content)
    with pytest.raises(PromptError, match=r"bad\.md"):
        read_prompt(tmp_path / "bad.md")


def test_a_mark_of_unicode_at_the_beginning_is_no_part_of_a_prompt(tmp_path: Path) -> None:
    plain = write(tmp_path / "plain.md", HEADER)
    marked = tmp_path / "marked.md"
    marked.write_bytes(b"\xef\xbb\xbf" + plain.read_bytes())
    assert read_prompt(marked) == read_prompt(plain)
