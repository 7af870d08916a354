"""Attempts that were verified several times count once, everywhere, and are parted by all verifications."""

from typing import Any

import pytest
from attempt_samples import answered, frame, tried
from msgspec.structs import replace

from coherence.evaluation.error_incoherence import Incoherence, incoherence
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.incoherence_tables import IncoherenceEvaluation, evaluate_outcomes
from coherence.evaluation.outcome_groups import groups as divided
from coherence.evaluation.outcome_groups import table as group_table
from coherence.evaluation.outcome_sets import describe
from coherence.evaluation.repeated import groups
from coherence.incoherence.paired import Permutations

SETTINGS = IncoherenceSettings(bins=2, votes=(1, 3), permutations=Permutations(50))
LETTERS = (("AABC", "A"), ("BBAA", "A"), ("ABBB", "A"), ("AAAA", "A"))
Rows = list[dict[str, Any]]


def verified(rows: Rows, *names: str, **more: Any) -> Rows:
    return [row | more | {"verification": name} for row in rows for name in names]


def of_two_groups(*, contexts: bool = False) -> Rows:
    rows = []
    for group, letters in (("g", LETTERS), ("h", LETTERS[::-1])):
        for row in answered(*letters, group=group, scaffold=group, backbone="b", tests="11"):
            tests = "11" if row["passed"] else "10"
            steps = 3.0 + ord(row["answer"]) + int(row["attempt"])
            context = f"c{int(row['attempt']) // 2}" if contexts else None
            rows.append(
                row
                | {"tests": tests, "steps": steps, "context": context, "seed": row["attempt"], "reward": 0.5}
            )
    return rows


def rows_of(given: Rows, settings: IncoherenceSettings = SETTINGS) -> list[Incoherence]:
    return [row for group in groups(frame(given)) for row in incoherence(group, settings)]


def passes(given: Rows) -> Incoherence:
    return next(row for row in rows_of(given) if row.kind == "passed")


def without_nesting(found: IncoherenceEvaluation) -> IncoherenceEvaluation:
    """The analysis without what only verifications have."""
    plain = tuple(replace(row, verification=None, note="") for row in found.incoherence)
    return replace(found, incoherence=plain, nested=())


@pytest.mark.parametrize("contexts", [False, True])
@pytest.mark.parametrize("kind", ["answer", "tests"])
def test_verifications_that_agree_change_nothing_anywhere(kind: str, *, contexts: bool) -> None:
    given = of_two_groups(contexts=contexts)
    settings = replace(SETTINGS, kinds={"d": kind})
    once = without_nesting(evaluate_outcomes(frame(given), settings))
    thrice = without_nesting(evaluate_outcomes(frame(verified(given, "x", "y", "z")), settings))
    for field in IncoherenceEvaluation.__struct_fields__[1:]:
        for one, other in zip(getattr(once, field), getattr(thrice, field), strict=True):
            assert repr_of(one) == pytest.approx(repr_of(other), rel=1e-9, abs=1e-12), field


def repr_of(row: Any) -> dict[str, Any]:
    """The numbers of a record, by the path to each."""
    found: dict[str, Any] = {}
    for name in row.__struct_fields__:
        value = getattr(row, name)
        if hasattr(value, "__struct_fields__"):
            found |= {f"{name}.{key}": inner for key, inner in repr_of(value).items()}
        elif isinstance(value, int | float):
            found[name] = value
    return found


def test_scatter_is_that_of_different_attempts_not_of_verifications() -> None:
    # Two attempts, one passing in one of two verifications: unlike pairs of different attempts are 2 of 4.
    given = [
        *({"task": "t", "attempt": "1", "verification": name, "passed": name == "x"} for name in "xy"),
        *({"task": "t", "attempt": "2", "verification": name, "passed": False} for name in "xy"),
    ]
    row = passes(given)
    assert (row.found.attempts, row.found.fewest, row.found.most) == (2, 2, 2)
    assert (row.found.error, row.found.variance) == pytest.approx((0.75, 0.25))
    assert row.verification == pytest.approx(0.5 / 2)
    assert (row.sampling, row.context, row.disagree) == (None, None, 1)


def test_each_attempt_counts_once_however_often_it_is_verified() -> None:
    lone = tried("10")
    many = [lone[0], *verified(lone[1:], *map(str, range(9)))]
    assert passes(many).found.error == 0.5


def test_estimates_that_cannot_use_verifications_say_so() -> None:
    settings = IncoherenceSettings(decompositions=("kohavi_wolpert", "modal_margin"))
    notes = {
        row.decomposition: row.note
        for row in rows_of(verified(answered(("AB", "A")), "x", "y"), settings)
        if row.kind == "answer"
    }
    assert notes == {
        "kohavi_wolpert": "too few tasks for an interval",
        "modal_margin": "too few tasks for an interval; verifications of an attempt taken together",
    }


def test_attempts_are_counted_and_those_that_disagree_shown() -> None:
    given = frame(
        [
            *verified(tried("110"), "x", "y"),
            {"task": "t0", "attempt": "0", "verification": "z", "passed": False},
            {"task": "t0", "attempt": "1", "verification": "z", "passed": False},
            {"task": "t0", "attempt": "1", "verification": "w", "passed": False},
        ]
    )
    (row,) = divided(given, {})
    assert (row.attempts, row.passed, row.failed, row.most, row.disagree) == (3, 1, 2, 3, 2)
    assert group_table([row]).records[0]["verifications_disagree"] == 2
    found = describe("d", given, (), None, ("", ""))
    assert (found.attempts, found.passed, found.failed, found.most) == (3, 1, 2, 3)
    assert {one.reason.split(":")[0]: one.amount for one in found.counted} == {
        "further verification of an attempt": "6 rows",
        "verifications disagree": "2 attempts",
    }
    failing = evaluate_outcomes(given, SETTINGS).failing
    assert [(task.failed.count, task.failed.n) for task in failing] == [(2, 3)]


def test_a_task_whose_verifications_cannot_be_set_against_each_other_has_no_parts() -> None:
    given = [
        {"task": "t", "attempt": str(attempt), "verification": name, "tests": tests}
        for attempt in range(2)
        for name, tests in (("x", "10"), ("y", "110"), ("z", "110"))
    ]
    (row, *_) = rows_of(
        [*given, *verified(answered(("AB", "A")), "x", tests="10")], replace(SETTINGS, kinds={"d": "tests"})
    )
    assert row.kind == "tests"
    assert (row.found.items, row.found.too_few) == (1, 1)
