"""The shipped outcomes are what their README counts, what their records say, and give the published parts.

The parts are plug-in values of an independent computation on the same records: error, bias and variance are
means over tasks, incoherence is the sum of variances over the sum of errors.
"""

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from coherence.incoherence.contract import NullAs
from coherence.incoherence.outcomes import kinds_in
from coherence.incoherence.reading import read_outcomes
from coherence.incoherence.source import OutcomeSource

FOLDER = Path(__file__).parents[2] / "data/outcomes"
NAMES = ("wolfbench", "terminal-bench", "gsm-plus")
Parts = tuple[int, float, float, float, float]

# group: tasks, error, bias, variance, incoherence of pass or fail; a trial without an outcome failed.
TERMINAL_BENCH: dict[str, Parts] = {
    "20250711_openhands_claude-4-sonnet": (80, 0.5875, 0.5445, 0.043, 0.073191),
    "20250811_cursor-cli_claude-4-sonnet": (80, 0.7375, 0.6825, 0.055, 0.074576),
    "20250825_swe-agent-mini_claude-4-sonnet": (80, 0.8725, 0.8295, 0.043, 0.049284),
    "20250829_goose_claude-4-opus": (80, 0.5475, 0.5045, 0.043, 0.078539),
    "20250829_goose_claude-4-sonnet": (80, 0.5875, 0.5465, 0.041, 0.069787),
    "20250902_orchestrator_claude-4-sonnet": (80, 0.64, 0.558, 0.082, 0.128125),
    "20250902_orchestrator_qwen-3-coder-480B": (80, 0.8075, 0.7435, 0.064, 0.079257),
    "20250906_orchestrator_claude-4.1-opus": (80, 0.6025, 0.5315, 0.071, 0.117842),
}
# The same of test vectors: a task needs three trials with a vector.
TERMINAL_BENCH_TESTS: dict[str, Parts] = {
    "20250711_openhands_claude-4-sonnet": (77, 0.41189, 0.377109, 0.034781, 0.084443),
    "20250811_cursor-cli_claude-4-sonnet": (75, 0.483905, 0.438046, 0.04586, 0.09477),
    "20250825_swe-agent-mini_claude-4-sonnet": (61, 0.592792, 0.568007, 0.024785, 0.041811),
    "20250829_goose_claude-4-opus": (79, 0.391806, 0.358624, 0.033182, 0.08469),
    "20250829_goose_claude-4-sonnet": (78, 0.419588, 0.383705, 0.035884, 0.085521),
    "20250902_orchestrator_claude-4-sonnet": (75, 0.42957, 0.362486, 0.067084, 0.156166),
    "20250902_orchestrator_qwen-3-coder-480B": (71, 0.631127, 0.552083, 0.079044, 0.125243),
    "20250906_orchestrator_claude-4.1-opus": (77, 0.417232, 0.35382, 0.063412, 0.151983),
}
GSM_PLUS: dict[str, Parts] = {
    "gpt-4 impr_prompt+impr_topology": (200, 0.1445, 0.083161, 0.061339, 0.424491),
    "gpt-4 impr_prompt+orig_topology": (200, 0.101833, 0.056728, 0.045106, 0.442935),
    "gpt-4 orig_prompt+orig_topology": (200, 0.150167, 0.100131, 0.050036, 0.333204),
}


def attempts(name: str, null_as: NullAs = "unknown") -> pd.DataFrame:
    frame = read_outcomes(FOLDER / f"{name}.csv.gz", OutcomeSource(name, null_as=null_as)).frame
    texts = ["group", "task", "tests", "answer", "target"]
    return frame.assign(**{text: frame[text].astype("object") for text in texts})


def parts(tasks: list[Any]) -> Parts:
    """Parts of tasks, each an array of attempts by tests."""
    error = np.array([np.mean((1 - task) ** 2) for task in tasks])
    bias = np.array([np.mean((1 - task.mean(axis=0)) ** 2) for task in tasks])
    variance = error - bias
    return len(tasks), error.mean(), bias.mean(), variance.mean(), variance.sum() / error.sum()


def by_outcome(frame: pd.DataFrame, group: str) -> Parts:
    tasks = frame[frame["group"] == group].groupby("task")["passed"]
    return parts([task.to_numpy(dtype=float)[:, None] for _, task in tasks])


def by_test(frame: pd.DataFrame, group: str) -> Parts:
    known = frame[(frame["group"] == group) & frame["tests"].notna()]
    arrays = [np.array([list(vector) for vector in task]) for _, task in known.groupby("task")["tests"]]
    # The group's tests of a task are those any of its trials has a result of.
    return parts([(a[:, (a != "-").any(axis=0)] == "1").astype(float) for a in arrays if len(a) >= 3])


@pytest.mark.parametrize("group", TERMINAL_BENCH)
def test_terminal_bench_gives_the_published_parts(group: str) -> None:
    found = by_outcome(attempts("terminal-bench", "failed"), group)
    assert found == pytest.approx(TERMINAL_BENCH[group], abs=6e-7)


@pytest.mark.parametrize("group", TERMINAL_BENCH_TESTS)
def test_the_vectors_of_terminal_bench_give_the_published_parts(group: str) -> None:
    found = by_test(attempts("terminal-bench"), group)
    assert found == pytest.approx(TERMINAL_BENCH_TESTS[group], abs=6e-7)


@pytest.mark.parametrize("group", GSM_PLUS)
def test_gsm_plus_gives_the_published_parts(group: str) -> None:
    assert by_outcome(attempts("gsm-plus"), group) == pytest.approx(GSM_PLUS[group], abs=6e-7)


def test_wolfbench_is_what_its_readme_counts() -> None:
    frame = attempts("wolfbench")
    assert (len(frame), frame["group"].nunique(), frame["task"].nunique()) == (27_946, 67, 89)
    assert (frame["passed"].sum(), (~frame["passed"]).sum()) == (13_999, 13_684)
    sizes = frame.groupby(["group", "task"]).size().value_counts().to_dict()
    assert sizes == {5: 4806, 3: 623, 2: 178, 4: 178, 10: 89, 1: 89}
    rates = frame.groupby(["group", "task"])["passed"].agg(["min", "max"]).dropna()
    assert (rates["min"] != rates["max"]).sum() == 1_877
    timeouts = frame[frame["stop_reason"] == "AgentTimeoutError"]["passed"]
    assert (timeouts.sum(), (~timeouts).sum(), timeouts.isna().sum()) == (464, 2_277, 112)
    assert frame["cost_usd"].notna().sum() == 7_726
    assert kinds_in(frame) == {"passed": 27_683}


def test_terminal_bench_has_two_readings_of_its_unknown_outcomes() -> None:
    unknown, failed = attempts("terminal-bench"), attempts("terminal-bench", "failed")
    assert (len(unknown), unknown["group"].nunique(), unknown["task"].nunique()) == (5_200, 13, 80)
    assert kinds_in(unknown) == {"tests": 4_782, "passed": 4_782}
    assert (unknown["passed"].sum(), (~unknown["passed"]).sum()) == (2_118, 2_664)
    assert kinds_in(failed) == {"tests": 5_200, "passed": 5_200}
    assert (~failed["passed"]).sum() == 2_664 + 418
    assert not failed.loc[unknown["passed"].isna(), "tests"].str.contains("1").any()


def test_gsm_plus_answers_agree_with_their_grades() -> None:
    frame = attempts("gsm-plus")
    assert (len(frame), frame["group"].nunique(), frame["task"].nunique()) == (7_146, 6, 200)
    assert kinds_in(frame) == {"answer": 7_111, "passed": 7_146}
    known = frame[frame["answer"].notna()]
    assert ((known["answer"] == known["target"]) == known["passed"]).all()
    assert not frame.loc[frame["answer"].isna(), "passed"].any()


@pytest.mark.parametrize("name", NAMES)
def test_no_text_is_shipped(name: str) -> None:
    raw = pd.read_csv(FOLDER / f"{name}.csv.gz", dtype="str", keep_default_na=False)
    word = re.compile(r"[\w./:+()-]{0,48}( [\w./:+()-]{1,32}){0,2}|[01-]{0,200}")
    assert [cell for column in raw for cell in raw[column].unique() if not word.fullmatch(cell)] == []


def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_outcomes", FOLDER / "build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_shipped_files_are_what_the_records_give(shared: Path, tmp_path: Path) -> None:
    build().build(shared / "corpora", tmp_path)
    for name in NAMES:
        made = (tmp_path / f"{name}.csv.gz").read_bytes()
        assert made == (FOLDER / f"{name}.csv.gz").read_bytes()


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("10.0", "10"),
        ("1,250", "1250"),
        (r"\frac{7}{2}", "3.5"),
        ("7/2", "3.5"),
        (r"\$5", "5"),
        (r"26.67\%", "26.67"),
        (r"\text{'None'}", "none"),
        (".5", "0.5"),
        ("-3", "-3"),
        ("1/0", "other 1"),
        (r"16.5 \text{ hours}", "other 1"),
    ],
)
def test_answers_are_told_apart_by_what_they_say(given: str, name: str) -> None:
    assert build().named([given]) == {given: name}
