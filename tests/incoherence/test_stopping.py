"""Stopping rules against the values of the reference, and what they do to estimates."""

import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.incoherence.stopping import (
    Certify,
    Rule,
    Sprt,
    accepted,
    agreements_to_accept,
    disagreement_bound,
    earliest_stop,
    samples_to_certify,
    stops,
)

RULES: list[Rule] = [
    Certify(0.46),
    Certify(0.3, any_peek=True),
    Certify(0.001),
    Sprt(),
    Sprt(0.05, 0.3),
    Sprt(0.1, 0.6),
]


@pytest.mark.parametrize(
    ("n", "any_peek", "bound"),
    [
        (5, False, 0.451),
        (10, False, 0.259),
        (20, False, 0.139),
        (30, False, 0.095),
        (59, False, 0.0495),
        (10, True, 0.417),
        (20, True, 0.261),
        (30, True, 0.193),
    ],
)
def test_the_bound_on_disagreement(n: int, any_peek: bool, bound: float) -> None:
    digits = len(str(bound)) - 2
    assert round(disagreement_bound(n, any_peek=any_peek), digits) == bound


@pytest.mark.parametrize("any_peek", [False, True])
def test_without_samples_nothing_is_bounded(any_peek: bool) -> None:
    assert disagreement_bound(0, any_peek=any_peek) == 1.0


@pytest.mark.parametrize(
    ("d0", "d1", "n"), [(0.01, 0.1, 31), (0.01, 0.2, 14), (0.02, 0.2, 15), (0.05, 0.3, 10)]
)
def test_wald_accepts_after_so_many_straight_agreements(d0: float, d1: float, n: int) -> None:
    rule = Sprt(d0, d1)

    assert agreements_to_accept(rule) == n
    assert accepted(rule, [True] * n) is True
    assert accepted(rule, [True] * (n - 1)) is None


def test_a_disagreement_puts_off_the_acceptance_and_enough_of_them_end_the_test() -> None:
    rule = Sprt(0.05, 0.3)

    assert accepted(rule, [True] * 9 + [False, True]) is None
    assert accepted(rule, [False] + [True] * 15) is None
    assert accepted(rule, [False] + [True] * 16) is True  # (ln 19 + ln 6) / ln(.95/.7) = 15.5
    assert accepted(rule, [False, False] + [True] * 100) is False


def test_wald_keeps_its_error_rates() -> None:
    rule, draw = Sprt(0.05, 0.3), random.Random(7)

    def share(disagreement: float, verdict: bool) -> float:
        runs = [[draw.random() >= disagreement for _ in range(400)] for _ in range(3000)]
        return sum(accepted(rule, run) is verdict for run in runs) / len(runs)

    assert 0 < share(0.3, True) < 0.05 / 0.95
    assert 0 < share(0.05, False) < 0.05 / 0.95


@pytest.mark.parametrize(
    ("rule", "answers", "why"),
    [
        (Certify(0.46), [], None),
        (Certify(0.46), ["A"] * 4, None),
        (Certify(0.46), ["A"] * 5, "certified"),
        (Certify(0.46), ["A"] * 6, None),  # looked at once: the level of a later look is another
        (Certify(0.46), [*"AAAA", "B"], None),
        (Certify(0.46), [*"AAAA", None], None),
        (Certify(0.46), [None] * 5, None),
        (Certify(0.42, any_peek=True), ["A"] * 9, None),
        (Certify(0.42, any_peek=True), ["A"] * 10, "certified"),
        (Certify(0.42, any_peek=True), ["A"] * 12, "certified"),
        (Certify(0.42, any_peek=True), [*"AAAAAAAAA", None, *"AAA"], None),
        (Sprt(0.05, 0.3), ["A"] * 10, None),  # the first sample only names the answer
        (Sprt(0.05, 0.3), ["A"] * 11, "agrees"),
        (Sprt(0.05, 0.3), ["B"] + ["A"] * 30, None),
        (Sprt(0.05, 0.3), [None] + ["A"] * 30, None),
        (Sprt(0.05, 0.3), ["A", None, *["A"] * 15], None),
        (Sprt(0.05, 0.3), ["A", None, *["A"] * 16], "agrees"),
    ],
)
def test_when_to_stop(rule: Rule, answers: list[str | None], why: str | None) -> None:
    assert stops(rule, answers) == why


@pytest.mark.parametrize("rule", RULES)
@given(answers=st.lists(st.sampled_from(["A", "A", "A", "A", "B", None]), max_size=25))
def test_no_rule_stops_before_its_earliest_stop(rule: Rule, answers: list[str | None]) -> None:
    earliest = earliest_stop(rule, 25)
    stopped = [n for n in range(len(answers) + 1) if stops(rule, answers[:n]) is not None]

    assert all(n >= earliest for n in stopped)
    assert stops(rule, ["A"] * earliest) is not None or earliest == 25


@pytest.mark.parametrize(
    ("rule", "most", "n"),
    [
        (Certify(0.46), 20, 5),
        (Certify(0.46), 3, 3),
        (Certify(0.001), 20, 20),
        (Sprt(), 40, 32),
        (Sprt(), 10, 10),
    ],
)
def test_the_samples_that_every_item_has(rule: Rule, most: int, n: int) -> None:
    assert earliest_stop(rule, most) == n


def test_a_bound_out_of_reach_is_none() -> None:
    assert samples_to_certify(Certify(0.001), 100) is None


@pytest.mark.parametrize(
    ("bound", "m", "error"), [(0.46, 5, 0.0557)], ids=["statistics: 9 of 10 right, at most 20 samples"]
)
def test_all_samples_of_a_stopped_run_bias_the_error_and_the_first_m_do_not(
    bound: float, m: int, error: float
) -> None:
    rule, most, right = Certify(bound), 20, 0.9
    all_drawn = first = 0.0
    for answers in product("RW", repeat=m):
        weight = right ** answers.count("R") * (1 - right) ** answers.count("W")
        wrong = answers.count("W")
        stopped = stops(rule, answers) is not None
        all_drawn += weight * (wrong / m if stopped else (wrong + (most - m) * (1 - right)) / most)
        first += weight * wrong / earliest_stop(rule, most)

    assert round(all_drawn, 4) == error
    assert first == pytest.approx(1 - right)


@pytest.mark.parametrize("fields", [{"d0": 0.2, "d1": 0.1}, {"alpha": 0.6, "beta": 0.5}])
def test_a_test_that_tests_nothing_is_refused(fields: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be above"):
        Sprt(**fields)
