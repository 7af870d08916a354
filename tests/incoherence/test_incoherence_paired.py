from itertools import product

import numpy as np
import pytest
from incoherence_samples import answers

from coherence.incoherence.paired import Paired, Permutations, paired
from coherence.incoherence.parts import Floats, Parts
from coherence.incoherence.squares import answer_spread, squared


def parts(error: Floats, variance: Floats) -> Parts:
    return Parts(np.full(len(error), 5), error, error - variance, variance, "unbiased")


def random_groups(n: int, seed: int = 0, shift: float = 0.0) -> tuple[Parts, Parts]:
    random = np.random.default_rng(seed)
    one, other = random.uniform(0.1, 0.9, (2, n))
    share = random.uniform(0, 1, (2, n))
    return parts(one, one * share[0] ** (1 + shift)), parts(other, other * share[1])


def studentised(first: Parts, second: Parts) -> float:
    ratios = [group.variance.sum() / group.error.sum() for group in (first, second)]
    spread = np.array(
        [
            (group.variance - ratio * group.error) / group.error.mean()
            for group, ratio in zip((first, second), ratios, strict=True)
        ]
    )
    return float((ratios[0] - ratios[1]) / np.sqrt(((spread[0] - spread[1]) ** 2).sum()))


def by_hand(first: Parts, second: Parts) -> tuple[float, float]:
    """Both p, going through every swap of labels."""
    n = len(first.n)
    observed = abs((first.error - second.error).mean()), abs(studentised(first, second))
    hits = np.zeros(2)
    for swap in product([False, True], repeat=n):
        pick = np.array(swap)
        one = parts(
            np.where(pick, second.error, first.error), np.where(pick, second.variance, first.variance)
        )
        two = parts(
            np.where(pick, first.error, second.error), np.where(pick, first.variance, second.variance)
        )
        hits[0] += abs((one.error - two.error).mean()) >= observed[0] - 1e-12
        hits[1] += abs(studentised(one, two)) >= observed[1] - 1e-9
    return float(hits[0] / 2**n), float(hits[1] / 2**n)


@pytest.mark.parametrize("seed", range(3))
def test_exact_p_by_going_through_every_swap(seed: int) -> None:
    first, second = random_groups(8, seed)
    found = paired(first, second, Permutations())
    assert found.error is not None
    assert found.incoherence is not None
    assert found.error.exact
    assert found.error.swaps == 256
    assert (found.error.p, found.incoherence.p) == pytest.approx(by_hand(first, second))


def both(found: Paired) -> tuple[float, float]:
    assert found.error is not None
    assert found.incoherence is not None
    return found.error.value, found.incoherence.value


def test_differences_are_first_less_second() -> None:
    first = squared(answer_spread(answers(("AB", "A"), ("BB", "A"), ("AA", "A"))))
    second = squared(answer_spread(answers(("BB", "A"), ("BB", "A"), ("BC", "A"))))
    assert both(paired(first, second, Permutations())) == pytest.approx((-0.5, 1 / 3 - 1 / 6))
    assert both(paired(second, first, Permutations())) == pytest.approx((0.5, 1 / 6 - 1 / 3))


def test_drawn_swaps_come_near_all_of_them() -> None:
    first, second = random_groups(11, 5, 1.0)
    exact, drawn = (paired(first, second, Permutations(number)) for number in (2048, 2047))
    assert exact.incoherence is not None
    assert drawn.incoherence is not None
    assert (exact.incoherence.exact, drawn.incoherence.exact) == (True, False)
    assert drawn.incoherence.p == pytest.approx(exact.incoherence.p, abs=0.04)


def test_the_seed_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = random_groups(40, 1)
    once, again = (paired(first, second, Permutations(500, 7)) for _ in range(2))
    assert once == again
    assert once != paired(first, second, Permutations(500, 8))
    monkeypatch.setattr("coherence.incoherence.paired.CELLS", 4000)
    pieces = paired(first, second, Permutations(500, 7))
    assert pieces.error is not None
    assert pieces.error.swaps == 500


def test_a_group_does_not_differ_from_itself() -> None:
    first, _ = random_groups(30)
    found = paired(first, first, Permutations(200))
    assert both(found) == (0, 0)
    assert found.error is not None
    assert found.incoherence is not None
    assert (found.error.p, found.incoherence.p) == (1, 1)


def test_items_unknown_in_one_group_are_left_out() -> None:
    first = squared(answer_spread(answers(("AB", "A"), ("A", "A"), ("BB", "A"))))
    second = squared(answer_spread(answers(("BB", "A"), ("BB", "A"), ("BC", "A"))))
    assert paired(first, second, Permutations()).items == 2


@pytest.mark.parametrize(
    ("first", "second", "estimator", "reason"),
    [
        (["AB"], ["BB"], "unbiased", "fewer than two common tasks"),
        (["AB", "A"], ["BB", "BB"], "unbiased", "fewer than two common tasks"),
        (["AA", "AA"], ["BB", "AB"], "unbiased", "a group is never wrong on the common tasks"),
        (["AB", "AB"], ["ABB", "ABB"], "plug-in", "plug-in estimates of 2 to 3 attempts"),
    ],
)
def test_what_cannot_be_compared_says_why(
    first: list[str], second: list[str], estimator: str, reason: str
) -> None:
    groups = [
        squared(answer_spread(answers(*[(given, "A") for given in side])), estimator)  # type: ignore[arg-type]
        for side in (first, second)
    ]
    found = paired(groups[0], groups[1], Permutations())
    assert (found.reason, found.incoherence) == (reason, None)


def test_the_p_of_equal_incoherence_is_uniform_where_errors_differ() -> None:
    rejected = 0
    for seed in range(300):
        random = np.random.default_rng(seed)
        error = np.stack([random.uniform(0.1, 0.4, 40), random.uniform(0.5, 0.9, 40)])
        share = random.uniform(0.1, 0.7, (2, 40))
        found = paired(
            parts(error[0], error[0] * share[0]), parts(error[1], error[1] * share[1]), Permutations(199)
        )
        assert found.incoherence is not None
        rejected += found.incoherence.p <= 0.05
    assert rejected / 300 < 0.09  # 0.05 and three standard errors


def test_swaps_without_error_or_spread_count_as_far_out_whatever_rounding_leaves() -> None:
    # In tenths, which have no exact floats. All of one group's error is scatter, a sixth of the other's.
    first = parts(np.array([0.2, 0.7, 0.4, 0, 0]), np.array([0.2, 0.7, 0.4, 0, 0]))
    second = parts(np.array([0, 0, 0, 0.6, 0.6]), np.array([0, 0, 0, 0.1, 0.1]))
    found = paired(first, second, Permutations()).incoherence
    assert found is not None
    # Far out are the labels as they are, all of them swapped, and all error in one group or in the other.
    assert found.p == 4 / 32
