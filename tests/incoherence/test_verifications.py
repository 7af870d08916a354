"""Several verifications of one attempt, taken together."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from outcome_samples import column, counted, outcomes_of

from coherence.errors import InputError
from coherence.incoherence.outcomes import conform
from coherence.incoherence.verifications import together

HEAD = "group,task,attempt,verification,passed\n"


def verified(*rows: dict[str, Any]) -> pd.DataFrame:
    """Verifications of attempt "1" of one task, unless they say otherwise."""
    named = [
        {"dataset": "d", "group": "g", "task": "t", "attempt": "1", "verification": f"v{number}"} | row
        for number, row in enumerate(rows)
    ]
    return conform(pd.DataFrame(named))


@pytest.mark.parametrize(
    ("name", "given", "together_as", "disagree"),
    [
        ("passed", [True, True, False], True, True),
        ("passed", [True, False], False, True),
        ("passed", [True, None], True, False),
        ("passed", [None, None], None, False),
        ("tests", ["110", "101", "1-1"], "101", True),
        ("tests", ["10", "01"], "00", True),
        ("tests", ["10", None], "10", False),
        ("tests", ["10", "101", "101"], "101", True),
        ("answer", ["B", "A", "A"], "A", True),
        ("answer", ["A", "C", "B", "A", "B"], "B", True),
        ("answer", ["C", "B", "A"], "B", True),
        ("probabilities", ['{"A":1.0}', '{"A":1.0}'], '{"A":1.0}', False),
        ("number", [1.0, 2.0, None], 1.5, True),
        ("reward", [0.5, 0.5], 0.5, False),
        ("steps", [3.0, 5.0], 4.0, False),
        ("stop_reason", ["late", None], "late", False),
    ],
)
def test_each_column_has_its_rule(name: str, given: list[Any], together_as: Any, disagree: bool) -> None:
    found = together(verified(*({name: value, "target": "A"} for value in given)))
    assert found is not None
    value = found.frame[name].astype(object)[0]
    assert (None if pd.isna(value) else value) == together_as
    assert found.disagree.tolist() == [disagree]
    assert found.frame["verification"].isna().all()


def test_only_rows_of_one_named_attempt_belong_together() -> None:
    frame = verified(
        {"passed": True},
        {"attempt": "2", "passed": True},
        {"passed": True},
        {"context": "c", "passed": False},
        {"group": "h", "passed": False},
        {"attempt": None, "passed": False},
        {"attempt": None, "passed": False},
    )
    found = together(frame)
    assert found is not None
    assert found.attempt.tolist() == [0, 1, 0, 2, 3, 4, 5]
    assert found.frame["passed"].tolist() == [True, True, False, False, False, False]
    assert list(found.frame.columns) == list(frame.columns)


def test_without_verifications_there_is_nothing_to_take_together() -> None:
    assert together(verified({"verification": None}, {"attempt": "2", "verification": None})) is None
    assert together(verified({}, {"attempt": "2"})) is None
    assert together(verified({}).drop(columns="verification")) is None


def test_verifications_of_an_attempt_are_no_repetitions(tmp_path: Path) -> None:
    found = outcomes_of(tmp_path, HEAD + "g,t,1,a,1\ng,t,1,b,0\ng,t,1,b,0\ng,t,2,,1\n")
    assert column(found, "verification") == ["a", "b", None]
    assert counted(found) == {"attempt repeated in every value": (1, "rows", "row 4")}


def test_a_verification_given_twice_with_different_values_stops(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"rows 2 and 3: attempt '1'.*column `verification`"):
        outcomes_of(tmp_path, HEAD + "g,t,1,a,1\ng,t,1,a,0\n")


@pytest.mark.parametrize("name", ["seed", "scaffold", "backbone"])
def test_verifications_of_one_attempt_that_tell_of_two_stop(tmp_path: Path, name: str) -> None:
    head = f"{name},{HEAD}"
    found = outcomes_of(tmp_path, head + "x,g,t,1,a,1\n,g,t,1,b,0\ny,g,t,2,a,1\n")
    assert column(found, name) == ["x", None, "y"]
    message = f"rows 3 and 4: group 'g', task 't', attempt '2' has two values of `{name}`: 'x' and 'y'"
    with pytest.raises(InputError, match=message):
        outcomes_of(tmp_path, head + "x,g,t,1,a,1\nx,g,t,2,b,0\ny,g,t,2,a,1\n")


def test_a_verification_of_an_attempt_without_a_name_is_left_out(tmp_path: Path) -> None:
    found = outcomes_of(tmp_path, HEAD + "g,t,,a,1\ng,t,,,0\ng,t,2,b,0\n")
    assert column(found, "attempt") == ["unnamed 1", "2"]
    assert counted(found) == {"verification of an attempt without a name": (1, "rows", "row 2")}
    with pytest.raises(InputError, match="holds no attempts: 1 row: verification of an attempt"):
        outcomes_of(tmp_path, "task,verification,passed\nt,a,1\n")
