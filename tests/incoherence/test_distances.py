from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from incoherence_samples import answers, every_sample, vectors

from coherence.incoherence.aggregates import ALIKE, TOO_FEW_TASKS
from coherence.incoherence.distances import absolute, differing_tests, discrete, weighted
from coherence.incoherence.parts import Parts
from coherence.incoherence.severity import severity
from coherence.incoherence.squares import answer_spread, squared, vector_spread


def numbers(*values: float, target: float = 0.0) -> Parts:
    return absolute(np.zeros(len(values), dtype=np.int64), np.array(values), np.array([target]))


@given(st.lists(st.integers(-20, 20).map(float), min_size=2, max_size=9), st.integers(-5, 5).map(float))
def test_the_scatter_of_numbers_is_half_their_mean_distance(values: list[float], target: float) -> None:
    found = numbers(*values, target=target)
    n = len(values)
    pairs = sum(abs(one - other) for one in values for other in values) / (n * (n - 1))
    assert found.variance[0] == pytest.approx(pairs / 2)
    assert found.error[0] == pytest.approx(np.mean([abs(value - target) for value in values]))
    assert found.bias[0] == pytest.approx(found.error[0] - found.variance[0])


def test_the_scatter_of_numbers_is_unbiased_over_every_sample() -> None:
    support, chances = np.array([0.0, 1.0, 5.0]), np.array([0.5, 0.3, 0.2])
    truth = (chances @ np.abs(support[:, None] - support) @ chances) / 2
    samples, weight = every_sample(list(chances), 3)
    item = np.repeat(np.arange(len(samples)), 3)
    found = absolute(item, support[samples].ravel(), np.zeros(len(samples)))
    assert weight @ found.variance == pytest.approx(truth)
    assert truth <= chances @ support  # scatter is at most the error: the rest is bias


def test_the_discrete_distance_gives_kohavi_and_wolpert() -> None:
    counts = answers(("BBBAC", "A"), ("AABBC", "A"))
    assert discrete(counts).variance.tolist() == squared(answer_spread(counts)).variance.tolist()


def test_differing_tests_are_the_coverage_error() -> None:
    long = vectors(
        ([[1, 0, 0, 1], [1, 1, 0, 0], [1, 1, 1, 1]], [1] * 4), ([[0], [1]], [1]), ([[1, 1]], [1, 1])
    )
    found, same = differing_tests(long), squared(vector_spread(long, "mean"))
    assert found.error == pytest.approx(same.error, nan_ok=True)
    assert found.variance == pytest.approx(same.variance, nan_ok=True)


def test_a_weighted_distance_is_the_sum_of_its_parts() -> None:
    tests, lint = numbers(0, 2, 4), numbers(1, 1, 0)
    found = weighted({"tests": tests, "lint": lint}, {"tests": 1.0, "lint": 0.5})
    assert found.variance[0] == pytest.approx(tests.variance[0] + lint.variance[0] / 2)
    assert found.error[0] == pytest.approx(tests.error[0] + lint.error[0] / 2)
    assert found.bias[0] + found.variance[0] == pytest.approx(found.error[0])


@pytest.mark.parametrize(
    ("parts", "weight", "reason"),
    [
        (numbers(1, 2), 1.0, "same attempts"),
        (numbers(1, 2, 3), -1.0, "at least 0"),
        (squared(answer_spread(answers(("ABB", "A"))), "plug-in"), 1.0, "unbiased"),
    ],
    ids=["other attempts", "negative", "plug-in"],
)
def test_what_cannot_be_weighted_is_refused(parts: Parts, weight: float, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        weighted({"a": numbers(0, 1, 2), "b": parts}, {"a": 1.0, "b": weight})


def test_rate_and_severity_are_apart() -> None:
    item = np.array([0, 0, 1, 1, 3, 3])
    failed = np.array([True, False, True, True, False, False])
    found = severity(item, failed, np.array([4.0, 9.0, 1.0, 3.0, 0.0, 0.0]), 4)
    assert (found.items, found.attempts, found.failed) == (3, 6, 3)
    assert found.rate == pytest.approx(0.5)
    assert found.severity == pytest.approx((2 + 2) / (0.5 + 1))
    assert (found.rate_interval, found.severity_interval) == (None, None)
    assert found.untold == TOO_FEW_TASKS


def test_five_tasks_that_differ_have_intervals() -> None:
    failed = np.array([True, False, True, True, True, False, True, True, False, True, False, False])
    found = severity(np.repeat(np.arange(6), 2), failed, np.arange(12.0), 6)
    assert found.rate_interval is not None
    assert found.severity_interval is not None
    assert found.untold == ""
    always = severity(np.arange(9), np.ones(9, dtype=bool), np.full(9, 2.0), 9)
    assert (always.rate_interval, always.severity_interval, always.untold) == (None, None, ALIKE)


@pytest.mark.parametrize(
    ("failed", "rate", "severe"), [([], None, None), ([False, False], 0.0, None), ([True, True], 1.0, 2.0)]
)
def test_severity_of_none_and_all(failed: list[bool], rate: float | None, severe: float | None) -> None:
    item = np.arange(len(failed))
    found = severity(item, np.array(failed, dtype=bool), np.full(len(failed), 2.0), len(failed))
    assert (found.rate, found.severity) == (rate, severe)


def test_one_attempt_does_not_scatter() -> None:
    assert numbers(3.0).variance.tolist() == pytest.approx([nan], nan_ok=True)
