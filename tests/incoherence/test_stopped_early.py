from itertools import product
from math import inf, nan

import pytest

from coherence.incoherence.stopped_early import stopped_when_agreed


@pytest.mark.parametrize(
    ("chance", "percents"),
    [(0.9, (-63, -46, -27, -18.45)), (0.95, (-73.5, -59, -41, -31)), (0.8, (-46, -26, -11, -6))],
)
def test_stopping_on_agreement_biases_the_variance(chance: float, percents: tuple[float, ...]) -> None:
    for first, percent in zip((3, 5, 8, 10), percents, strict=True):
        found = stopped_when_agreed((chance, 1 - chance), 0, first, 20)
        assert 100 * (found.variance / (chance * (1 - chance)) - 1) == pytest.approx(percent, abs=0.5)


def test_stopping_on_agreement_biases_the_error_too() -> None:
    assert stopped_when_agreed((0.9, 0.1), 0, 5, 20).error == pytest.approx(0.0557, abs=5e-5)


def test_the_biases_by_going_through_every_sample() -> None:
    chances, first, most = (0.6, 0.3, 0.1), 2, 5
    error = variance = attempts = 0.0
    for sample in product(range(3), repeat=most):
        chance = 1.0
        for answer in sample:
            chance *= chances[answer]
        seen = sample[:first] if len(set(sample[:first])) == 1 else sample
        k = len(seen)
        unlike = sum(one != other for one in seen for other in seen) / (k * (k - 1))
        error += chance * sum(answer != 0 for answer in seen) / k
        variance += chance * unlike / 2
        attempts += chance * k
    found = stopped_when_agreed(chances, 0, first, most)
    assert (found.error, found.variance, found.attempts) == pytest.approx((error, variance, attempts))


@pytest.mark.parametrize(
    ("chances", "first", "most"),
    [((nan, 0.5), 2, 5), ((inf, 0.5), 2, 5), ((0.5, 0.5), 5, 5), ((0.5, 0.5), 1, 5)],
    ids=["no chance", "infinite", "never goes on", "one agrees with itself"],
)
def test_senseless_questions_are_refused(chances: tuple[float, float], first: int, most: int) -> None:
    with pytest.raises(ValueError, match="stopping needs"):
        stopped_when_agreed(chances, 0, first, most)
