from typing import Any

import pytest
from attempt_samples import answered, frame, tried

from coherence.errors import ConfigError
from coherence.evaluation.incoherence_paired import PairedRow, pairs
from coherence.evaluation.incoherence_paired_table import table
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.repeated import groups
from coherence.incoherence.paired import Permutations

SETTINGS = IncoherenceSettings(permutations=Permutations(64))
ONE = answered(("AB", "A"), ("BB", "A"), ("AA", "A"))
OTHER = answered(("BB", "A"), ("BC", "A"), ("AB", "A"))


def found(given: list[dict[str, Any]], settings: IncoherenceSettings = SETTINGS) -> list[PairedRow]:
    return list(pairs(list(groups(frame(given))), settings))


def named(rows: list[dict[str, Any]], group: str, **more: Any) -> list[dict[str, Any]]:
    return [row | {"group": group} | more for row in rows]


def test_groups_are_compared_on_their_common_tasks() -> None:
    extra = [row | {"task": "only b"} for row in answered(("AB", "A"))]
    (row,) = found([*named(ONE, "a"), *named([*OTHER, *extra], "b")])
    assert (row.first, row.second, row.kind, row.found.items) == ("a", "b", "answer", 3)
    assert row.found.error is not None
    assert row.found.incoherence is not None
    assert row.found.error.value == pytest.approx(0.5 - 2.5 / 3)
    assert row.found.incoherence.value == pytest.approx(0.5 / 1.5 - 1 / 2.5)
    assert row.found.error.exact


@pytest.mark.parametrize(
    ("who", "pairs_found"),
    [
        ({"a": {}, "b": {}, "c": {}}, [("a", "b", ""), ("a", "c", ""), ("b", "c", "")]),
        (
            {
                "a": {"scaffold": "s", "backbone": "m"},
                "b": {"scaffold": "s", "backbone": "n"},
                "c": {"scaffold": "z", "backbone": "m"},
            },
            [("a", "b", "scaffold"), ("a", "c", "backbone")],
        ),
        ({"a": {"scaffold": "s"}, "b": {}}, []),
    ],
    ids=["nothing known", "one thing differs", "not known of one"],
)
def test_which_groups_are_compared(
    who: dict[str, dict[str, str]], pairs_found: list[tuple[str, str, str]]
) -> None:
    given = [row for name, more in who.items() for row in named(ONE, name, **more)]
    assert [(row.first, row.second, row.same) for row in found(given)] == pairs_found


def test_the_config_names_pairs() -> None:
    given = [row for name in "abc" for row in named(ONE, name)]
    settings = IncoherenceSettings(pairs={"d": (("c", "a"),)})
    assert [(row.first, row.second) for row in found(given, settings)] == [("c", "a")]
    with pytest.raises(ConfigError, match="dataset 'd' has no group 'x'; there are 'a', 'b', 'c'"):
        found(given, IncoherenceSettings(pairs={"d": (("a", "x"),)}))


def test_too_many_pairs_are_not_compared_and_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coherence.evaluation.incoherence_paired.MOST_PAIRS", 2)
    given = [row for name in "abc" for row in named(ONE, name)]
    (row,) = found(given)
    assert row.found.reason.startswith("3 pairs: more than 2 are compared only where")
    assert row.found.reason in table([row], SETTINGS).rows[0][-1]
    every = (("a", "b"), ("a", "c"), ("b", "c"))
    assert len(found(given, IncoherenceSettings(pairs={"d": every}))) == 3


def test_a_pair_is_compared_by_the_most_telling_kind_both_have() -> None:
    (row,) = found([*named(ONE, "a"), *tried("10", "01", "11", group="b")])
    assert row.kind == "passed"
    assert "binary" in table([row], SETTINGS).rows[0][-1]


def test_groups_without_a_common_kind_are_not_compared_and_said_so() -> None:
    numbers = [{"task": "t0", "number": 1.0, "target_number": 1.0, "group": "b"}]
    (row,) = found([*named([row | {"passed": None} for row in ONE], "a"), *numbers])
    assert (row.first, row.second, row.found.items, row.error_q) == ("a", "b", 0, None)
    assert table([row], SETTINGS).rows[0][-1] == "no kind of outcome that both have"


def test_what_cannot_be_compared_says_why() -> None:
    (row,) = found([*named(answered(("AA", "A"), ("BB", "B")), "a"), *named(OTHER, "b")])
    assert row.found.reason == "a group is never wrong on the common tasks"
    assert row.found.incoherence is None
    assert row.incoherence_q is None
    made = table([row], SETTINGS)
    assert made.records[0]["not_applicable"] == row.found.reason
    assert row.found.reason in made.rows[0][-1]


def test_adjusted_p_are_never_smaller() -> None:
    rows = found([row for number, name in enumerate("abcd") for row in named([ONE, OTHER][number % 2], name)])
    assert len(rows) == 6
    for row in rows:
        assert row.found.error is not None
        assert row.error_q is not None
        assert row.error_q >= row.found.error.p
    made = table(rows, SETTINGS)
    assert "64 swaps, seed 0" in made.caption
    assert {len(shown) for shown in made.rows} == {len(made.columns)}


def test_no_groups_no_pairs() -> None:
    assert list(pairs([], SETTINGS)) == []
    assert table([], SETTINGS).records == ()
