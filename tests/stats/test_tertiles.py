import pytest

from coherence.stats.tertiles import tertiles


@pytest.mark.parametrize(
    ("n", "sizes"),
    [(44, [14, 15, 15]), (43, [14, 14, 15]), (3, [1, 1, 1]), (1, [0, 0, 1]), (0, [0, 0, 0])],
)
def test_sizes_are_those_of_the_paper(n: int, sizes: list[int]) -> None:
    thirds = tertiles({f"t{place:02}": float(place) for place in range(n)})
    assert [len(third.members) for third in thirds] == sizes


def test_bounds_are_the_values_met() -> None:
    thirds = tertiles({"a": 5, "b": 1, "c": 9, "d": 2, "e": 7, "f": 3})
    assert [(third.members, third.low, third.high) for third in thirds] == [
        (("b", "d"), 1, 2),
        (("f", "a"), 3, 5),
        (("e", "c"), 7, 9),
    ]


def test_ties_fall_the_same_way_in_any_order() -> None:
    names = [f"t{place}" for place in range(7)]
    assert tertiles(dict.fromkeys(names, 0.0)) == tertiles(dict.fromkeys(reversed(names), 0.0))
