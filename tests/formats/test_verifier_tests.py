import pytest

from coherence.formats.deviations import Deviations
from coherence.formats.verifier_tests import LONGEST_NAME, Results, with_tests
from coherence.records import Outcome, Verified, VerifierTests

PASSED, FAILED, UNKNOWN = Outcome("passed", 1.0), Outcome("failed", 0.0), Outcome("unknown", reason="none")


def results(*tests: tuple[object, bool | None]) -> tuple[Results, set[str]]:
    found, notes = Results(), Deviations("f")
    for name, passed in tests:
        found.add(name, passed, notes)
    return found, {note.code for note in notes.records()}


def test_tests_are_sorted_by_result_and_name() -> None:
    found, noted = results(("b", True), ("d", None), ("c", False), ("a", True))
    assert found.of("t") == VerifierTests("t", ("a", "b"), ("c",), ("d",))
    assert found.counts == Verified(2, 1, 1)
    assert noted == set()


def test_without_a_test_nothing_is_known() -> None:
    found, _ = results()
    assert (found.of("t"), found.counts) == (None, None)


@pytest.mark.parametrize(
    ("told", "counts"),
    [
        ((True, True), Verified(1)),
        ((False, False), Verified(0, 1)),
        ((True, False), Verified(0, 0, 1)),
        ((True, False, True), Verified(0, 0, 1)),
        ((None, True), Verified(0, 0, 1)),
    ],
    ids=repr,
)
def test_a_test_told_twice_has_a_result_only_where_both_agree(
    told: tuple[bool | None, ...], counts: Verified
) -> None:
    found, noted = results(*(("same[1]", passed) for passed in told), ("same[2]", None))
    assert found.counts == Verified(counts.passed, counts.failed, counts.no_result + 1)
    assert noted == {"test_repeated"}


@pytest.mark.parametrize("name", [None, "", " \n", 5, ["x"]], ids=repr)
def test_a_test_without_a_name_is_left_out(name: object) -> None:
    found, noted = results((name, True))
    assert (found.counts, noted) == (None, {"test_unnamed"})


def test_long_names_are_cut_and_stay_apart() -> None:
    found, noted = results(("x" * 5000 + "a", True), ("x" * 5000 + "b", True))
    tests = found.of("t")
    assert tests is not None
    assert [len(name) for name in tests.passed] == [LONGEST_NAME, LONGEST_NAME]
    assert noted == set()


@pytest.mark.parametrize(
    ("outcome", "tests", "contradicts"),
    [
        (PASSED, (True, True), False),
        (PASSED, (True, False), True),
        (PASSED, (None,), False),
        (FAILED, (True, True), True),
        (FAILED, (True, None), False),
        (FAILED, (True, False), False),
        (FAILED, (None,), False),
        (FAILED, (), False),
        (UNKNOWN, (True,), False),
        (UNKNOWN, (False,), False),
    ],
    ids=repr,
)
def test_the_reward_decides_and_a_contradiction_is_noted(
    outcome: Outcome, tests: tuple[bool | None, ...], contradicts: bool
) -> None:
    found, _ = results(*((f"t{number}", passed) for number, passed in enumerate(tests)))
    notes = Deviations("f")
    made = with_tests(outcome, found, notes)
    assert (made.status, made.reward, made.tests) == (outcome.status, outcome.reward, found.counts)
    assert made.contradicted == contradicts
    assert [note.code for note in notes.records()] == ["tests_contradict_reward"] * contradicts
