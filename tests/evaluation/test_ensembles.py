import pytest
from judge_words import SETTINGS, rows, words
from msgspec.structs import replace

from coherence.evaluation.ensembles import Ensemble, Rule, ensembles, table, together
from coherence.evaluation.settings import EvaluationSettings
from coherence.records import Judgement
from coherence.stats.tables import Counts


def by_name(
    judged: dict[str, dict[str, Judgement]], outcomes: str, settings: EvaluationSettings = SETTINGS
) -> dict[tuple[str, str], Ensemble]:
    found = ensembles(rows(outcomes, judged), settings)
    return {(row.rule, row.judges): row for row in found}


@pytest.mark.parametrize(
    ("said", "union", "intersection", "majority"),
    [
        ([True, True, True], True, True, True),
        ([True, True, False], True, False, True),
        ([True, False, False], True, False, False),
        ([False, False, False], False, False, False),
        ([True, False], True, False, False),
        ([True, True, None], None, None, None),
        ([False, None, None], None, None, None),
    ],
)
def test_the_rules(said: list[bool | None], union: bool, intersection: bool, majority: bool) -> None:
    rules: tuple[Rule, ...] = ("union", "intersection", "majority")
    assert [together(rule, said) for rule in rules] == [union, intersection, majority]


def test_each_judge_alone_each_two_and_all() -> None:
    found = by_name({"a": words("fu"), "b": words("ff"), "c": words("uu")}, "FP")
    assert list(found) == [
        ("alone", "a"), ("alone", "b"), ("alone", "c"),
        ("union", "a + b"), ("intersection", "a + b"),
        ("union", "a + c"), ("intersection", "a + c"),
        ("union", "b + c"), ("intersection", "b + c"),
        ("union", "a + b + c"), ("intersection", "a + b + c"), ("majority", "a + b + c"),
    ]  # fmt: skip


def test_the_gap_is_that_of_the_trajectories_all_judged() -> None:
    found = by_name({"a": words("ffuuf?u"), "b": words("fufuuff")}, "FFPPF-P")
    union, both = found["union", "a + b"], found["intersection", "a + b"]
    assert union.comparison.counts == Counts(3, 5, 0, 1)
    assert both.comparison.counts == Counts(1, 1, 2, 5)
    assert (union.flagged.count, union.flagged.n, union.unjudged) == (5, 6, 1)


def test_an_unknown_outcome_is_flagged_and_not_compared() -> None:
    union = by_name({"a": words("fuu"), "b": words("uuf")}, "-PF")["union", "a + b"]
    assert (union.flagged.count, union.comparison.counts, union.unknown_outcome) == (2, Counts(1, 1, 0, 1), 1)


def test_trajectories_without_thoughts_are_unflagged_and_counted() -> None:
    found = by_name({"a": words("f.u."), "b": words("fuf?")}, "FPFP")
    counted = {name: found[name].without_thoughts for name in (("alone", "a"), ("alone", "b"))}
    assert counted == {("alone", "a"): 2, ("alone", "b"): 0}
    union = found["union", "a + b"]
    assert (union.flagged.count, union.flagged.n, union.without_thoughts) == (2, 3, 1)
    made = table([union])
    assert made.rows[0][made.columns.index("No thoughts")] == "1"
    assert made.records[0]["n_without_thoughts"] == 1


def test_a_reference_outside_measures_and_inside_does_not() -> None:
    judged = {"a": words("fffuu"), "b": words("fufuu"), "human": words("ffuuf")}
    found = by_name(judged, "FFPPF", replace(SETTINGS, references=("human",)))
    union = found["union", "a + b"]
    assert union.precision is not None and union.recall is not None
    assert (union.reference, union.precision.count, union.precision.n) == ("human", 2, 3)
    assert (union.recall.count, union.recall.n) == (2, 3)
    assert found["union", "a + human"].reference == ""
    assert table(list(found.values())).rows[0][-4] == "human"


def test_a_judge_that_was_not_run_is_shown_and_a_member_of_nothing() -> None:
    found = by_name({"a": words("fu"), "b": words("uf"), "c": words("?.")}, "FP")
    assert [name for name in found if "c" in name[1]] == [("alone", "c")]
    assert (found["alone", "c"].flagged.n, found["alone", "c"].unjudged) == (0, 2)


def test_a_reference_that_judged_nothing_here_gives_way_to_the_next() -> None:
    judged = {"a": words("fu"), "b": words("uf"), "elsewhere": words("??"), "human": words("fu")}
    found = by_name(judged, "FP", replace(SETTINGS, references=("elsewhere", "human")))
    assert found["union", "a + b"].reference == "human"


def test_one_judge_is_no_ensemble() -> None:
    assert by_name({"a": words("fu")}, "FP") == {}
