"""Any outcomes at all: either they are refused in words or every attempt is counted somewhere."""

from math import inf, nan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from attempt_samples import frame
from hypothesis import given
from hypothesis import strategies as st

from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.incoherence_tables import (
    IncoherenceEvaluation,
    evaluate_outcomes,
    incoherence_tables,
)
from coherence.evaluation.outcome_kinds import attempts_of, kinds_of
from coherence.evaluation.render import latex, markdown
from coherence.evaluation.repeated import LARGEST, groups
from coherence.files import read_json, write_json, write_readable
from coherence.incoherence.contract import KINDS
from coherence.incoherence.paired import Permutations

SETTINGS = IncoherenceSettings(
    permutations=Permutations(20),
    bins=2,
    decompositions=(
        "kohavi_wolpert",
        "modal_margin",
        "kl",
        "brier",
        "domingos",
        "seed_modal",
        "tests",
        "squared_error",
    ),
)
NUMBER = st.sampled_from([None, 0.0, 1.0, 2.5, -3.0, nan, inf, 1e300, 1e100, 1e69, 1e-60, 1e-300])
ROW = st.fixed_dictionaries(
    {"group": st.sampled_from(["g", "h"]), "task": st.sampled_from(["t", "u", "v", None])},
    optional={
        "attempt": st.sampled_from(["1", "2", "3", "4", None]),
        "context": st.sampled_from(["x", "y", None]),
        "passed": st.sampled_from([True, False, None]),
        "answer": st.sampled_from(["A", "B", "<b>$\x00", None]),
        "target": st.sampled_from(["A", "A", "A", "B", None]),
        "tests": st.sampled_from(["10", "11", "0-", "--", "1", None]),
        "probabilities": st.sampled_from(['{"A": 1}', '{"A": 0.25, "B": 0.75}', None]),
        "number": NUMBER,
        "target_number": NUMBER,
        "reward": NUMBER,
        "lint_failures": NUMBER,
        "steps": NUMBER,
        "output_tokens": NUMBER,
        "scaffold": st.sampled_from(["s", "z", None]),
        "backbone": st.sampled_from(["b", None]),
        "verification": st.sampled_from(["p", "q", None]),
    },
)


@given(st.lists(ROW, min_size=1, max_size=25))
def test_every_attempt_is_used_or_counted(rows: list[dict[str, Any]]) -> None:
    for group in groups(frame(rows)):
        total = sum(row["group"] == group.name for row in rows)
        if group.verified is not None:
            total -= len(group.verified.attempt) - len(group.frame)  # further verifications of an attempt
        assert len(group.frame) + sum(group.left_out.values()) == total
        for kind in KINDS:
            used = attempts_of(group, kind)
            assert len(used.rows) + sum(used.left_out.values()) == total


@given(
    st.lists(ROW, min_size=1, max_size=25), st.sampled_from(["unbiased", "plug-in"]), st.sampled_from(KINDS)
)
def test_every_table_is_made_without_a_warning(rows: list[dict[str, Any]], estimator: Any, kind: str) -> None:
    settings = IncoherenceSettings(
        estimator=estimator,
        permutations=SETTINGS.permutations,
        bins=2,
        decompositions=SETTINGS.decompositions,
        kinds={"d": kind},
    )
    evaluation = evaluate_outcomes(frame(rows), settings)
    shown = {row.group for row in evaluation.incoherence}
    assert shown == {row["group"] for row in rows}
    for table in incoherence_tables(evaluation):
        assert markdown(table)
        assert latex(table)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "evaluation.json"
        write_readable(path, evaluation)
        assert read_json(path, IncoherenceEvaluation) == evaluation
    for row in evaluation.incoherence:
        found = row.found
        if found.error is not None and row.decomposition not in ("domingos", "seed_modal"):
            assert found.bias is not None
            assert found.variance is not None
            assert found.error == pytest.approx(found.bias + found.variance)


@given(st.lists(ROW, min_size=1, max_size=12))
def test_any_mixture_of_kinds_has_its_kinds(rows: list[dict[str, Any]]) -> None:
    for group in groups(frame(rows)):
        chosen = kinds_of(group, SETTINGS)
        assert set(chosen) <= set(KINDS)
        assert bool(chosen) == any(group.known(kind).any() for kind in KINDS)


def test_numbers_as_large_as_are_read_outlive_the_file(tmp_path: Path) -> None:
    given = [
        {"group": group, "task": f"t{task}", "attempt": str(attempt), "target_number": 0.0}
        | {"number": scale * (1 + attempt + task), "passed": False}
        for group, scale in (("a", 0.9 * LARGEST / 8), ("b", 1e-9))
        for task in range(4)
        for attempt in range(3)
    ]
    evaluation = evaluate_outcomes(frame(given), IncoherenceSettings(lengths=()))
    assert {row.found.items for row in evaluation.incoherence} == {4}
    assert [pair.found.incoherence is not None for pair in evaluation.pairs] == [True]
    write_json(tmp_path / "evaluation.json", evaluation)
    assert read_json(tmp_path / "evaluation.json", IncoherenceEvaluation) == evaluation
    assert incoherence_tables(evaluation)
