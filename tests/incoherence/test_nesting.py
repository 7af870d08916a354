from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, product
from math import prod

import numpy as np
import pytest
from scipy.sparse import csr_array

from coherence.incoherence.levels import Points
from coherence.incoherence.nesting import Components, Units, components
from coherence.incoherence.parts import Floats, Ints
from coherence.incoherence.verified import verified

PARTS = ("bias", "scaffold", "setting", "context", "sampling", "verification")
Rows = Sequence[tuple[int, int, int, int, int, float]]


def points(item: Ints, values: Floats) -> Points:
    """Numbers with the target 0, so that errors are squares."""
    return Points(item, csr_array(np.asarray(values, float)[:, None]), np.ones(int(item.max()) + 1))


def parted(rows: Rows, *, by_scaffold: bool = True) -> Components:
    """Parts of rows (item, scaffold, setting, context, attempt, value)."""
    table = np.array(rows, dtype=float)
    codes = table[:, :5].astype(np.int64)
    units = Units(codes[:, 1], codes[:, 2], codes[:, 3], codes[:, 4])
    return components(points(codes[:, 0], table[:, 5]), units, by_scaffold=by_scaffold)


def crossed(sizes: Sequence[int], values: Floats) -> list[tuple[int, int, int, int, int, float]]:
    """One item, balanced: scaffolds, contexts, attempts and verifications with values in that order."""
    scaffolds, contexts, attempts, verifications = sizes
    places = product(range(scaffolds), range(contexts), range(attempts), range(verifications))
    return [
        (0, s, s, c, c * attempts + a, float(value))
        for (s, c, a, _), value in zip(places, values, strict=True)
    ]


# A unit of each level is one of two kinds by the toss of a coin; its outcomes fail with these chances.
CHANCE = np.array(
    [[[0.9, 0.5], [0.6, 0.1]], [[0.3, 0.2], [0.8, 0.0]]]
)  # by kind of scaffold, context, attempt


Told = list[tuple[tuple[float, ...], Floats]]


def told_attempts() -> Told:
    """Outcomes of two verifications in order, and their chance by kind of scaffold and context."""
    of = {0.0: 1 - CHANCE, 1.0: CHANCE}
    return [((one, two), np.mean(of[one] * of[two], axis=2)) for one, two in product(of, repeat=2)]


def doubled(parts: Told, *, last: bool = False) -> Told:
    """Every two of the parts side by side, orders of the same two added up, averaged over their kind."""
    found = []
    for (one, p), (other, q) in combinations_with_replacement(parts, 2):
        chance = p * q * (1 if one is other else 2)
        found.append((one + other, chance if last else chance.mean(axis=-1)))
    return found


def every_design() -> Iterator[tuple[tuple[float, ...], float]]:
    """All outcomes of 2 scaffolds x 2 contexts x 2 attempts x 2 verifications, and the chance of each."""
    contexts = doubled(told_attempts())
    scaffolds = doubled(contexts)
    for values, chance in doubled([(v, np.asarray(p)) for v, p in scaffolds], last=True):
        yield values, float(chance)


def test_every_component_is_unbiased_by_enumeration_of_every_sample() -> None:
    designs = list(every_design())
    rows = [
        (number, *row[1:])
        for number, (values, _) in enumerate(designs)
        for row in crossed((2, 2, 2, 2), np.array(values))
    ]
    chance = np.array([weight for _, weight in designs])
    assert chance.sum() == pytest.approx(1)
    found = parted(rows)
    shared = [
        float((CHANCE.mean(axis=axes) ** 2).mean()) if axes else float((CHANCE**2).mean())
        for axes in ((0, 1, 2), (1, 2), (2,), ())
    ]
    true = {
        "bias": shared[0],
        "scaffold": shared[1] - shared[0],
        "context": shared[2] - shared[1],
        "sampling": shared[3] - shared[2],
        "verification": float(CHANCE.mean()) - shared[3],
    }
    assert {name: float(chance @ part) for name, part in found.parts.items()} == pytest.approx(true)
    assert float(chance @ found.error) == pytest.approx(float(CHANCE.mean()))
    assert min(part.min() for part in found.parts.values()) < 0  # nothing is clipped


@pytest.mark.parametrize("sizes", [(2, 1), (3, 2), (1, 2)], ids=str)
def test_unequal_attempts_of_scaffolds_leave_it_unbiased(sizes: tuple[int, int]) -> None:
    kinds = np.array([0.9, 0.3])  # of a scaffold, by the toss of a coin
    expected = dict.fromkeys(("bias", "scaffold", "sampling"), 0.0)
    for values in product((0.0, 1.0), repeat=sum(sizes)):
        sides = values[: sizes[0]], values[sizes[0] :]
        chance = prod(
            np.mean([prod(p if value else 1 - p for value in side) for p in kinds]) for side in sides
        )
        rows = [(0, s, s, a, a, value) for s, side in enumerate(sides) for a, value in enumerate(side)]
        for name, part in parted(rows).parts.items():
            expected[name] += float(chance * part[0])
    shared = float((kinds**2).mean())
    assert expected == pytest.approx(
        {"bias": 0.36, "scaffold": shared - 0.36, "sampling": float(kinds.mean()) - shared}
    )


def test_settings_are_those_there_are_and_add_what_their_means_differ() -> None:
    chances = [(0, 0, 0.9), (0, 1, 0.3), (1, 2, 0.4)]  # scaffold, setting, chance to fail
    places = [(s, g, a, p) for s, g, p in chances for a in (0, 1)]
    expected = dict.fromkeys(("bias", "scaffold", "setting", "sampling"), 0.0)
    for values in product((0.0, 1.0), repeat=len(places)):
        rows = [(0, s, g, a, a, value) for (s, g, a, _), value in zip(places, values, strict=True)]
        chance = prod(p if value else 1 - p for (_, _, _, p), value in zip(places, values, strict=True))
        for name, part in parted(rows).parts.items():
            expected[name] += chance * float(part[0])
    sampling = (0.9 * 0.1 + 0.3 * 0.7) / 4 + 0.4 * 0.6 / 2
    true = {"bias": 0.6 * 0.4, "scaffold": (0.6 - 0.4) ** 2 / 2, "setting": 0.3**2 / 2, "sampling": sampling}
    assert expected == pytest.approx(true)
    assert sum(true.values()) == pytest.approx((0.6 + 0.4) / 2)


def test_a_worked_example() -> None:
    # Scaffold 0: 1, 1, 0; scaffold 1: 0, 0. Unlike pairs between: 4 of 6; within: 2 of 3, and none.
    found = parted(
        [(0, 0, 0, a, a, v) for a, v in enumerate((1, 1, 0))] + [(0, 1, 1, a, a, 0) for a in (0, 1)]
    )
    assert found.error == pytest.approx([(2 / 3 + 0) / 2])
    between, within = 4 / 6 / 2, (2 / 3 / 2 + 0) / 2
    assert {name: float(part[0]) for name, part in found.parts.items()} == pytest.approx(
        {"bias": 1 / 3 - between, "scaffold": between - within, "sampling": within}
    )


def test_balanced_designs_give_nested_analysis_of_variance() -> None:
    x = np.random.default_rng(5).normal(size=(4, 3, 5, 2)) + np.arange(4)[:, None, None, None]
    found = parted(crossed(x.shape, x.ravel()))
    means = [x, x.mean(axis=3), x.mean(axis=(2, 3)), x.mean(axis=(1, 2, 3)), x.mean()]
    mean_squares = [
        ((means[0] - means[1][..., None]) ** 2).sum() / (4 * 3 * 5 * 1),
        2 * ((means[1] - means[2][..., None]) ** 2).sum() / (4 * 3 * 4),
        10 * ((means[2] - means[3][..., None]) ** 2).sum() / (4 * 2),
        30 * ((means[3] - means[4]) ** 2).sum() / 3,
    ]
    verification, attempt, context, scaffold = mean_squares
    assert {name: float(part[0]) for name, part in found.parts.items() if name != "bias"} == pytest.approx(
        {
            "verification": verification,
            "sampling": (attempt - verification) / 2,
            "context": (context - attempt) / 10,
            "scaffold": (scaffold - context) / 30,
        }
    )


def ragged() -> list[tuple[int, int, int, int, int, float]]:
    random = np.random.default_rng(3)
    return [
        (item, s, 2 * s + g, c, a, float(random.random() < 0.4))
        for item in range(6)
        for s in range(3)
        for g in range(1 + s % 2)
        for c in range(2)
        for a in range(1 + (item + s) % 3)
        for _ in range(1 + (item + a) % 2)
    ]


def test_order_and_names_of_units_change_nothing() -> None:
    rows = ragged()
    mixed = [
        (i, 7 - s, 9 - g, 3 - c, 5 - a, v) for i, s, g, c, a, v in np.random.default_rng(1).permutation(rows)
    ]
    one, other = parted(rows), parted(mixed)
    assert list(one.parts) == list(other.parts) == list(PARTS)
    for name, part in one.parts.items():
        assert part == pytest.approx(other.parts[name], nan_ok=True)
    known = one.known
    assert known.any()
    assert np.sum(list(one.parts.values()), axis=0)[known] == pytest.approx(one.error[known])
    assert np.logical_or.reduce(list(one.lost.values())).tolist() == (~known).tolist()


@pytest.mark.parametrize(
    ("rows", "lost"),
    [
        ([(0, 0, 0, 0, 0, 1), (0, 0, 0, 1, 1, 0)], "fewer than two scaffolds"),
        ([(0, 0, 0, 0, 0, 1), (0, 1, 1, 0, 0, 0)], "no two attempts"),
        ([(0, s, s, s, a, a) for s in (0, 1) for a in (0, 1)], "no two contexts"),
    ],
    ids=["one scaffold", "one attempt each", "one context each"],
)
def test_items_without_parts_say_why(rows: Rows, lost: str) -> None:
    found = parted(rows)
    assert not found.known.any()
    assert {reason for reason, which in found.lost.items() if which.any()} == {lost}


def test_nothing_wrong_is_nothing_to_part_not_unknown() -> None:
    found = parted([(0, s, s, a, a, 0) for s in (0, 1) for a in (0, 1)])
    assert found.known.all()
    assert {float(part[0]) for part in found.parts.values()} == {0.0}


def test_contexts_of_one_attempt_each_are_not_told_apart_from_attempts() -> None:
    found = parted([(0, 0, 0, c, c, c % 2) for c in range(4)], by_scaffold=False)
    assert list(found.parts) == ["bias", "sampling"]
    assert found.parts["sampling"] == pytest.approx([1 / 3])


def pairs_of(attempts: Sequence[Sequence[float]], first: int, second: int) -> float:
    return float(np.mean([(x - y) ** 2 / 2 for x in attempts[first] for y in attempts[second]]))


ATTEMPTS = ([1.0, 0.0], [1.0], [0.0, 0.0, 1.0], [3.0, 1.0])


@pytest.mark.parametrize("contexts", [None, (0, 0, 1, 1), (0, 0, 0, 1)], ids=str)
def test_verified_attempts_are_parted_by_pairs_of_different_ones(contexts: tuple[int, ...] | None) -> None:
    attempt = np.repeat(np.arange(4), [len(told) for told in ATTEMPTS])
    values = np.concatenate([np.array(told) for told in ATTEMPTS])
    context = None if contexts is None else np.array(contexts)[attempt]
    found = verified(points(np.zeros(len(values), np.int64), values), attempt, context)
    apart = contexts or tuple(range(4))
    every = [(a, b) for a in range(4) for b in range(4) if a != b]
    variance = np.mean([pairs_of(ATTEMPTS, a, b) for a, b in every if apart[a] != apart[b]])
    error = np.mean([np.mean(np.square(told)) for told in ATTEMPTS])
    assert found.parts.n.tolist() == [4]
    assert [found.parts.error[0], found.parts.variance[0]] == pytest.approx([error, variance])
    assert found.parts.bias[0] == pytest.approx(error - variance)
    within = [(a, b) for a, b in every if apart[a] == apart[b]]
    if within:
        sampling = np.mean([pairs_of(ATTEMPTS, a, b) for a, b in within])
        assert found.sampling[0] == pytest.approx(sampling)
        assert found.context[0] == pytest.approx(variance - sampling)
    assert found.verification is not None
    scatter = np.mean([np.var(told, ddof=1) for told in ATTEMPTS if len(told) > 1])
    assert found.verification[0] == pytest.approx(scatter)
