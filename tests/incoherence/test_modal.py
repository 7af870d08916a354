from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from incoherence_samples import answers, expected

from coherence.incoherence.modal import domingos, modal_margin, seed_incoherence, seed_modal

GIVEN = st.tuples(st.text("ABCD", min_size=2, max_size=9), st.sampled_from("ABCDE"))


@pytest.mark.parametrize(
    ("given", "target", "bias", "variance", "incoherence"),
    [
        ("AAABC", "A", 0, 0.4, 1),
        ("BBBAC", "A", 1, 0, 0),
        ("BCDE", "A", 1, 0, 0),
        ("AB", "A", 0, 0.5, 1),
        ("BA", "A", 1, 0, 0),
        ("AAAA", "A", 0, 0, 0),
        ("A" * 11 + "B" * 9, "A", 0, 0.45, 1),
        ("A" * 9 + "B" * 11, "A", 1, 0, 0),
    ],
    ids=[
        "right",
        "wrong",
        "never right",
        "first",
        "order decides",
        "perfect",
        "before the cliff",
        "after it",
    ],
)
def test_the_seed_rule_with_its_flaws(
    given: str, target: str, bias: float, variance: float, incoherence: float
) -> None:
    parts = seed_modal(answers((given, target)))
    assert (parts.bias[0], parts.variance[0]) == pytest.approx((bias, variance))
    assert seed_incoherence(parts)[0] == pytest.approx(incoherence)
    assert not parts.adds_up


@pytest.mark.parametrize(
    ("given", "target", "bias", "variance"),
    [
        ("AAABC", "A", 0, 0.4),
        ("BBBAC", "A", 0.4, 0.4),
        ("A" * 8 + "B" * 7 + "C" * 5, "C", 0.15, 0.6),
        ("AB", "A", 0, 0.5),
        ("BA", "A", 0, 0.5),
        ("BCDE", "A", 0.25, 0.75),
    ],
)
def test_modal_margin(given: str, target: str, bias: float, variance: float) -> None:
    parts = modal_margin(answers((given, target)), "plug-in")
    assert (parts.bias[0], parts.variance[0]) == pytest.approx((bias, variance))


@pytest.mark.parametrize(("given", "variance"), [("AAABC", 0.4), ("AABB", 1.0), ("AAAA", 0.0)])
def test_the_jackknife_of_the_margin_is_that_of_its_definition(given: str, variance: float) -> None:
    whole = modal_margin(answers((given, "A")), "plug-in").variance[0]
    without = [
        modal_margin(answers((given[:place] + given[place + 1 :], "A")), "plug-in").variance[0]
        for place in range(len(given))
    ]
    n = len(given)
    found = modal_margin(answers((given, "A"))).variance[0]
    assert found == pytest.approx(n * whole - (n - 1) * np.mean(without)) == pytest.approx(variance)


def test_the_jackknife_takes_away_most_of_the_bias_of_the_margin() -> None:
    chances = (0.5, 0.3, 0.2)
    plug_in = expected(chances, 8, lambda counts: modal_margin(counts, "plug-in").variance)
    jackknife = expected(chances, 8, lambda counts: modal_margin(counts).variance)
    assert abs(jackknife - 0.5) < abs(plug_in - 0.5) / 2


@pytest.mark.parametrize(
    ("given", "target", "bias", "variance", "multiplier"),
    [
        ("AAABC", "A", 0, 0.4, 1),
        ("BBBAC", "A", 1, 0.4, -0.5),
        ("A" * 8 + "B" * 7 + "C" * 5, "C", 1, 0.6, -5 / 12),
        ("AB", "A", 0.5, 0.5, 0),
        ("BA", "A", 0.5, 0.5, 0),
        ("AAA", "A", 0, 0, nan),
        ("BBB", "A", 1, 0, nan),
    ],
)
def test_domingos(given: str, target: str, bias: float, variance: float, multiplier: float) -> None:
    found = domingos(answers((given, target)))
    values = (found.bias[0], found.variance[0], found.multiplier[0])
    assert values == pytest.approx((bias, variance, multiplier), nan_ok=True)


@given(GIVEN)
def test_domingos_components_give_the_error_back(item: tuple[str, str]) -> None:
    found = domingos(answers(item))
    effect = np.where(found.variance > 0, found.multiplier * found.variance, 0)
    assert found.bias + effect == pytest.approx(found.error)


@given(GIVEN, st.randoms())
def test_order_changes_nothing(item: tuple[str, str], random: object) -> None:
    given, target = item
    mixed = "".join(sorted(given, key=lambda _: random.random()))  # type: ignore[attr-defined]
    before, after = answers((given, target)), answers((mixed, target))
    assert modal_margin(before).variance[0] == modal_margin(after).variance[0]
    for field in ("bias", "variance", "multiplier"):
        one, other = getattr(domingos(before), field)[0], getattr(domingos(after), field)[0]
        assert one == pytest.approx(other, nan_ok=True)


@given(GIVEN)
def test_the_margin_adds_up_and_is_never_negative(item: tuple[str, str]) -> None:
    parts = modal_margin(answers(item), "plug-in")
    assert parts.bias + parts.variance == pytest.approx(parts.error)
    assert parts.bias[0] >= -1e-12
    assert parts.variance[0] >= 0
