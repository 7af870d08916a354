"""The prompts of config/ablations.yaml as they are sent, and the full ones, whose replies are paid for.

After a change that is meant, print each again into tests/golden/prompts/NAME.md:
`coherence prompt --config config/ablations.yaml --judge NAME`.
"""

import json
import re
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from coherence.cli.config import LlmJudge
from coherence.cli.config_files import read
from coherence.errors import PromptError
from coherence.files import digest
from coherence.judges.llm import LlmJudge as Llm
from coherence.judges.llm import LlmSettings, prompt_of
from coherence.judges.prompts import read_prompt
from coherence.judges.schema import output_schema, read_answer
from coherence.llm.request import store_key
from coherence.records import Call, Observation, Step, Thought, Transcript
from coherence.vocabulary import CONFLICT_TYPES

ROOT: Final = Path(__file__).parents[2]
PROMPTS: Final = ROOT / "config" / "prompts"
GOLDEN: Final = ROOT / "tests" / "golden" / "prompts"
TRANSCRIPT: Final = Transcript(
    "x",
    (
        Step(1, "user", message="Do it."),
        Step(
            2,
            "agent",
            thoughts=(Thought("It fails, that cannot be right.", "reasoning"),),
            calls=(Call("bash", {"command": "ls"}),),
            observations=(Observation("a"),),
        ),
        Step(3, "agent", message="Done."),
    ),
)


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def variants() -> dict[str, LlmJudge]:
    judges = read([ROOT / "config" / "ablations.yaml"]).judges
    return {name: judge for name, judge in judges.items() if isinstance(judge, LlmJudge)}


NAMES: Final = sorted(variants())


@pytest.mark.parametrize(
    ("prompt", "text", "key"),
    [
        (
            "detector",
            "2cd5daefa7da39480124341bbb786412b6438bbce06111f0506fb4696bfa516a",
            "50f5ff95a4c2ee5593537358d02deaae4016618b8bb963efa37a75d10802cca4",
        ),
        (
            "generic",
            "5daaecf2cf6a136dac7ba5d67ea40a4f072624dae7683ecfd6e1fef1e4101418",
            "a5086d34af012747dc73f095fcd1e99f879623aaa727c7b6aa0ee244301f9db2",
        ),
    ],
    ids=["detector", "generic"],
)
def test_the_full_prompts_and_the_keys_of_their_replies_stay_as_before_there_were_ablations(
    prompt: str, text: str, key: str, tmp_path: Path
) -> None:
    settings = LlmSettings(f"config/prompts/{prompt}.md")
    assert digest(prompt_of(settings).text) == text
    assert store_key(Llm("any", settings, tmp_path).request(TRANSCRIPT)) == key


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_is_assembled_as_its_golden_file_has_it(name: str) -> None:
    golden = GOLDEN / ("full.md" if name == "action-only" else f"{name}.md")
    assert prompt_of(variants()[name]).text + "\n" == golden.read_text("utf-8")


def test_every_golden_file_is_of_a_judge() -> None:
    assert {path.stem for path in GOLDEN.glob("*.md")} <= set(NAMES)


def test_no_two_variants_share_a_reply(tmp_path: Path) -> None:
    keys = [store_key(Llm("any", judge, tmp_path).request(TRANSCRIPT)) for judge in variants().values()]
    assert len(set(keys)) == len(keys) == 13


@pytest.mark.parametrize("name", NAMES)
def test_every_worked_answer_fits_the_schema_it_is_asked_in(name: str) -> None:
    prompt = prompt_of(variants()[name])
    answers = re.findall(r"```json\n(.*?)\n```", prompt.text, re.DOTALL)
    excerpts = " ".join(re.sub(r"```json\n.*?\n```", "", prompt.text, flags=re.DOTALL).split())
    spans = [span for answer in answers for span in read_answer(answer, prompt.reports).spans]
    quotes = [quote for span in spans for quote in (span.acknowledgment_quote, span.action_quote)]

    without = {"no-worked-examples": 0, "definition-only": 0}
    assert len(answers) == without.get(name, 5 if name.startswith("without-example") else 6)
    assert [quote for quote in quotes if " ".join(quote.split()) not in excerpts] == []


@pytest.mark.parametrize("name", ["no-vocabulary", "definition-only"])
def test_without_the_vocabulary_no_type_is_named_in_prompt_or_schema(name: str) -> None:
    prompt = prompt_of(variants()[name])
    told = prompt.text + json.dumps(output_schema(prompt.reports))
    assert [
        word for word in (*CONFLICT_TYPES, "conflict_type") if f"`{word}`" in told or f'"{word}"' in told
    ] == []


def test_the_model_agnostic_prompt_keeps_the_task_and_loses_every_sample_of_wording() -> None:
    full, rewritten = prompt_of(variants()["full"]).text, prompt_of(variants()["model-agnostic"]).text
    kept = ("## Definition", "## What is not strained coherence", "## Kinds of conflict", "## How to report")
    lost = ("anyway", "that is strange", "sqlite3", "README.md", "@cache", "sed -n")
    assert [text for text in kept if text not in rewritten] == []
    assert [text for text in lost if text in full] == list(lost)
    assert [text for text in lost if text in rewritten] == []


def test_types_cannot_be_taken_from_a_prompt_that_reports_a_rating() -> None:
    with pytest.raises(PromptError, match=r"generic\.md: only a prompt that reports spans"):
        read_prompt(PROMPTS / "generic.md", drop=["Kinds of issue"])


def test_an_unknown_part_is_named_with_its_file() -> None:
    with pytest.raises(PromptError, match=r"detector\.md: the part 'Example 7' is not there"):
        read_prompt(PROMPTS / "detector.md", drop=["Example 7"])


def test_a_replacement_that_is_not_there_is_named() -> None:
    with pytest.raises(PromptError, match=r"no-such\.md: cannot be read"):
        read_prompt(PROMPTS / "detector.md", replace={"Definition": "no-such.md"})


def test_a_prompt_of_which_nothing_is_left_is_refused() -> None:
    with pytest.raises(PromptError, match="there is no prompt"):
        read_prompt(PROMPTS / "detector.md", drop=["Your task"])


def test_thoughts_that_are_not_shown_are_in_the_basis_and_not_in_the_request(tmp_path: Path) -> None:
    judge = Llm("any", replace(variants()["full"], show_thoughts=False), tmp_path)
    sent = json.dumps(judge.request(TRANSCRIPT).messages)
    assert "THOUGHT]" not in sent and "It fails" not in sent
    assert "CALL]" in sent and "STEP 3 agent]" in sent
